"""Sentences with the verb masked, and its number: from agreement test sets, plain text and parses."""

import gzip
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from examples import Example
from headlight.files.conllu import read_conllu

SINGULAR = {"is", "was", "has", "does"}
PLURAL = {"are", "were", "have", "do"}
# fmt: off
NO_SUBJECT = {
    "to", "will", "would", "could", "should", "may", "might", "must", "can",
    "cannot", "not", "n't", "'d", "'ll", "did", "do", "does", "i",
    "you", "let", "that", "which", "who", "if", "and", "or",
}
# fmt: on
"""Before a verb, these words do not show its number."""
TRAINED_ON = 5_000
FROM_TEXT = 30_000
LONGEST = 45


def masked(words: list[str], verb: int, label: int) -> Example | None:
    """The example, if the mask is near enough to the start not to be cut off."""
    if verb >= LONGEST:
        return None
    return Example(" ".join([*words[:verb], "[MASK]", *words[verb + 1 :]]), None, label)


def number(right: str, wrong: str) -> int:
    """0 for the singular, 1 for the plural form of a pair."""
    if right in SINGULAR | PLURAL:
        return int(right in PLURAL)
    return int(len(right) < len(wrong))


def local(folder: Path | None, name: str) -> Path:
    """A file that is on no hub."""
    if folder is None:
        raise SystemExit(f"{name} is read from a folder. Give --data.")
    return folder / name


@dataclass(frozen=True)
class Sentences:
    """Wikipedia sentences of Linzen et al., as filtered by Gulordava et al.: .text and .gold."""

    def read(self, split: str, folder: Path | None) -> Iterator[Example]:
        """The first five thousand for training, the others held out."""
        texts = local(folder, "agreement/subj_agr_filtered.text").read_text("utf-8").splitlines()
        golds = local(folder, "agreement/subj_agr_filtered.gold").read_text("utf-8").splitlines()
        part = slice(0, TRAINED_ON) if split == "train" else slice(TRAINED_ON, None)
        for text, gold in list(zip(texts, golds, strict=True))[part]:
            place, right, wrong, *_ = gold.split("\t")
            words = text.removesuffix(" <eos>").split()
            example = masked(words, int(place), number(right, wrong))
            if example:
                yield example


@dataclass(frozen=True)
class Text:
    """Plain text: one form of be or have per sentence, whose form shows its number."""

    def read(self, split: str, folder: Path | None) -> Iterator[Example]:
        """A fixed random choice of sentences, equally many singular and plural."""
        raw = gzip.decompress(local(folder, f"wikitext2/{split}.raw.gz").read_bytes()).decode()
        text = re.sub(r" @(\W)@ ", r"\1", raw.lower())
        chance, found = random.Random(0), []
        for sentence in re.split(r"(?<= [.!?]) |\n", text):
            words = sentence.split()
            verbs = [
                place
                for place, word in enumerate(words[1:], 1)
                if word in {"is", "are", "was", "were", "has", "have"}
                and words[place - 1] not in NO_SUBJECT
            ]
            if verbs and words[0] != "=":
                verb = chance.choice(verbs)
                found.append(masked(words, verb, int(words[verb] in PLURAL)))
        chance.shuffle(found)
        for label in range(2):
            yield from [e for e in found if e and e.label == label][: FROM_TEXT // 2]


@dataclass(frozen=True)
class Parsed:
    """Universal Dependencies: present-tense verbs with a subject in the third person."""

    def read(self, split: str, folder: Path | None) -> Iterator[Example]:
        """One example per verb."""
        path = local(folder, f"ud_english_ewt/en_ewt-ud-{split}.conllu")
        for parse in read_conllu(path):
            words = [word.lower() for word in parse.words]
            for head, relation, subject in zip(
                parse.heads, parse.relations, range(len(words)), strict=True
            ):
                if relation == "nsubj" and parse.tags[head] in ("VBZ", "VBP"):
                    if words[subject] in ("i", "you"):
                        continue
                    example = masked(words, head, int(parse.tags[head] == "VBP"))
                    if example:
                        yield example
