"""The vocabulary of axes and the tensor types that every module shares.

batch: rows of one padded batch · token: positions of a row · layer, head, query, key: attention ·
feature: the hidden width · width: the width of one head · term: the logits a target is made of.
"""

from jaxtyping import Bool, Float, Int
from torch import Tensor

Scores = Float[Tensor, "batch token"]
Attention = Float[Tensor, "batch head query key"]
Mixing = Float[Tensor, "batch query key"]
Hidden = Float[Tensor, "batch token feature"]
Ids = Int[Tensor, "batch token"]
TokenMask = Bool[Tensor, "batch token"]
Terms = Int[Tensor, "batch term"]
TermValues = Float[Tensor, "batch term"]
PerRow = Float[Tensor, " batch"]
Heads = Bool[Tensor, "layer head"]
SwitchedHeads = Bool[Tensor, "batch layer head"]
HeadValues = Float[Tensor, "layer head"]
RowHeadValues = Float[Tensor, "batch layer head"]
Features = Float[Tensor, " feature"]
Values = Float[Tensor, "batch head key width"]
Projection = Float[Tensor, "head width feature"]
