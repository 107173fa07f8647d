"""Wrap any Hugging Face network; it is never changed."""

import torch
from transformers import BertConfig, BertForQuestionAnswering

import headlight

torch.manual_seed(0)
network = BertForQuestionAnswering(
    BertConfig(vocab_size=200, hidden_size=32, num_hidden_layers=2, num_attention_heads=4)
).eval()
model = headlight.wrap(network)  # no tokenizer: it explains ids

batch = headlight.Batch.from_ids([[101, 7, 8, 9, 102, 21, 22, 23, 24, 102]])
span = headlight.explain(model, batch, method="attcat")
start = headlight.explain(model, batch, method="attcat", target="start")
print("the answer is", span.target.label, "read at", span.target.positions)
print("start alone  ", start.target.label)
print("largest      ", span.top(3))
