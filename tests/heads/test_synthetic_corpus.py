"""Sentences that are made up, with their parses."""

from headlight.heads.synthetic_corpus import made_up_corpus


def test_made_up_sentences_are_trees_and_always_the_same() -> None:
    corpus = list(made_up_corpus(50))
    assert corpus == list(made_up_corpus(50))
    for parse in corpus:
        assert [parse.text[start:end] for start, end in parse.places] == list(parse.words)
        roots = [k for k, head in enumerate(parse.heads) if head == k]
        assert len(roots) == 1
        assert parse.relations[roots[0]] == "root"
