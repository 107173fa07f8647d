"""`LoadedModels`: the models that a server was started with, and what the page shows about each."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Literal

from headlight.batch import Text
from headlight.data.datasets import OWN, read_examples
from headlight.errors import HeadlightError, unknown_name
from headlight.explaining.layers import has_layers
from headlight.explaining.plan import default_method, methods_for
from headlight.loading.catalogue import CATALOGUE
from headlight.loading.load import load
from headlight.loading.placement import DEFAULT_DTYPE
from headlight.methods import METHODS
from headlight.models.model import Model, Task
from headlight.web.replies import ExampleText, ModelFacts, TextField

LOG = logging.getLogger("headlight.web")
EXAMPLE_COUNT = 6
OFFERED_CHANGES = ("delete", "mask", "pad")
"""The CHANGES that differ for a user; the others imitate released code."""
FIELD_NAMES: Sequence[Literal["text", "pair"]] = ("text", "pair")
MASKED_TEXTS = ("Paris is the [MASK] of France.", "She poured the coffee into a [MASK].")
PROMPTS = (
    "The capital of France is",
    "The keys to the cabinet",
    "Because it was raining, she took an",
)
SENTENCES = (
    "a charming and often affecting journey, though the plot is thin",
    "The parliament in Oslo voted on Tuesday for a new budget.",
)
FIELDS = {
    Task.QUESTION: ("Question", "Context"),
    Task.CAUSAL: ("Text to continue",),
    Task.MASKED: ("Text with a masked token",),
}
HINTS = {
    Task.MASKED: "a word that could be there",
    Task.CAUSAL: "the next word, such as 'are'",
    Task.QUESTION: "another answer, copied from the context",
}
"""What a user may write as the target if there is no list of labels."""


@dataclass(frozen=True, eq=False)
class LoadedModels:
    """Models by name, in the order in which they were given; models that are still loading are not in it.

    device, dtype: where and in which type they are loaded, as in `load`.
    """

    names: tuple[str, ...]
    device: str | None = None
    dtype: str = DEFAULT_DTYPE
    models: dict[str, Model] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    facts: dict[str, ModelFacts] = field(default_factory=dict)
    loaders: list[Thread] = field(default_factory=list)
    is_closed: Event = field(default_factory=Event)

    def fill(self) -> None:
        """Load the first model and wait for it; load the others in a thread while it answers."""
        self.add(self.names[0], self.loaded(self.names[0]))
        self.loaders.append(Thread(target=self.fill_up, name="headlight-loading", daemon=True))
        self.loaders[-1].start()

    def fill_up(self) -> None:
        """Load the other models; one that cannot be loaded is reported, and the server goes on."""
        for name in self.names:
            if name not in self.models and not self.is_closed.is_set():
                try:
                    self.add(name, self.loaded(name))
                except HeadlightError as error:
                    self.failed[name] = str(error)
                    LOG.error("%s cannot be loaded: %s", name, error)

    def loaded(self, name: str) -> Model:
        """A model, loaded as the server was told."""
        return load(name, device=self.device, dtype=self.dtype)

    def close(self) -> None:
        """Stop loading, and wait for the thread."""
        # A thread that is killed inside torch when Python ends crashes the process.
        self.is_closed.set()
        for loader in self.loaders:
            loader.join()

    def add(self, name: str, model: Model) -> None:
        """Offer a model under a name."""
        self.facts[name] = facts_of(name, model)
        self.models[name] = model

    @property
    def loading(self) -> list[str]:
        """The models that are still loading."""
        return [name for name in self.names if name not in {**self.models, **self.failed}]

    def __getitem__(self, name: str) -> Model:
        if name not in self.models:
            raise unknown_name("model on this server", name, self.models)
        return self.models[name]


def facts_of(name: str, model: Model) -> ModelFacts:
    """What the page shows and offers for a model."""
    config = model.network.config.get_text_config()
    entry = CATALOGUE.get(name)
    methods = methods_for(model)
    has_heads, has_mask = "transformer_attribution" in methods, "mask_lrp" in methods
    if has_heads and not has_mask:
        methods.append("mask_lrp")
    has_labels = model.task in (Task.SEQUENCE, Task.TOKEN)
    has_mask_token = model.tokenizer is not None and model.tokenizer.mask_token_id is not None
    return {
        "name": name,
        "title": entry.decides if entry else f"{type(model.network).__name__}, {model.task}",
        "task": str(model.task),
        "fields": text_fields(model, name),
        "labels": list(model.labels.values()) if has_labels else None,
        "target_hint": HINTS.get(model.task),
        "generates": model.task is Task.CAUSAL,
        "chats": bool(getattr(model.tokenizer, "chat_template", None)),
        "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "has_heads": has_heads,
        "has_mask": has_mask,
        "switches_heads": not model.attention_refusal,
        "methods": methods,
        "default_method": default_method(model)[0],
        "layered": [n for n in methods if has_layers(METHODS[n])],
        "mixing": [n for n in methods if METHODS[n].mixing is not None],
        "changes": [c for c in OFFERED_CHANGES if c != "mask" or has_mask_token],
        "examples": [example_text(text) for text in examples(model, name)],
    }  # fmt: skip


def example_text(text: Text) -> ExampleText:
    """A text or a pair, ready for JSON."""
    if isinstance(text, str):
        return {"text": text, "pair": None}
    return {"text": text[0], "pair": text[1]}


def text_fields(model: Model, name: str) -> list[TextField]:
    """The text fields of a model; a classifier that is not ours may or may not read pairs."""
    own = OWN.get(f"samples/{name.partition('-')[0]}")
    if model.task in FIELDS:
        labels = FIELDS[model.task]
    elif own is None:
        labels = ("Text", "Second text, if the model reads pairs")
    else:
        labels = ("First text", "Second text") if len(own.columns) > 1 else ("Text",)
    is_open = model.task not in FIELDS and own is None
    return [
        {"name": key, "label": label, "optional": key == "pair" and is_open}
        for key, label in zip(FIELD_NAMES, labels, strict=False)
    ]


def examples(model: Model, name: str) -> Sequence[Text]:
    """Texts to start with."""
    source = f"samples/{name.partition('-')[0]}"
    if source in OWN:
        samples, _ = read_examples(source, limit=EXAMPLE_COUNT)
        return [example.text for example in samples]
    if model.task is Task.QUESTION:
        return [("Who wrote it?", "Frankenstein was written by Mary Shelley in 1818.")]
    return {Task.MASKED: MASKED_TEXTS, Task.CAUSAL: PROMPTS}.get(model.task, SENTENCES)
