"""Show which words made the embedded model call a review good or bad."""

from rich.console import Console

import headlight

model = headlight.load("sentiment")
answer = headlight.explain(model, "a charming and often affecting journey, though the plot is thin")

Console().print(answer.words())
for word, score, position in answer.words().top(3):
    print(f"{word:12} {score:+.4f}  (word {position})")
