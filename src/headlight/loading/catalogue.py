"""The embedded models: our adapters, from headlight-models, on a base that pip installs; and a small LLM.

This file holds facts only, so it needs no torch; `loading/embedded.py` makes the networks.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from headlight.loading.bases import BGE, MINILM, SMOLLM, Base, local_place
from headlight.loading.shipped import models_folder, shipped
from headlight.models.task import Task


@dataclass(frozen=True)
class Embedded:
    """One entry of the catalogue with its model card, or an adapter file with what it says about itself.

    right, rows: how many of the held-out rows `shown` the merged network got right, by the measure `measure`.
    also: other measurements on them. best_layer: where decoded saliency works best. reads: 'text' or 'pair' if
    it was trained on only one of them. file: an adapter file that is not shipped.
    """

    name: str
    decides: str
    data: str
    shown: str
    licence: str = ""
    limits: str = ""
    right: int = 0
    rows: int = 0
    measure: str = "accuracy"
    also: str = ""
    labels: tuple[str, ...] = ()
    task: Task = Task.SEQUENCE
    base: Base = MINILM
    best_layer: int | None = None
    reads: Literal["text", "pair"] | None = None
    file: Path | None = None

    @property
    def is_shipped(self) -> bool:
        """Whether its adapter is in the package headlight-models."""
        return self.base is not SMOLLM and self.file is None

    def adapter(self) -> Path:
        """The adapter file; a shipped one is checked first."""
        return self.file or shipped(f"adapters/{self.name}.safetensors")

    @property
    def score(self) -> str:
        """The share of right answers; '' if it was not measured."""
        return f"{self.right / self.rows:.3f}" if self.rows else ""


SIX_LAYERS_AND_LLM = {
    entry.name: entry
    for entry in (
        Embedded(
            name="sentiment",
            decides="sentiment of a sentence about a film",
            labels=("negative", "positive"),
            data="SST-2 train without repeats and contradictions, and sentences of IMDB train; on both "
            "also from the probabilities of a larger network (all-mpnet-base-v2, fine-tuned on 10,000 of the "
            "phrases)",
            licence="research use (Socher et al. 2013; Maas et al. 2011)",
            shown="SST-2 dev",
            right=787,
            rows=872,
            also="779 and 784 of 872 with two other seeds (benchmarks/faithfulness/rivals)",
            best_layer=3,
            reads="text",
            limits="Trained on film reviews only; right for 572 of 600 sentences of Yelp reviews and for 419 "
            "of 600 of Amazon reviews.",
        ),
        Embedded(
            name="topic",
            reads="text",
            decides="topic of a news item",
            labels=("World", "Sports", "Business", "Sci/Tech"),
            data="AG News, 9,984 items",
            licence="non-commercial research (Zhang et al. 2015)",
            shown="AG News, 5,000 items of its test set",
            right=4541,
            rows=5000,
            best_layer=5,
            limits="Trained on short English news items of four topics only.",
        ),
        Embedded(
            name="nli",
            reads="pair",
            decides="whether one sentence follows from another (pairs)",
            labels=("entailment", "neutral", "contradiction"),
            data="SNLI and MultiNLI, 19,813 pairs",
            licence="CC BY-SA 4.0 (SNLI), open (MultiNLI)",
            shown="SNLI, 2,500 other pairs",
            right=2007,
            rows=2500,
            best_layer=5,
            limits="Trained mostly on descriptions of photographs.",
        ),
        Embedded(
            name="paraphrase",
            reads="pair",
            decides="whether two questions ask the same (pairs)",
            labels=("different", "duplicate"),
            data="QQP, 15,210 pairs",
            licence="non-commercial (Quora)",
            shown="QQP, 2,500 other pairs",
            right=2116,
            rows=2500,
            best_layer=5,
            limits="Trained on pairs of short English questions only.",
        ),
        Embedded(
            name="qa",
            reads="pair",
            decides="where in a text the answer to a question stands (pairs)",
            data="SQuAD v1.1, 11,877 questions on 44 articles of its training set",
            licence="CC BY-SA 4.0",
            shown="SQuAD v1.1 dev, 948 questions on other articles",
            right=598,
            rows=948,
            best_layer=3,
            measure="exact match",
            also="F1 0.735",
            limits="Always answers, also where the text has no answer; trained on Wikipedia only.",
            task=Task.QUESTION,
        ),
        Embedded(
            name="agreement",
            reads="text",
            decides="whether the masked verb of a sentence is singular or plural",
            labels=("singular", "plural"),
            data="5,000 sentences of Wikipedia with their verbs (Linzen et al. 2016; Gulordava et al. 2018), "
            "WikiText-2 and UD English EWT, 32,443 sentences in all",
            licence="CC BY-NC 4.0 (Gulordava et al.), CC BY-SA 3.0 (WikiText-2), CC BY-SA 4.0 (EWT); so "
            "non-commercial",
            shown="1,999 other sentences of Linzen et al., the verb masked",
            right=1968,
            rows=1999,
            best_layer=2,
            limits="Reads lower-cased sentences with one [MASK] where the verb stands; for other masks it "
            "guesses.",
            task=Task.TOKEN,
        ),
        Embedded(
            name="decoder",
            decides="a masked token of a text; decodes the hidden layers of the others",
            data="WikiText-2, half of 23,748 pieces of paragraphs",
            licence="CC BY-SA 3.0",
            shown="WikiText-2 test, 38,664 masked tokens",
            right=9162,
            rows=38_664,
            measure="first guess",
            also="first five guesses 0.393, perplexity 166",
            limits="A small head after a short training: far from BERT's own.",
            task=Task.MASKED,
        ),
        Embedded(
            name="llm",
            decides="the next token of a text or chat",
            data="not by us: SmolLM2-135M-Instruct, four-bit weights, taken as they are",
            licence="Apache-2.0",
            shown="60 paragraphs of the WikiText-2 test set, their first 256 tokens",
            also="perplexity 31.7",
            limits="135 million parameters: fluent, often wrong about facts.",
            task=Task.CAUSAL,
            base=SMOLLM,
        ),
    )
}


def twelve_layers(name: str, right: int, also: str = "", limits: str = "") -> Embedded:
    """The entry NAME-12: trained on the same data as NAME, on a base of twelve layers."""
    six = SIX_LAYERS_AND_LLM[name]
    return replace(
        six,
        name=f"{name}-12",
        base=BGE,
        right=right,
        also=also,
        limits=limits or six.limits,
        best_layer=None,
    )


CATALOGUE = SIX_LAYERS_AND_LLM | {
    entry.name: entry
    for entry in (
        twelve_layers("topic", 4593),
        twelve_layers("nli", 2055),
        twelve_layers("paraphrase", 2144),
    )
}


def is_here(entry: Embedded) -> bool:
    """Whether all files of an embedded model are on this machine."""
    has_adapter = not entry.is_shipped or models_folder() is not None
    return has_adapter and local_place(entry.base) is not None
