"""Networks of one layer whose heads do what is written here, and texts for them."""

import torch
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

import headlight
from headlight import Model

CARRIER, MISLEADER = 1, 2
"""The head that carries the decision, and the one that adds to both classes alike; both counted from 0."""
TEXTS = [
    f"{first} dull {second} {third} charming"
    for first in ("the", "a", "this")
    for second in ("film", "movie")
    for third in ("is", "was", "never", "but")
]
"""The word that decides stands last, so that an explanation that says nothing removes it last."""


def carrying(tokenizer: PreTrainedTokenizerFast, misleading: float = 0.0) -> Model:
    """A BERT that decides by 'charming' alone.

    One head writes how much of a text is 'charming' into feature 2 of every token, from which the two classes
    take it with opposite signs. Another writes how much is 'dull' into feature 3, which `misleading` adds to
    both classes alike: it changes the logits, but no probability.
    """
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=8,
        max_position_embeddings=40,
    )
    net = BertForSequenceClassification(config).eval()
    width, words = 8, dict(zip(("charming", "dull"), (0, 1), strict=True))
    with torch.no_grad():
        kept = torch.randn(len(tokenizer), 32)
        # Not 0: where nothing at all flows, relevance is lost, and such a network is refused.
        for name, parameter in net.named_parameters():
            parameter.normal_(0, 0.0 if name.endswith("bias") else 0.003)
        for name, module in net.named_modules():
            if name.endswith("LayerNorm"):
                module.weight.fill_(1.0)
        kept[:, :4] = 0
        for word, feature in words.items():
            number = tokenizer.convert_tokens_to_ids(word)
            kept[number] = torch.nn.functional.one_hot(torch.tensor(feature), 32) * 10.0
        net.bert.embeddings.word_embeddings.weight.copy_(kept)
        attention = net.bert.encoder.layer[0].attention
        for head, read, written in ((CARRIER, 0, 2), (MISLEADER, 1, 3)):
            attention.self.value.weight[head * width, read] = 1.0
            attention.output.dense.weight[written, head * width] = (
                2.0 if head == CARRIER else misleading
            )
            net.bert.pooler.dense.weight[written, written] = 1.0
        net.classifier.weight[:, 2] = torch.tensor([-2.0, 2.0])
        net.classifier.weight[:, 3] = misleading
    return headlight.wrap(net, tokenizer, name="carrying")
