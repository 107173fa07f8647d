"""Explanations that were made elsewhere, as attributions of a model's own tokens.

    headlight.Attribution.from_scores(model, text, scores, words=words, method="their_lime", target="positive")
    headlight.foreign.from_shap(model, explanation)
    headlight.foreign.from_captum(model, text, attributions, target="positive")
    headlight.foreign.from_inseq(model, "saved.json")
    headlight.foreign.read_attributions(model, "scores.jsonl")

None of these packages is needed: objects are read by their fields, files by their format.
"""

from headlight.foreign.captum_results import from_captum
from headlight.foreign.inseq_files import from_inseq
from headlight.foreign.plain_files import read_attributions
from headlight.foreign.scores import from_scores
from headlight.foreign.shap_values import from_shap

__all__ = ["from_captum", "from_inseq", "from_scores", "from_shap", "read_attributions"]
