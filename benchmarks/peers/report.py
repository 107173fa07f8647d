"""The page of results, from the measured numbers alone."""

from collections.abc import Iterator
from typing import Any

GOALS = {"captum": 3.0}
OTHER_GOAL = 10.0
"""How many times as long as headlight a library should take on many texts."""
AGREEMENT = ("rank correlation", "least rank correlation", "relative difference")
UNEQUAL = ("bert shapley",)
"""Cases in which one text gets more passes than each of many, so that times cannot be multiplied."""
TENSORS = ("captum", "LXT")
"""Libraries that explain tensors, and whose batches are made by hand."""
DIFFERENT = {
    ("bert deeplift", "captum"): (
        "its rules reach modules only, here the tanh of the pooler; ours reach every operation"
    ),
    ("bert shapley", "captum"): "other random orders",
    ("bert shapley", "SHAP"): (
        "Owen values over a tree of the words, at few passes those of groups of words; as many passes as ours"
    ),
    ("bert saliency", "interpreto"): (
        "mean size of the gradient at the word embeddings; ours is its length at the embedding output"
    ),
    ("bert input_x_gradient", "interpreto"): (
        "mean size of the products at the word embeddings; compared with our input_x_gradient_mean"
    ),
    ("bert integrated_gradients", "interpreto"): (
        "mean size at the word embeddings, from zero there, by the trapezoidal rule; compared with our "
        "integrated_gradients_mean from zero"
    ),
    ("bert integrated_gradients", "transformers-interpret"): (
        "of the probability, at the word embeddings, from the pad token, scaled to length 1; compared with "
        "ours of the probability"
    ),
}
"""Where a library computes something a little different, and what."""
PASSES: dict[str, tuple[str, int | str]] = {
    "bert saliency": ("bert forward and back", 1),
    "bert input_x_gradient": ("bert forward and back", 1),
    "bert integrated_gradients": ("bert forward and back", "steps"),
    "bert deeplift": ("bert forward and back", 2),
    "bert occlusion": ("bert forward", "words"),
    "bert shapley": ("bert forward", "words"),
    "llama input_x_gradient": ("llama forward and back", 1),
    "llama integrated_gradients": ("llama forward and back", "steps"),
    "llama attention": ("llama forward", 1),
    "llama attn_lrp": ("llama forward and back", 1),
    "gpt2 attn_lrp": ("gpt2 forward and back", 1),
}
"""The plain passes that a method cannot do without, and how many."""
Case = dict[str, Any]


def cell(found: dict[str, Any] | None) -> str:
    """A ratio with its middle half."""
    if found is None:
        return ""
    if "error" in found:
        return "failed"
    ratio = found["to headlight"]
    return f"**{ratio['median']:.2g}** ({ratio['quarter']:.2g}–{ratio['three quarters']:.2g})"


def peers(answers: dict[str, Any]) -> Iterator[tuple[str, str, Case]]:
    """Every case with every library but headlight."""
    counts = [f"{count}" for count in answers["settings"]["texts"]]
    for case, found in answers["cases"].items():
        for library in found[counts[0]]:
            if library != "headlight":
                yield case, library, {count: found[count].get(library) for count in counts}


def one_text_a_call(found: Case, library: str, counts: list[str]) -> str:
    """How many times as long as headlight with a batch a library of tensors takes if called text by text."""
    few, many = counts
    one = found[few].get(library, {})
    if library not in TENSORS or "seconds" not in one:
        return ""
    return f"{one['seconds'] * int(many) / found[many]['headlight']['seconds']:.2g}"


def comparison(answers: dict[str, Any]) -> list[str]:
    """The table of ratios and agreement."""
    counts = [f"{count}" for count in answers["settings"]["texts"]]
    heads = [f"{count} text{'s' * (count != '1')}" for count in counts]
    lines = [
        f"| method | library | {' | '.join(heads)} | {heads[-1]}, one text a call "
        "| headlight, seconds | rank correlation | least | difference |",
        f"|---|---|{'---|' * len(heads)}---|---|---|---|---|",
    ]
    for case, library, found in peers(answers):
        many = found[counts[-1]] or {}
        own = " / ".join(
            f"{answers['cases'][case][count]['headlight']['seconds']:.2g}" for count in counts
        )
        cells = [cell(found[count]) for count in counts]
        cells.append(
            "" if case in UNEQUAL else one_text_a_call(answers["cases"][case], library, counts)
        )
        alike = [f"{many.get(key, '')}" for key in AGREEMENT]
        mark = " †" if (case, library) in DIFFERENT else ""
        lines.append(f"| {case} | {library}{mark} | {' | '.join([*cells, own, *alike])} |")
    return lines


