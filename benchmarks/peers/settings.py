"""How much work the compared methods do; every library is told the same."""

STEPS = 20
"""Points of integrated gradients."""
LABEL = 0
"""The class whose logit is explained; of a language model it is the most likely next token."""
ROWS_AT_ONCE = 128
"""Changed texts in a pass, for libraries that ask how many."""


def permutations(text_count: int) -> int:
    """Orders in which Shapley values are sampled: many for one text, one for many texts."""
    return 10 if text_count == 1 else 1
