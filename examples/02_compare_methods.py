"""Compare several methods on several texts, one pass per batch, as a table and as a page."""

from pathlib import Path
from tempfile import mkdtemp

import headlight

TEXTS = ["never dull, and often very funny", "the jokes are thin and the plot goes nowhere"]

model = headlight.load("sentiment")
found = headlight.explain(model, TEXTS, method=["attn_lrp", "gae", "rollout"])

for method, answers in found.items():
    for answer in answers:
        best = ", ".join(f"{word} {score:+.3g}" for word, score, _ in answer.words().top(3))
        print(f"{method:8} {answer.target.label:9} {best}")

page = Path(mkdtemp()) / "comparison.html"
page.write_text(
    headlight.render([a for answers in found.values() for a in answers]), encoding="utf-8"
)
print(f"wrote {page}")
