"""The texts that every library explains."""

import random

VOCABULARY = """
a an and as at bad best but by charming cold dark deep dull every fine fresh from full funny good great half
has heart her his in is it its just kind less light like long lost made more most music never new not of old
on one plot quiet rare sad sharp slow small so story sweet than that the thin this though time to too true
very warm was weak well while with without young
"""
WORDS = VOCABULARY.split()
SHORTEST, LONGEST = 20, 24
"""Words of a text; the classifier's tokenizer adds two tokens."""


def texts(count: int) -> list[str]:
    """Seeded texts, the same for every library."""
    source = random.Random(0)
    return [
        " ".join(source.choices(WORDS, k=source.randint(SHORTEST, LONGEST))) for _ in range(count)
    ]
