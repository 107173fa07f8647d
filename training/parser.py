"""Train the spaCy pipeline that comes with headlight on a Universal Dependencies treebank.

    python training/parser.py --data FOLDER/ud_english_ewt --out runs/parser

The folder holds en_ewt-ud-train.conllu, -dev and -test. The pipeline is written into headlight-models; what is
reported is its accuracy on the test sentences, from their raw text.
"""

import argparse
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import spacy
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import load_config, load_model_from_config
from spacy.vocab import Vocab

from headlight.files.conllu import Parse, read_conllu
from run import Log
from shipping import FOLDER, renew_table

HERE = Path(__file__).parent
MOST_SENTENCES = 6


def documents(path: Path, seed: int) -> Iterator[list[Parse]]:
    """Neighbouring sentences, one to six together, so that their ends are learned."""
    chance, group, size = random.Random(seed), [], 1
    for parse in read_conllu(path):
        group.append(parse)
        if len(group) == size:
            yield group
            group, size = [], chance.randint(1, MOST_SENTENCES)
    if group:
        yield group


def document(group: list[Parse], vocabulary: Vocab) -> Doc:
    """Sentences as one spaCy document."""
    words: list[str] = []
    tags: list[str] = []
    spaces, heads, relations = [], [], []
    for parse in group:
        first = len(words)
        starts = [start for start, _ in parse.places[1:]]
        spaces += [start > end for start, (_, end) in zip(starts, parse.places, strict=False)]
        spaces.append(True)
        words += parse.words
        heads += [first + head for head in parse.heads]
        relations += ["ROOT" if r == "root" else r for r in parse.relations]
        tags += parse.tags
    return Doc(vocabulary, words, spaces, tags=tags, heads=heads, deps=relations)


def write(path: Path, out: Path) -> Path:
    """A CoNLL-U file in spaCy's format."""
    vocabulary = spacy.blank("en").vocab
    DocBin(docs=[document(group, vocabulary) for group in documents(path, 0)]).to_disk(out)
    return out


def main() -> None:
    """Convert, train, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    log = Log(options.out)
    paths = {
        f"paths.{split}": str(
            write(options.data / f"en_ewt-ud-{split}.conllu", options.out / f"{split}.spacy")
        )
        for split in ("train", "dev")
    }
    settings = load_config(HERE / "parser.cfg", interpolate=False)
    filled = options.out / "parser.cfg"
    load_model_from_config(settings, auto_fill=True).config.to_disk(filled)
    train(filled, options.out, overrides=paths)
    pipeline = spacy.load(options.out / "model-best")
    pipeline.config["paths"] = dict.fromkeys(pipeline.config["paths"])
    tests = [
        Example(pipeline.make_doc(gold.text), gold)
        for group in documents(options.data / "en_ewt-ud-test.conllu", 0)
        for gold in [document(group, pipeline.vocab)]
    ]
    scores = pipeline.evaluate(tests)
    kept = {
        name: scores[name] for name in ("token_acc", "tag_acc", "dep_uas", "dep_las", "sents_f")
    }
    relations = {
        name: scores["dep_las_per_type"][name] for name in ("nsubj", "obj", "amod", "advmod")
    }
    pipeline.meta["performance"] = {**kept, "dep_las_per_type": relations}
    pipeline.meta.update(name="ud_ewt", description="Tags and Universal Dependencies of English.",
                         license="CC BY-SA 4.0", version="0.2.0")  # fmt: skip
    place = FOLDER / "pipeline"
    shutil.rmtree(place, ignore_errors=True)
    pipeline.to_disk(place)
    trained: list[Any] = [pipeline.get_pipe(name) for name in pipeline.pipe_names[1:]]
    labels = {label for pipe in trained for label in pipe.labels}
    words = place / "vocab" / "strings.json"
    words.write_text(json.dumps(sorted(labels)), encoding="utf-8")
    renew_table()
    log(json.dumps(pipeline.meta["performance"]))


if __name__ == "__main__":
    main()
