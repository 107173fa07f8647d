"""Measure methods on texts of your own: a csv file with a text and a label, needs headlight[data]."""

from pathlib import Path
from tempfile import TemporaryDirectory

import headlight

REVIEWS = """text,label
"A warm, funny film with a wonderful cast.",positive
"Two hours of noise and not one good joke.",negative
"The plot is thin, but the actors save it.",positive
"I wanted to love it and left bored.",negative
"""

with TemporaryDirectory() as folder:
    path = Path(folder) / "reviews.csv"
    path.write_text(REVIEWS, encoding="utf-8")
    results = headlight.evaluate(
        "sentiment",
        f"{path}:text,label",
        methods=["attcat", "rollout", "random"],
        metrics=["aopc", "sufficiency"],
        out=Path(folder) / "run",
    )

for method in results.methods:
    found = results.summary("aopc", method)
    print(f"{method:8} AOPC {found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]")
print(results.compare("aopc", "attcat", "random"))
