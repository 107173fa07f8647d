"""Show which words made the embedded model call a review good or bad."""

import headlight

model = headlight.load("sentiment")
answer = headlight.explain(model, "a charming and often affecting journey, though the plot is thin")

answer.words().show()
for word, score, position in answer.words().top(3):
    print(f"{word:12} {score:+.4f}  (word {position})")
