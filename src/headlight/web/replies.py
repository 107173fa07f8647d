"""The bodies of replies, as OpenAPI documents them."""

from typing import Any, Literal

from typing_extensions import TypedDict

Grid = list[list[float]]


class Refused(TypedDict):
    """Why there is no answer, in a sentence, and the kind of error."""

    error: str
    kind: str


class Shown(TypedDict):
    """A stretch of text with its score; `positions`: the tokens it covers.

    share: of the largest score in the scale, beyond ±1 only outside it. in_scale: whether it sets the scale.
    """

    text: str
    before: str
    score: float
    share: float
    special: bool
    in_scale: bool
    positions: list[int]
    segment: int | None


class Views(TypedDict):
    """The same scores by token and by word."""

    pieces: list[Shown]
    words: list[Shown]


class Decided(TypedDict):
    """What the model decided and which label was explained; a regression has no probabilities."""

    labels: list[str]
    probabilities: list[float] | None
    predicted: str
    explained: str
    logit: float
    probability: float | None


class Attributed(Views):
    """The scores of one method; `data` is the stored form (docs/format.md)."""

    method: str
    signed: bool
    notes: list[str]
    data: dict[str, Any]


class Explanation(TypedDict):
    """The scores of several methods; `failures` says why a method gave none."""

    prediction: Decided
    tokens: list[str]
    attributions: list[Attributed]
    failures: dict[str, str]


class ProbabilityChange(TypedDict):
    """The probability of the explained label before and after tokens were removed."""

    label: str
    before: float
    after: float
    predicted: str | None


class TrustVerdict(TypedDict):
    """How far to trust a method on this text, and the mean probability left by it and by random orders."""

    level: Literal["unknown", "poor", "fair", "good"]
    sentence: str
    numbers: str
    mean: float
    random_mean: float


class Curve(TypedDict):
    """How the probability falls in the order of a method, and the verdict on the method."""

    method: str
    probabilities: list[float]
    aopc: float
    trust: TrustVerdict


class RandomCurve(TypedDict):
    """How the probability falls in random orders: the mean, and the middle 80 %."""

    probabilities: list[float]
    low: list[float]
    high: list[float]
    aopc: float


class DeletionCurves(TypedDict):
    """Deletion curves; `levels` are the shares of tokens removed."""

    label: str
    levels: list[float]
    curves: list[Curve]
    random: RandomCurve
    failures: dict[str, str]


class Layer(Views):
    """The scores of a method at one layer; shares are of the largest score of any layer."""

    layer: int


class Layered(TypedDict):
    """A method layer by layer, and as a whole."""

    method: str
    signed: bool
    layers: list[Layer]
    whole: Views


class Mixed(TypedDict):
    """matrix[i][j]: how much of input token j is in output token i; `layer` is 1 to `layers`.

    largest: the value with the strongest colour. note: which columns are not in the scale.
    """

    method: str
    layer: int
    layers: int
    tokens: list[str]
    matrix: Grid
    largest: float
    note: str


class Generated(TypedDict):
    """matrix[o][i]: the score of input token i for output token o; inputs are the prompt and earlier outputs.

    largest: the score with the strongest colour; largest_by_row: the same for every output token alone.
    special, in_scale: of the inputs, as in `Shown`. note: which inputs are not in the scale.
    """

    method: str
    signed: bool
    prompt: list[str]
    output: list[str]
    matrix: Grid
    largest: float
    largest_by_row: list[float]
    special: list[bool]
    in_scale: list[bool]
    note: str


class WrittenSoFar(TypedDict):
    """What a model has written of an answer; `is_done` in the last line."""

    answer: str
    is_done: bool


class ReadBlock(TypedDict):
    """A stretch of a prompt: a source, a turn of a chat, or what stands between; `source` is its number."""

    name: str
    source: int | None


class ReadWord(TypedDict):
    """A word of a prompt, the spaces before it, and its block. in_scale: whether it sets the scale."""

    text: str
    before: str
    block: int
    in_scale: bool


class ReadSource(TypedDict):
    """A source of a prompt."""

    name: str
    in_scale: bool


class ReadToken(TypedDict):
    """To which word and source of the prompt a token belongs; is_own: it is one of the answer."""

    word: int | None
    source: int | None
    is_own: bool


class WordChoice(TypedDict):
    """The choice of the first token of a word: its name, and how many characters of the text come before it."""

    end: int
    target: str


class SaidWord(TypedDict):
    """A word of an answer, the spaces before it, its sentence, and its choice as a question of its own.

    choice: null if a plain text before it is not read as the same tokens, or is too long.
    """

    text: str
    before: str
    sentence: int | None
    choice: WordChoice | None


