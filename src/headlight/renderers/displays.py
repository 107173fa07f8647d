"""Importing this registers how every kind of result is shown in a notebook and in a terminal."""

from headlight.ablated import Ablated, HeadEffects
from headlight.answer import Answer
from headlight.attribution import Attribution, Generation
from headlight.display import DISPLAYS
from headlight.headmask import HeadMask
from headlight.renderers import ablated, answers, heads, html, matrix, terminal
from headlight.tokenmixing import TokenMixing

DISPLAYS.register(Attribution, lambda found: html.fragment([found]), terminal.HeatMap)
DISPLAYS.register(
    Generation, lambda found: matrix.table(matrix.generation_cells(found)), terminal.matrix_table
)
DISPLAYS.register(
    TokenMixing, lambda found: matrix.table(matrix.mixing_cells(found)), matrix.MatrixMap
)
DISPLAYS.register(Answer, answers.html.fragment, answers.terminal.AnswerText)
DISPLAYS.register(HeadMask, heads.table, heads.HeadMap)
DISPLAYS.register(Ablated, ablated.table, ablated.AblatedTable)
DISPLAYS.register(
    HeadEffects, lambda found: matrix.table(ablated.effect_cells(found)), ablated.EffectMap
)
