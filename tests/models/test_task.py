"""What a head decides, by the name of its class."""

from headlight.models.task import HEADS, POOLED, Task
from tests import networks


def test_every_task_but_regression_has_a_class_name_that_says_it() -> None:
    """A regression is a sequence classification with one label."""
    assert set(HEADS.values()) == set(Task) - {Task.REGRESSION}
    for task, head in networks.HEADS.items():
        (saved,) = {
            type(networks.network("bert" if task is not Task.CAUSAL else "gpt2", task)).__name__
        }
        found = {HEADS[suffix] for suffix in HEADS if saved.endswith(suffix)}
        assert found == {Task.SEQUENCE if task is Task.REGRESSION else task}, head


def test_pooled_heads_decide_once() -> None:
    assert set(POOLED) == {Task.SEQUENCE, Task.REGRESSION}


def test_a_task_is_written_as_people_say_it() -> None:
    assert str(Task.QUESTION) == "question answering"
    assert Task("token classification") is Task.TOKEN