class SaidPart(TypedDict):
    """An explained part of an answer: a word, or a whole sentence, which has no word."""

    word: int | None
    sentence: int | None
    log_probability: float


class ExplainedAnswer(TypedDict):
    """scores[p][t]: the score of token t for part p of the answer; whoever shows them adds up what is shown.

    text: prompt and answer as the model read them.
    """

    text: str
    method: str
    signed: bool
    notes: list[str]
    blocks: list[ReadBlock]
    words: list[ReadWord]
    sources: list[ReadSource]
    tokens: list[ReadToken]
    said: list[SaidWord]
    parts: list[SaidPart]
    scores: Grid


class FallenToken(TypedDict):
    """A token of an answer, and its probability with and without some sources."""

    text: str
    before: float
    after: float


class AnswerChange(TypedDict):
    """The log-probability of an answer with and without some sources; `fallen`: its tokens that lost most."""

    before: float
    after: float
    tokens: int
    fallen: list[FallenToken]


class HeadMap(TypedDict):
    """The heads of a model, [layer][head]: the kind of each, what it does, whether the mask keeps it."""

    layers: int
    heads: int
    kinds: list[list[str | None]]
    roles: list[list[list[str]]]
    open: list[list[bool]]


class WithoutHeads(TypedDict):
    """The explained number and the decision, before and after heads are switched off.

    unit: what the number is. off: how many of the heads are off.
    """

    label: str
    unit: Literal["probability", "value"]
    before: float
    after: float
    predicted_before: str
    predicted_after: str
    off: int
    heads: int


class TextField(TypedDict):
    """A text that a model reads, and what the page calls it."""

    name: Literal["text", "pair"]
    label: str
    optional: bool


class ExampleText(TypedDict):
    """An example text, or a pair of texts."""

    text: str
    pair: str | None


class ModelFacts(TypedDict):
    """What the page shows and offers for a model."""

    name: str
    title: str
    task: str
    fields: list[TextField]
    labels: list[str] | None
    target_hint: str | None
    generates: bool
    chats: bool
    layers: int
    heads: int
    has_heads: bool
    has_mask: bool
    switches_heads: bool
    methods: list[str]
    default_method: str
    layered: list[str]
    mixing: list[str]
    changes: list[str]
    examples: list[ExampleText]


class MethodFacts(TypedDict):
    """What the page shows about a method."""

    name: str
    summary: str
    signed: bool
    paper: str
    cost: Literal["fast", "slow"]


class ToneNames(TypedDict):
    """The everyday names of the colours."""

    positive: str
    negative: str
    unsigned: str
    more: str
    less: str
    beyond: str


class PaletteFacts(TypedDict):
    """CSS colours of scores and of kinds of heads.

    beyond: of scores beyond the scale. strongest: the opacity of the largest score. marked: signed shares
    below this are marked by more than colour.
    """

    positive: str
    negative: str
    unsigned: str
    more: str
    less: str
    beyond: str
    heads: dict[str, str]
    names: ToneNames
    strongest: float
    marked: float


class About(TypedDict):
    """The models, methods, runs and limits of a server."""

    version: str
    limits: dict[str, float]
    models: list[ModelFacts]
    loading: list[str]
    failed: dict[str, str]
    methods: list[MethodFacts]
    runs: list[str]
    palette: PaletteFacts


class Cell(TypedDict):
    """The mean of a metric for a method, with its interval."""

    method: str
    mean: float | None
    low: float | None
    high: float | None
    count: int
    best: bool


class MetricRow(TypedDict):
    """A metric, whether higher or lower is better, and its value for every method."""

    metric: str
    better: str
    cells: list[Cell]


class Run(TypedDict):
    """What was run, and its results."""

    name: str
    model: str
    data: str
    count: int
    accuracy: float | None
    methods: list[str]
    metrics: list[str]
    missing: int
    failures: int
    curved: list[str]
    table: list[MetricRow]


class MeanCurve(TypedDict):
    """The mean curve of a metric for a method."""

    method: str
    levels: list[float]
    means: list[float]


class MeanCurves(TypedDict):
    """The mean curves of a metric, and the labels of the axes."""

    metric: str
    x: str
    y: str
    curves: list[MeanCurve]


class Compared(TypedDict):
    """An example with the scores of two methods; `disagreement` is 1 − Spearman's ρ."""

    number: int
    disagreement: float
    gold: str | None
    predicted: str
    label: str
    first: list[Shown]
    second: list[Shown]


class Disagreements(TypedDict):
    """A page of examples, the most different first; `total` counts all pages."""

    total: int
    examples: list[Compared]
