"""The small sets of our own: sizes, labels that our models have, rationales and answers in their texts."""

from functools import cache

import pytest

from headlight.data import Example, gold_class, read_examples
from headlight.data.datasets import OWN, SAMPLES
from headlight.files import read_records
from headlight.loading.catalogue import CATALOGUE

LEAST = {
    "samples/sentiment": 120,
    "samples/topic": 60,
    "samples/nli": 60,
    "samples/paraphrase": 60,
    "samples/qa": 40,
    "samples/sources": 40,
    "samples/agreement": 60,
    "samples/agreement_choice": 60,
}
LABELLED = [name for name, each in OWN.items() if each.labels]


@cache
def examples(name: str) -> list[Example]:
    return read_examples(name)[0]


def texts(example: Example) -> tuple[str, ...]:
    return (example.text,) if isinstance(example.text, str) else example.text


@pytest.mark.parametrize("name", OWN)
def test_sets_are_as_large_as_they_say(name: str) -> None:
    assert len(examples(name)) == int(OWN[name].about.split()[0])
    assert len(examples(name)) >= LEAST[name]


def test_every_file_is_a_set() -> None:
    assert {path.stem for path in SAMPLES.iterdir()} == {each.name for each in OWN.values()}


@pytest.mark.parametrize("name", OWN)
def test_no_text_is_blank_and_none_occurs_twice(name: str) -> None:
    found = [tuple(text.casefold().strip() for text in texts(each)) for each in examples(name)]
    assert all(all(each) for each in found)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("name", LABELLED)
def test_labels_are_those_of_the_embedded_model_and_all_occur(name: str) -> None:
    model = CATALOGUE[OWN[name].name]
    _, names = read_examples(name)
    found = {
        gold_class(each.label, names, dict(enumerate(model.labels)), model.name)
        for each in examples(name)
    }
    assert names == model.labels
    assert found == set(range(len(model.labels)))


@pytest.mark.parametrize("name", LABELLED)
def test_labels_are_even(name: str) -> None:
    labels = [each.label for each in examples(name)]
    assert len({labels.count(label) for label in set(labels)}) == 1


def test_marks_are_whole_words_that_stand_once_in_the_text() -> None:
    records = read_records(str(SAMPLES / "sentiment.jsonl"))
    for record, example in zip(records, examples("samples/sentiment"), strict=True):
        text = record["text"]
        assert example.marks
        assert {text[start:end] for _, start, end in example.marks} == set(record["marks"])
        for segment, start, end in example.marks:
            assert segment == 0
            assert text.count(text[start:end]) == 1
            assert not text[:start][-1:].isalnum()
            assert not text[end:][:1].isalnum()


@pytest.mark.parametrize(
    "name", sorted(set(OWN) - {"samples/sentiment", "samples/agreement_choice"})
)
def test_where_nobody_marked_there_are_no_marks(name: str) -> None:
    assert all(each.marks is None for each in examples(name))


def test_answers_stand_in_the_context() -> None:
    for each in examples("samples/qa"):
        assert each.answers
        assert all(answer and answer in texts(each)[1] for answer in each.answers)
        assert each.label is None


def test_agreement_masks_one_verb_a_sentence() -> None:
    assert all(texts(each)[0].count("[MASK]") == 1 for each in examples("samples/agreement"))
