"""Answers for a paper, exactly."""

import headlight
from tests.renderers.answers.made import answered, long_answer, without_sources


def test_latex_exactly() -> None:
    assert headlight.render(answered(), "latex").splitlines() == [
        r"% needs \usepackage[T1]{fontenc} and \usepackage{xcolor}",
        r"\noindent\textbf{attn\_lrp · probability 0.125, 0.5 per token · toy}\par\noindent",
        r"Nora does.\,[1] Yes!\,[2]\par",
        r"\smallskip",
        r"\noindent \colorbox[rgb]{0.278,0.600,0.784}{\strut [1] a.txt} "
        r"+6, share 80 \%, strength 60 \%: Nora owns it.\par",
        r"\noindent \colorbox[rgb]{0.820,0.902,0.945}{\strut [2] b.md} "
        r"+1.5, share 20 \%, strength 15 \%: It rains \textless{}b\textgreater{}.\par",
        r"{\small the rest of the prompt, and the answer's own words: +2.5\par}",
        r"{\small cited: sources with at least 20 \% of what speaks for a sentence\par}",
        r"\emph{note: made up}\par",
    ]


def test_words_stand_on_their_colours() -> None:
    found = headlight.render(without_sources(), "latex")
    assert r"\colorbox[rgb]{0.278,0.600,0.784}{\strut Nora}" in found
    assert r"\textcolor{gray}{.}" in found


def test_long_prompts_are_listed() -> None:
    assert "… and 980 smaller words" in headlight.render(long_answer(), "latex")