def remarks(answers: dict[str, Any]) -> list[str]:
    """What the marked libraries compute instead, and which failed."""
    lines = [f"- † {case}, {library}: {what}." for (case, library), what in DIFFERENT.items()]
    for case, library, found in peers(answers):
        for count, one in found.items():
            if one and "error" in one:
                lines.append(f"- {case}, {library}, {count}: `{one['error']}`")
    for library, facts in answers["libraries"].items():
        if isinstance(facts, str):
            lines.append(f"- {library} was not measured: `{facts}`")
    return lines


def goals(answers: dict[str, Any]) -> list[str]:
    """Which libraries take as many times as long as they should, on many texts."""
    most = f"{answers['settings']['texts'][-1]}"
    reached: list[str] = []
    missed: list[str] = []
    for case, library, found in peers(answers):
        one = found[most]
        if one and "to headlight" in one:
            goal = GOALS.get(library, OTHER_GOAL)
            ratio = one["to headlight"]["median"]
            (reached if ratio >= goal else missed).append(f"{case}, {library} ({ratio:.2g})")
    return [
        f"The goal, set for 64 texts: captum takes at least {GOALS['captum']:.0f} times as long as "
        f"headlight, the others at least {OTHER_GOAL:.0f} times. With {most} texts it is",
        "",
        f"- reached: {'; '.join(reached) or 'nowhere'}.",
        f"- missed: {'; '.join(missed) or 'nowhere'}.",
    ]


def least(answers: dict[str, Any], case: str) -> float:
    """Seconds of the passes that a method cannot do without."""
    facts = answers["settings"]
    kind, number = PASSES[case]
    known = {"steps": facts["steps of integrated gradients"], "words": facts["words of a text"]}
    times = known[number] if isinstance(number, str) else number
    return float(answers["seconds of plain passes"][kind] * times)


def reasons(answers: dict[str, Any]) -> list[str]:
    """Every library beside the passes that the method cannot do without."""
    most = f"{answers['settings']['texts'][-1]}"
    lines = [
        f"How many times as long as plain passes each library takes ({most} texts in one padded batch, no "
        "library, the quickest of 5; as many passes as the method needs at least; language models score "
        "their vocabulary after the last token only), and where headlight's operators spend their time on 8 "
        "texts. A library that makes these passes can hardly be below 1, so no other can beat it by more than "
        "its own number here.",
        "",
        "| method | headlight | others | operators of headlight |",
        "|---|---|---|---|",
    ]
    for case, found in answers["cases"].items():
        shortest = least(answers, case)
        own, *others = (
            f"{name} {one['seconds'] / shortest:.2g}"
            for name, one in found[most].items()
            if "seconds" in one
        )
        shares = ", ".join(f"{name} {share:.0%}" for name, share in found["operators"].items())
        lines.append(f"| {case} | {own.split()[1]} | {', '.join(others)} | {shares} |")
    return lines


def page(answers: dict[str, Any]) -> str:
    """The whole page."""
    facts = answers["settings"]
    few, many = facts["permutations of Shapley values"].values()
    versions = "; ".join(
        f"{name} {known['version']} (transformers {known['transformers']})"
        for name, known in answers["libraries"].items()
        if not isinstance(known, str)
    )
    lines = [
        "# headlight beside other libraries",
        "",
        f"Made by `{answers['command']}` in {facts['minutes']} minutes on {facts['cores']} cores "
        f"({facts['processor']}, Python {facts['python']}); not edited. How many times as long as headlight a "
        "library takes: median (middle half) of rounds in turn, as many libraries at a time as there are "
        "cores; above 1, headlight is faster. Seconds are those of a process with one thread on its "
        "processor, so they hardly depend on what else the machine does. Libraries that explain tensors got "
        'all texts in a batch padded by hand; "one text a call", as in their documentation, is their time '
        "for one text, times the number of texts.",
        "",
        "The networks have 6 layers of 384 features and seeded weights: a BERT classifier, a Llama and a "
        f"GPT-2. Texts have about {facts['words of a text']} words, one token each. Every library reads the "
        "same weights, runs in a process of its own and is used as its documentation shows, with its own "
        f"batches where it has them. Integrated gradients take {facts['steps of integrated gradients']} "
        f"steps; Shapley values take as many passes as {few} permutations of one text, {many} of many. The "
        "rank correlation with headlight's scores is the median over the texts, then the least; the "
        "difference is the length of the difference of all scores, divided by the length of headlight's.",
        "",
        f"Versions: {versions}; torch {answers['libraries']['headlight']['torch']}. LXT has an environment of "
        "its own, where headlight does not run (it needs transformers 5). With the transformers of the "
        f"others, LXT says: `{answers['lxt with the other transformers']}`",
        "",
        *comparison(answers),
        "",
        *remarks(answers),
        "",
        "## Goal",
        "",
        *goals(answers),
        "",
        "## Why not more",
        "",
        *reasons(answers),
    ]
    return "\n".join(lines) + "\n"
