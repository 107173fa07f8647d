"""The same targets on changed rows: another pass, whose gradients methods can use like those of the first."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from headlight.batch import Row
from headlight.models.model import POOLED
from headlight.trace.goal import goal_from
from headlight.trace.resolve import Places, ResolvedTarget, Term, pooled_at
from headlight.trace.trace import Trace, run_on, trace_of


@dataclass(frozen=True)
class Changed:
    """A row of a trace after a change: its number there, what it has become, and where its tokens stood."""

    number: int
    row: Row
    places: tuple[int, ...]


def again(trace: Trace, changed: Sequence[Changed], needs: Collection[str]) -> Trace:
    """A trace of what has become of some rows, for the targets that they had.

    Classes and signs stay. A head that decides once reads the changed row where it reads any row; other targets
    move with the tokens at which they are read, which must be among those that are left.
    """
    model, rows = trace.forward.model, [each.row for each in changed]
    resolved = [moved(trace, each) for each in changed]
    read = None
    if model.gives_few_logits:
        read = tuple(sorted({term.position for target in resolved for term in target.terms}))
    run = run_on(model, rows, read, needs, trace.forward.recomputes)
    joint = trace.goal.are_joint or (False,) * len(trace.goal.outputs)
    outputs = tuple(trace.goal.outputs[each.number] for each in changed)
    are_joint = tuple(joint[each.number] for each in changed)
    goal = goal_from(resolved, run.model, run.inputs, run.logits, outputs, are_joint)
    return trace_of(run, goal, rows)


def moved(trace: Trace, changed: Changed) -> ResolvedTarget:
    """The target of a row at the places that its tokens have after a change."""
    goal, number, model = trace.goal, changed.number, trace.forward.model
    now = {place: new for new, place in enumerate(changed.places)}
    is_pooled = model.task in POOLED
    columns = (goal.positions, goal.classes, goal.signs)
    terms = zip(*(values[number].tolist() for values in columns), strict=True)
    read_at: Places | None = None
    if is_pooled:
        read_at = pooled_at(model, changed.row)
    elif goal.weights is not None:
        weights = enumerate(goal.weights[number].tolist())
        read_at = tuple((now[place], weight) for place, weight in weights if weight)
    return ResolvedTarget(
        # Rows with fewer terms than others are filled up with terms that count nothing.
        tuple(Term(p if is_pooled else now[p], index, sign) for p, index, sign in terms if sign),
        read_at,
        goal.resolved[number].label,
        goal.resolved[number].predicted,
    )
