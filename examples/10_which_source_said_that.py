"""Ask the embedded language model about ten passages, two of which contradict each other: which was followed."""

import headlight

PASSAGES = {
    "harbour": "The harbour of Larsund freezes from January to March, and ferries stop then.",
    "museum": "The museum of Larsund opened in 1974 and shows ships, maps and fishing gear.",
    "bridge": "The bridge at Larsund was finished in 1931 and is 214 metres long.",
    "bakery": "Berg's bakery on Mill Street sells rye bread and cardamom buns every morning.",
    "school": "The school in Larsund teaches 320 pupils and has a large garden with bees.",
    "rumour": "The bridge at Larsund was finished in 1958 after a long quarrel about money.",
    "weather": "Rain falls on two days out of three, mostly in the autumn and in the spring.",
    "choir": "The choir sings on Sundays in the wooden church above the old market square.",
    "sports": "The football club of Larsund plays in yellow and has never won the cup.",
    "trains": "Two trains a day connect Larsund with the capital; the journey takes six hours.",
}
model = headlight.load("llm")
question = [{"role": "user", "content": "When was the bridge at Larsund finished?"}]
answer = headlight.explain_answer(model, question, sources=PASSAGES, of="sentences")

answer.show()
for cited in answer.cite(2):
    print(f"{cited.source:8} {cited.share:6.1%} of all sources  {cited.sentence}")

reference = headlight.explain_answer(
    model, question, answer.answer, "leave_one_out", sources=PASSAGES
)
print("without it the answer becomes least likely:", reference.top(1)[0][0])
