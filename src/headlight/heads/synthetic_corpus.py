"""A small corpus of made-up English sentences with exact parses, so that a mask can be learned anywhere."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from headlight.files.conllu import Parse

# fmt: off
NOUNS = [
    "doctor", "teacher", "river", "village", "singer", "engine", "garden", "letter", "window",
    "captain", "market", "farmer", "painting", "soldier", "kitchen", "critic", "bridge", "student",
    "story", "bottle", "scientist", "dancer", "road", "tower", "actor",
]
ADJECTIVES = [
    "old", "small", "bright", "famous", "broken", "quiet", "green", "heavy", "young",
    "strange", "clever", "empty", "sharp", "gentle", "cold",
]
VERBS = [
    "sold", "found", "admired", "painted", "repaired", "carried", "watched", "described", "ignored",
    "bought", "followed", "cleaned",
]
ADVERBS = [
    "quickly", "often", "never", "slowly", "carefully", "recently", "quietly", "really", "always",
    "finally",
]
PREPOSITIONS = [
    "near", "behind", "from", "beside", "with", "under",
]
DETERMINERS = [
    "the", "a", "every", "that",
]
# fmt: on


@dataclass
class Draft:
    """An unfinished sentence: words with the number of their head, −1 while it is not known."""

    chance: random.Random
    words: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)

    def put(self, words: list[str], relation: str, head: int = -1) -> int:
        """Add a word and return its number."""
        self.words.append(self.chance.choice(words))
        self.heads.append(head)
        self.relations.append(relation)
        return len(self.words) - 1

    def nominal(self, relation: str, head: int = -1, depth: int = 0) -> int:
        """A noun with its modifiers; those before it get its number as their head afterwards."""
        before = [self.put(DETERMINERS, "det")]
        while self.chance.random() < 0.45 and len(before) < 3:
            before.append(self.put(ADJECTIVES, "amod"))
        noun = self.put(NOUNS, relation, head)
        for word in before:
            self.heads[word] = noun
        if depth == 0 and self.chance.random() < 0.3:
            case = self.put(PREPOSITIONS, "case")
            self.heads[case] = self.nominal("nmod", noun, 1)
        return noun


def sentence(chance: random.Random) -> Parse:
    """One made-up sentence."""
    draft = Draft(chance)
    subject = draft.nominal("nsubj")
    early = draft.put(ADVERBS, "advmod") if chance.random() < 0.4 else None
    verb = draft.put(VERBS, "root")
    draft.heads[subject], draft.heads[verb] = verb, verb
    if early is not None:
        draft.heads[early] = verb
    draft.nominal("obj", verb)
    if chance.random() < 0.4:
        draft.put(ADVERBS, "advmod", verb)
    draft.put(["."], "punct", verb)
    places, spot = [], 0
    for word in draft.words:
        places.append((spot, spot + len(word)))
        spot += len(word) + 1
    return Parse(
        text=" ".join(draft.words),
        words=tuple(draft.words),
        places=tuple(places),
        heads=tuple(draft.heads),
        relations=tuple(draft.relations),
        tags=("",) * len(draft.words),
    )


def made_up_corpus(count: int = 1_000, seed: int = 0) -> Iterator[Parse]:
    """Made-up sentences, always the same for a seed."""
    chance = random.Random(seed)
    return (sentence(chance) for _ in range(count))
