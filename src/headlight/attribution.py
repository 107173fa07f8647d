"""`Attribution`: the scores of one explained input. It is frozen; every operation returns a new one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from headlight.display import html_of, show, terminal_form
from headlight.errors import InvalidInput, InvalidOption, missing_extra
from headlight.files.fields import (
    check_fields,
    is_count,
    is_named,
    is_number,
    is_text,
    is_truth,
    list_of,
    one_of,
    or_none,
)
from headlight.files.storage import read_json, save_json
from headlight.frozen import FrozenMapping
from headlight.making import MAKING, Named
from headlight.target import TargetLike
from headlight.text import Text
from headlight.tokens import in_scale, outside_names, spelled

if TYPE_CHECKING:
    import pandas
    from rich.console import Console, ConsoleOptions, RenderResult

FORMAT_VERSION = 2
"""Version 1 had no `is_sink`."""
MOST = 2 / 3
"""If tokens outside the scale hold more than this share of all scores, a note says so."""

MERGES = {
    "sum": lambda scores: scores.sum(),
    "max": lambda scores: scores[np.abs(scores).argmax()],
    "mean": lambda scores: scores.mean(),
}
"""How the tokens of a word become one score; 'max' keeps the sign of the largest magnitude."""

TARGET_FIELDS = {
    "label": (is_text, "text"),
    "predicted": (is_text, "text"),
    "logit": (is_number, "a finite number"),
    "probability": (or_none(is_number), "a finite number or null"),
    "positions": (or_none(list_of(is_count)), "numbers of tokens or null"),
    "output": (one_of("logit", "probability"), "'logit' or 'probability'"),
}
FIELDS = {
    "tokens": (list_of(is_text), "a list of texts"),
    "scores": (list_of(is_number), "a list of finite numbers"),
    "target": (is_named, "an object"),
    "method": (is_text, "text"),
    "model": (is_text, "text"),
    "signed": (is_truth, "true or false"),
    "is_special": (list_of(is_truth), "a list of true and false"),
    "is_sink": (list_of(is_truth), "a list of true and false"),
    "texts": (list_of(is_text), "a list of texts"),
    "offsets": (or_none(list_of(list_of(is_count, size=2))), "a list of spans or null"),
    "segments": (or_none(list_of(or_none(is_count))), "a list of numbers of texts or null"),
    "word_ids": (or_none(list_of(or_none(is_count))), "a list of numbers of words or null"),
    "options": (is_named, "an object"),
    "versions": (is_named, "an object"),
    "notes": (list_of(is_text), "a list of texts"),
    "unit": (one_of("token", "word"), "'token' or 'word'"),
}
"""The fields of a stored attribution: how each is checked, and what it must hold, in words."""


@dataclass(frozen=True)
class Explained:
    """The number that was explained.

    label: the class, token or answer it belongs to. predicted: what the model decided. positions: the
    tokens at which it is read; None if the head decides once for the whole text. probability: None for
    regression. token_log_probabilities: of the tokens of an answer, whose probability may be too small for a
    number; they are not stored.
    """

    label: str
    predicted: str
    logit: float
    probability: float | None
    positions: tuple[int, ...] | None
    output: str
    token_log_probabilities: tuple[float, ...] = ()

    @property
    def log_probability(self) -> float | None:
        """That of an answer as a whole; None if its tokens have none."""
        return sum(self.token_log_probabilities) if self.token_log_probabilities else None

    @property
    def position(self) -> int | None:
        """The first token at which the number is read."""
        return self.positions[0] if self.positions else None


@dataclass(frozen=True, eq=False)
class Attribution:
    """Scores of the tokens of one input, by position, and all that is needed to read them.

    `segments` says which text a token is from (0 or 1, None for special tokens); `offsets` are
    characters in that text; `word_ids` count words through both texts. `unit` is 'token' or 'word'.
    `is_sink` marks the first token of a text, or of a window of it, if the network's tokens look back only:
    attention rests there when it finds nothing. By default none is marked.
    """

    tokens: tuple[str, ...]
    scores: NDArray[np.floating[Any]]
    target: Explained
    method: str
    model: str
    signed: bool
    is_special: tuple[bool, ...]
    texts: tuple[str, ...] = ()
    offsets: tuple[tuple[int, int], ...] | None = None
    segments: tuple[int | None, ...] | None = None
    word_ids: tuple[int | None, ...] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unit: Literal["token", "word"] = "token"
    is_sink: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        scores = np.array(self.scores, copy=True)
        scores.flags.writeable = False
        object.__setattr__(self, "scores", scores)
        object.__setattr__(self, "options", FrozenMapping(self.options))
        object.__setattr__(self, "versions", FrozenMapping(self.versions))
        object.__setattr__(self, "is_sink", self.is_sink or (False,) * len(self.tokens))
        if scores.shape != (len(self.tokens),):
            raise InvalidInput(
                f"{len(self.tokens)} tokens need as many scores, in one dimension; these have the shape "
                f"{scores.shape}."
            )
        for name in ("is_special", "is_sink", "offsets", "segments", "word_ids"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.tokens):
                raise InvalidInput(
                    f"{len(self.tokens)} tokens need as many values of '{name}', not {len(values)}."
                )

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()  # arrays come back from a pickle writable

    def __len__(self) -> int:
        return len(self.tokens)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return iter(self.as_tuples())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attribution) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        best = ", ".join(f"{token} {score:+.3g}" for token, score, _ in self.top(3))
        return f"<Attribution {self.method} of '{self.target.label}' by {self.model}: {best}>"

    # --------------------------------------------------------------------------- other forms

    def as_tuples(self) -> list[tuple[str, float]]:
        """A list of (token, score), one per position."""
        return [
            (token, float(score)) for token, score in zip(self.tokens, self.scores, strict=True)
        ]

    def top(self, count: int = 5, *, special: bool = False) -> list[tuple[str, float, int]]:
        """The largest scores by magnitude as (token, score, position).

        Left out are special tokens, and a sink if its score is beyond the scale; with `special` nothing is.
        """
        magnitudes, scale = np.abs(self.scores), self.in_scale
        is_within = ~np.array(self.is_special) & (magnitudes <= magnitudes[scale].max(initial=0))
        order = np.argsort(-magnitudes, kind="stable")
        kept = [int(p) for p in order if special or scale[p] or is_within[p]]
        return [(self.tokens[p], float(self.scores[p]), p) for p in kept[:count]]

    def words(self, merge: Literal["sum", "max", "mean"] = "sum") -> Self:
        """The attribution merged into whole words, spelled as in the text; special tokens stay separate."""
        if merge not in MERGES:
            raise InvalidOption(f"merge='{merge}' does not exist. Use one of {', '.join(MERGES)}.")
        if self.word_ids is None or self.offsets is None or self.segments is None:
            raise InvalidInput(
                "words are not known: the input was token ids, or its tokenizer gives no offsets. "
                "Explain a text with a fast tokenizer."
            )
        groups = grouped(self.word_ids)
        spans = [(self.offsets[g[0]][0], self.offsets[g[-1]][1]) for g in groups]
        names = [self.name_of(group, span) for group, span in zip(groups, spans, strict=True)]
        return replace(
            self,
            tokens=tuple(names),
            scores=np.array([MERGES[merge](self.scores[group]) for group in groups]),
            is_special=tuple(self.is_special[g[0]] for g in groups),
            is_sink=tuple(any(self.is_sink[place] for place in g) for g in groups),
            offsets=tuple(spans),
            segments=tuple(self.segments[g[0]] for g in groups),
            word_ids=tuple(self.word_ids[g[0]] for g in groups),
            unit="word",
        )

    def name_of(self, group: list[int], span: tuple[int, int]) -> str:
        """The text of a word, or its tokens joined if there is no text."""
        segment = self.segments[group[0]] if self.segments else None
        if segment is None or not self.texts:
            return "".join(spelled([self.tokens[place] for place in group])).strip()
        return self.texts[segment][slice(*span)].strip() or self.tokens[group[0]]

    def normalised(self, by: Literal["max", "sum"] = "max") -> Self:
        """Scores divided by the largest magnitude, or by the sum of magnitudes, of the tokens in the scale.

        Special tokens and sinks are not in the scale (`in_scale`), because they often dominate. Where their
        scores are beyond it they are cut to its largest magnitude, as colours are: no score is beyond ±1.
        """
        if by not in ("max", "sum"):
            raise InvalidOption(f"by='{by}' does not exist. Use 'max' or 'sum'.")
        magnitudes = np.abs(self.scores[self.in_scale])
        largest = magnitudes.max()
        size = largest if by == "max" else magnitudes.sum()
        return replace(self, scores=np.clip(self.scores, -largest, largest) / (size or 1))

    @property
    def in_scale(self) -> NDArray[np.bool_]:
        """Which positions set the scale: neither special tokens nor sinks, as far as others are left."""
        return np.array(in_scale(self.is_special, self.is_sink))

    @property
    def held_outside(self) -> str:
        """A note if tokens outside the scale hold most of all scores, else ''."""
        magnitudes, outside = np.abs(self.scores.astype(np.float64)), ~self.in_scale
        share = magnitudes[outside].sum() / (magnitudes.sum() or 1)
        if share <= MOST:
            return ""
        names = outside_names(self.is_special, self.is_sink)
        held = f"{100 * share:.0f} % of all scores"
        if names == ["the first token"]:
            return f"the first token holds {held}: attention rests there"
        return f"{' and '.join(names)} hold {held}: they are outside the scale"

    def __sub__(self, other: Self) -> Self:
        """Scores minus those of another attribution of the same tokens.

        Methods have different scales: `a.normalised("sum") - b.normalised("sum")` compares shares.
        """
        if self.tokens != other.tokens:
            raise InvalidInput(
                "two attributions can be subtracted only if they have the same tokens; "
                f"these have {len(self)} and {len(other)} tokens, or differ in text or unit."
            )
        return replace(
            self,
            scores=self.scores - other.scores,
            is_sink=tuple(map(or_, self.is_sink, other.is_sink)),
            method=f"{self.method} − {other.method}",
            signed=True,
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain |= {
            "target": {name: getattr(self.target, name) for name in TARGET_FIELDS},
            "scores": self.scores.tolist(),
            "options": dict(self.options),
            "versions": dict(self.versions),
            "format": FORMAT_VERSION,
        }
        return dict(json.loads(json.dumps(plain)))

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The attribution from which `to_dict` made these values."""
        if not isinstance(plain, Mapping) or plain.get("format") not in (1, FORMAT_VERSION):
            stated = plain.get("format") if isinstance(plain, Mapping) else type(plain).__name__
            raise InvalidInput(
                f"this is not an attribution of format 1 or {FORMAT_VERSION}: it says {stated!r}."
            )
        if plain["format"] == 1:
            plain = {**plain, "is_sink": []}
        check_fields(plain, FIELDS, "an attribution")
        check_fields(plain["target"], TARGET_FIELDS, "the target of an attribution")
        check_places(plain)
        values = {name: frozen(plain[name]) for name in FIELDS}
        target = {name: frozen(plain["target"][name]) for name in TARGET_FIELDS}
        return cls(
            **values
            | {
                "scores": np.array(plain["scores"], dtype=np.float64),
                "target": Explained(**target),
                "options": dict(plain["options"]),
                "versions": dict(plain["versions"]),
            }
        )

    @staticmethod
    def from_scores(
        model: Named,
        text: Text,
        scores: Any,
        *,
        method: str,
        target: TargetLike = None,
        tokens: Sequence[str] | None = None,
        words: Sequence[str] | None = None,
        spans: Sequence[tuple[int, ...]] | None = None,
        signed: bool = True,
    ) -> "Attribution":
        """An attribution of the model's tokens from scores that were computed elsewhere.

        The scores are of the model's own tokens, of other `tokens` or `words` of the text, all and in order,
        or of characters, `spans`; the last three are put on the model's tokens by characters. method: a name
        for where they are from. target: what was explained, by default what the model predicts.
        `headlight.foreign.from_scores` says more, and `headlight.foreign` reads what other packages return.
        """
        pieces = {"tokens": tokens, "words": words, "spans": spans}
        made: Attribution = MAKING.from_scores(
            model, text, scores, method=method, target=target, signed=signed, **pieces
        )
        return made

    def to_dataframe(self) -> "pandas.DataFrame":
        """A pandas table with one row per token."""
        try:
            import pandas
        except ImportError as error:
            raise missing_extra("pandas", "data", "to_dataframe()") from error
        columns: dict[str, Any] = {
            "token": self.tokens,
            "score": self.scores,
            "is_special": self.is_special,
            "is_sink": self.is_sink,
        }
        for name in ("word_ids", "segments"):
            if getattr(self, name) is not None:
                columns[name] = pandas.array(getattr(self, name), dtype="Int64")
        if self.offsets is not None:
            columns["start"], columns["end"] = zip(*self.offsets, strict=True)
        return pandas.DataFrame(columns)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the attribution to a JSON file, whole or not at all."""
        save_json(path, self.to_dict(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an attribution that `save` wrote."""
        plain = read_json(path, "attribution")
        if isinstance(plain, list):
            raise InvalidInput(
                f"'{path}' holds a list of {len(plain)}, not one attribution. "
                "Read each with Attribution.from_dict."
            )
        return cls.from_dict(plain)

    # ------------------------------------------------------------------------------- display

    def show(self) -> None:
        """Print the heat map, in a terminal or a notebook."""
        show(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield terminal_form(self)


@dataclass(frozen=True)
class Generation:
    """One attribution per token of a continuation, each over all the tokens before it."""

    prompt: tuple[str, ...]
    output: tuple[str, ...]
    attributions: tuple[Attribution, ...]

    def __post_init__(self) -> None:
        lengths = [len(each) for each in self.attributions]
        if not lengths or len(lengths) != len(self.output) or lengths != sorted(lengths):
            raise InvalidInput(
                f"{len(self.output)} output tokens need as many attributions, each over all the tokens "
                f"before it; these are over {lengths} tokens."
            )

    @property
    def matrix(self) -> NDArray[np.floating[Any]]:
        """Scores [output token, input token]; 0 where the input token does not come before the output token."""
        rows = [np.pad(a.scores, (0, len(self.inputs) - len(a))) for a in self.attributions]
        return np.stack(rows)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The tokens or words of the columns of `matrix`."""
        return self.attributions[-1].tokens

    def words(self, merge: Literal["sum", "max", "mean"] = "sum") -> Self:
        """The same with input tokens merged into words; each output token keeps its row: it is one decision."""
        by_word = tuple(each.words(merge) for each in self.attributions)
        return replace(self, prompt=by_word[0].tokens, attributions=by_word)

    def _repr_html_(self) -> str:
        return html_of(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield terminal_form(self)


def check_places(stored: Mapping[str, Any]) -> None:
    """Refuse an attribution without tokens, or with a token outside its texts."""
    if not stored["tokens"]:
        raise InvalidInput("the field 'tokens' of an attribution must hold at least one token.")
    texts = stored["texts"]
    spans = stored["offsets"] or ((0, 0),) * len(stored["tokens"])
    segments = stored["segments"] or (None,) * len(stored["tokens"])
    for (start, end), segment in zip(spans, segments, strict=False):
        is_outside = segment is not None and texts and segment >= len(texts)
        if (
            start > end
            or is_outside
            or (segment is not None and texts and end > len(texts[segment]))
        ):
            raise InvalidInput(
                f"an attribution has a token at characters {start} to {end} of text {segment}, "
                "which is outside its texts."
            )


def grouped(word_ids: tuple[int | None, ...]) -> list[list[int]]:
    """Positions of each word; a token without a word stands alone."""
    groups: list[list[int]] = []
    for position, word in enumerate(word_ids):
        if word is not None and groups and word_ids[groups[-1][-1]] == word:
            groups[-1].append(position)
        else:
            groups.append([position])
    return groups


def frozen(value: Any) -> Any:
    """Lists from JSON as tuples, at every depth."""
    return tuple(map(frozen, value)) if isinstance(value, list) else value
