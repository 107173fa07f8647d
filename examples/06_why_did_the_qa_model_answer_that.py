"""Show which words of the question and the text led to the answer, and which to its end."""

from rich.console import Console

import headlight
from headlight import Target

QUESTION = "Who wrote the novel?"
TEXT = "The novel was written by Mary Shelley in Geneva and published in London in 1818."

model = headlight.load("qa")
show = Console().print
answer = headlight.explain(model, (QUESTION, TEXT))
show(f"answer: {answer.target.label} (probability {answer.target.probability:.2f})")
show(answer.words())
show(headlight.explain(model, (QUESTION, TEXT), target=Target(part="end")).words())
