"""Fine-tune a larger network on labels, and write its probabilities for every text to learn from.

    python training/teacher.py sentiment --network FOLDER --data FOLDER --out runs/teacher

`targets.jsonl` then goes to `train.py --targets`; the network itself is written to `network`. A killed run
resumes from its last checkpoint.
"""

import argparse
import json
import random
from pathlib import Path

import torch
from transformers import AutoTokenizer

import classify
from data import read_unlabelled
from recipes import RECIPES, TEACHERS
from rows import tensors
from run import Log, Run, half_products

SAID_AT_ONCE = 64


def main() -> None:
    """Train the teacher, then write its probabilities."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=TEACHERS)
    parser.add_argument("--network", default="sentence-transformers/all-mpnet-base-v2")
    parser.add_argument("--data", type=Path, help="folder of local data; default: the hub")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    log = Log(options.out)
    teacher = TEACHERS[options.name]
    tokenizer = AutoTokenizer.from_pretrained(options.network)
    found, held_out = classify.examples(RECIPES[options.name], options.data)
    texts = [e for e in found if len(e.text.split()) >= teacher.words]
    random.Random(0).shuffle(texts)
    rows = classify.encoded(texts[: teacher.rows], teacher.recipe, tokenizer, {})
    torch.manual_seed(0)
    run = Run(classify.fresh(teacher.recipe, options.network), rows, teacher.recipe, 0, options.out)
    run.network.load_state_dict(run.go(classify.loss, log), strict=False)
    network = run.network.eval()
    network.save_pretrained(options.out / "network")
    tokenizer.save_pretrained(options.out / "network")
    shown = classify.encoded(held_out, teacher.recipe, tokenizer, {})
    log(json.dumps(classify.score(network, shown)))
    path = options.out / "targets.jsonl"
    said_before = classify.read_targets(path) if path.exists() else {}
    texts = found + read_unlabelled(teacher.unlabelled, options.data, teacher.sentences)
    texts = [e for e in texts if e.text not in said_before]
    texts.sort(key=lambda e: (len(e.text), e.text))
    with path.open("a", encoding="utf-8", buffering=1) as file:
        for start in range(0, len(texts), SAID_AT_ONCE):
            part = texts[start : start + SAID_AT_ONCE]
            inputs, _ = tensors(classify.encoded(part, teacher.recipe, tokenizer, {}))
            with torch.inference_mode(), half_products(teacher.recipe):
                said = network(**inputs).logits.float().softmax(-1)
            records = zip(part, said.tolist(), strict=True)
            file.write("".join(json.dumps({"text": e.text, "said": p}) + "\n" for e, p in records))
            if start // SAID_AT_ONCE % 50 == 0:
                log(f"said {start}/{len(texts)}")


if __name__ == "__main__":
    main()
