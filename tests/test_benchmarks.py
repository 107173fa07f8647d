"""Results of benchmarks are kept as they were measured."""

from benchmarks.seal import checksums, sealed


def test_no_result_was_edited_by_hand() -> None:
    assert checksums() == sealed(), (
        "measure again, or run `python benchmarks/seal.py` after measuring"
    )
