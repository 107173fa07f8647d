"""The page of a run needs nothing else, and nothing that was explained can write into it."""

import math
import re

from headlight import Example, Model, Results
from headlight.evaluation.evaluate import evaluate
from headlight.report import page
from headlight.report.figures import figures


def test_the_page_needs_nothing_else(small_run: Results) -> None:
    text = page(small_run)
    assert "<script" not in text
    assert not re.search(r'(src|href)="https?:', text)
    assert text.count("<svg") == text.count("</svg>") == len(list(figures(small_run)))
    assert "empty or only spaces" in text
    assert "<strong>" in text


def test_what_was_explained_cannot_write_into_the_page(classifier: Model) -> None:
    hostile = [Example("film <img src=x onerror=alert(1)>", 0), Example("a bad plot", 1)]
    metrics = ["aopc", "token_overlap"]
    assert "<img" not in page(evaluate(classifier, hostile, ["attcat"], metrics))


def test_failures_and_accuracy_are_told(small_run: Results) -> None:
    assert list(small_run.failures) == [8]
    assert 0 <= small_run.accuracy <= 1
    assert math.isnan(small_run.summary("aopc@mask_lrp", "attcat").mean)
    assert small_run.summary("aopc@mask_lrp", "attcat").passed_over == 8
