"""Show which noun decides whether the masked verb is singular or plural (ALTI, Section 5.3)."""

from rich.console import Console

import headlight

SENTENCES = [
    "the keys to the old cabinet [MASK] on the table .",
    "the author that the guards like [MASK] here .",
]

model = headlight.load("agreement")
for sentence in SENTENCES:
    found = headlight.explain(model, sentence, "alti").words()
    Console().print(found)
    noun = max((score, word) for word, score in found if word in sentence.split()[1:5])[1]
    Console().print(f"{found.target.label}: mostly because of '{noun}'\n")
