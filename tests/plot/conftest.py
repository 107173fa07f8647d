"""What figures of heads are drawn from."""

import pytest
import torch

from headlight import HeadMask


@pytest.fixture
def mask() -> HeadMask:
    heads = torch.zeros(3, 4).bool()
    syntactic, positional = heads.clone(), heads.clone()
    syntactic[2, 1] = syntactic[2, 3] = positional[0, 2] = positional[2, 3] = True
    roles = {"nsubj": [[3, 2], [3, 4]], "+1": [[1, 3], [3, 4]]}
    return HeadMask({"syntactic": syntactic, "positional": positional}, {"roles": roles})
