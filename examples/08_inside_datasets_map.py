"""Add attributions as a column of a Hugging Face data set, batch by batch; needs headlight[data]."""

from typing import Any

from datasets import Dataset

import headlight

model = headlight.load("sentiment")


def explained(batch: dict[str, list[str]]) -> dict[str, list[Any]]:
    """The prediction, and the three words that support it most."""
    found = [a.words() for a in headlight.explain(model, batch["text"])]
    return {
        "predicted": [a.target.label for a in found],
        "because": [[word for word, _, _ in a.top(3)] for a in found],
    }


reviews = Dataset.from_dict({"text": ["a charming film", "dull and far too long", "never boring"]})
with_reasons = reviews.map(explained, batched=True, batch_size=2, new_fingerprint="default-method")
for row in with_reasons:
    print(row)
