"""Heat maps for papers: nothing of a text is a command."""

import shutil
import subprocess
from pathlib import Path

import pytest

import headlight
from tests.test_attribution import made


def test_latex_escapes_commands() -> None:
    answer = made(
        [0.5],
        tokens=("x",),
        texts=("\\input{a_b} 100%",),
        offsets=((0, 16),),
        segments=(0,),
        word_ids=(0,),
        is_special=(False,),
    )
    text = headlight.render(answer, "latex")
    assert r"\strut \textbackslash{}input\{a\_b\} 100\%" in text
    assert r"\colorbox[rgb]{0.278,0.600,0.784}" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX on this machine")
def test_latex_compiles_as_it_is(tmp_path: Path) -> None:
    body = headlight.render([made(), made().words()], "latex").replace("−", "-")
    head = (
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{xcolor}\\begin{document}\n"
    )
    (tmp_path / "a.tex").write_text(head + body + "\\end{document}\n")
    subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
