"""Texts a second of attn_lrp beside plain passes over the same texts, from strings to results.

    python -m benchmarks.speed.bulk [--data FOLDER]   writes benchmarks/speed/bulk.json and results.md
    python -m benchmarks.speed.bulk --quick           a few texts; writes below build/bench

The embedded `sentiment` explains sentences of SST-2 from FOLDER/sst2/train.jsonl, or, without them, sentences
made of a list of words with lengths like theirs. Both sides tokenize and pad; the plain one sorts the texts by
length, runs batches of 32 and reads the labels. They take turns on parts of the texts, so that both meet the
same load.
"""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from benchmarks.speed.measuring import command, facts, folder, seconds, spread_of
from benchmarks.speed.report import keep

import headlight
from headlight.data import read_examples

METHOD = "attn_lrp"
PARTS, TEXTS_OF_A_PART, ROWS = 5, 400, 32
QUICK_TEXTS_OF_A_PART = 40
VOCABULARY = """
a able acting all an and as at beautiful bland boring bright but by cast charming clever comedy director drama
dull emotional ending entertaining fails feels film flat for fresh from funny gentle good has heart honest in
is it its jokes journey laughs like little long made moments more most moving movie music never not of often
on one only performances picture plot predictable quite rare romantic scenes screen script sentimental silly
smart so some story surprising sweet tale tedious than that the there thin this though thriller to too touching
touches vivid warm was watch weak well what while with without witty work written young
"""
MEAN_WORDS, SPREAD_OF_WORDS, FEWEST, MOST = 21.5, 9.3, 3, 50
"""Lengths in words like those of SST-2; most words here are one token, and two special ones are added."""


def composed(count: int) -> list[str]:
    """Sentences of random words, always the same."""
    source, words = random.Random(0), VOCABULARY.split()
    lengths = (round(source.gauss(MEAN_WORDS, SPREAD_OF_WORDS)) for _ in range(count))
    return [" ".join(source.choices(words, k=min(max(length, FEWEST), MOST))) for length in lengths]


def sentences(data: Path | None, count: int) -> tuple[str, list[str]]:
    """Where the texts come from, and the texts; phrases, of which the training part has many, are left out."""
    file = data / "sst2" / "train.jsonl" if data else None
    if file is None or not file.exists():
        return "composed of a word list", composed(count)
    examples, _ = read_examples(str(file))
    texts = [str(example.text).rstrip() for example in examples]
    whole = [text for text in texts if text.endswith(".")]
    return "SST-2", random.Random(0).sample(whole, count)


def plainly(model: headlight.Model, texts: list[str]) -> Callable[[], object]:
    """Plain batched passes over texts."""
    tokenizer, network = model.tokenizer, model.network
    assert tokenizer is not None

    def call() -> list[int]:
        ids = tokenizer(texts)["input_ids"]
        order = sorted(range(len(texts)), key=lambda number: len(ids[number]))
        labels = [0] * len(texts)
        for start in range(0, len(order), ROWS):
            numbers = order[start : start + ROWS]
            batch = tokenizer.pad({"input_ids": [ids[n] for n in numbers]}, return_tensors="pt")
            with torch.inference_mode():
                found = network(**batch).logits.argmax(-1).tolist()
            for number, label in zip(numbers, found, strict=True):
                labels[number] = label
        return labels

    return call


def main() -> None:
    """Measure and write."""
    parser = command(__doc__)
    parser.add_argument("--data", type=Path, help="A folder that has SST-2 as sst2/train.jsonl.")
    given = parser.parse_args()
    part = QUICK_TEXTS_OF_A_PART if given.quick else TEXTS_OF_A_PART
    source, texts = sentences(given.data, PARTS * part)
    model = headlight.load("sentiment")
    assert model.tokenizer is not None
    plainly(model, texts[:ROWS])()
    headlight.explain(model, texts[:ROWS], METHOD)
    plain, ours = [], []
    for start in range(0, len(texts), part):
        own = texts[start : start + part]
        plain.append(seconds(plainly(model, own)))
        ours.append(seconds(partial(headlight.explain, model, own, METHOD)))
    tokens = sum(map(len, model.tokenizer(texts)["input_ids"]))
    found = {
        "settings": facts() | {"rows of a plain batch": ROWS, "parts": PARTS},
        "model": "sentiment",
        "method": METHOD,
        "texts": len(texts),
        "from": source,
        "mean tokens": round(tokens / len(texts), 1),
        "texts a second": {
            "plain": spread_of([part / each for each in plain], 1),
            METHOD: spread_of([part / each for each in ours], 1),
        },
        "share of plain": spread_of([p / o for p, o in zip(plain, ours, strict=True)], 3),
    }
    print(keep(folder(given.quick), "bulk", found))


if __name__ == "__main__":
    main()
