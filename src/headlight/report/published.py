"""What the four papers print, table by table, and how each row and column is computed here."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Experiment:
    """One model and data set of a published table.

    columns: the paper's columns and the metrics that stand for them. rows: the paper's methods, ours that
    stands for each (a decoded layer counts in a network of 12), and what the paper prints. stand_in, sample:
    what takes the place of the model and the data where the paper's own cannot be reached.
    """

    source: str
    model: str
    data: str
    stand_in: str
    columns: dict[str, str]
    rows: dict[str, tuple[str, tuple[float | None, ...]]]
    explain: Literal["predicted", "gold"] = "gold"
    variant: Literal["paper", "released"] = "paper"
    factor: float = 1.0
    limit: int | None = None

    @property
    def sample(self) -> str:
        """Our own small set for the stand-in."""
        return f"samples/{self.stand_in}"


@dataclass(frozen=True)
class Publication:
    """A paper and those of its tables that can be computed."""

    title: str
    experiments: tuple[Experiment, ...]
    notes: str = field(default="")


def by_column(
    methods: dict[str, str], table: dict[str, tuple[float | None, ...]], first: int, count: int
) -> dict[str, tuple[str, tuple[float | None, ...]]]:
    """The rows of one data set out of a table that has several side by side."""
    return {row: (methods[row], values[first : first + count]) for row, values in table.items()}


# ------------------------------------------------------------------------------------- Mask-LRP

MASK_LRP_METHODS = {
    "RawAtt": "raw_attention",
    "Rollout": "rollout",
    "LRP": "lrp",
    "PartialLRP": "partial_lrp",
    "GAE": "transformer_attribution",
    "CAM": "grads",
    "GradCAM": "attention_gradcam",
    "AttCAT": "attcat",
    "Random": "random_mask_lrp",
    "Ours": "mask_lrp",
}
MASK_LRP_TABLE: dict[str, tuple[float | None, ...]] = {
    "RawAtt": (0.374, -0.992, 0.354, -1.593, 0.376, -1.513, 0.135, -0.399, 0.447, -5.828),
    "Rollout": (0.337, -0.911, 0.334, -1.456, 0.244, -0.770, 0.137, -0.396, 0.437, -5.489),
    "LRP": (0.336, -0.888, 0.288, -1.271, 0.163, -0.464, 0.131, -0.395, 0.438, -5.745),
    "PartialLRP": (0.396, -1.052, 0.370, -1.726, 0.401, -1.688, 0.136, -0.401, 0.445, -5.718),
    "GAE": (0.423, -1.171, 0.384, -1.853, 0.404, -1.682, 0.144, -0.421, 0.447, -5.923),
    "CAM": (0.399, -1.086, 0.365, -1.883, 0.298, -1.473, 0.132, -0.386, 0.450, -5.988),
    "GradCAM": (0.341, -0.855, 0.236, -0.974, 0.104, -0.229, 0.126, -0.369, 0.449, -5.953),
    "AttCAT": (0.405, -1.110, 0.340, -1.697, 0.397, -2.034, 0.138, -0.419, 0.447, -5.897),
    "Random": (0.432, -1.205, 0.387, -1.898, 0.426, -1.886, 0.142, -0.415, 0.448, -5.998),
    "Ours": (0.438, -1.208, 0.392, -1.906, 0.434, -1.898, 0.148, -0.445, 0.451, -6.001),
}
MASK_LRP_SETS = (
    ("textattack/bert-base-uncased-SST-2", "sst2", "sentiment"),
    ("textattack/bert-base-uncased-imdb", "imdb", "sentiment"),
    ("fabriceyhc/bert-base-uncased-yelp_polarity", "yelp_polarity", "sentiment"),
    ("textattack/bert-base-uncased-MNLI", "mnli", "nli"),
    ("modeltc/bert-base-uncased-qqp", "qqp", "paraphrase"),
)
MASK_LRP_ANSWERS: dict[str, tuple[float | None, ...]] = {
    "Rollout": (4.62,),
    "RawAtt": (36.33,),
    "AttCAT": (31.44,),
    "Ours": (52.97,),
}

# --------------------------------------------------------------------------------------- AttCAT

ATTCAT_METHODS = {
    "RawAtt": "raw_attention",
    "Rollout": "rollout",
    "Grads": "grads",
    "AttGrads": "att_grads",
    "PartialLRP": "partial_lrp",
    "TransAtt": "transformer_attribution",
    "CAT": "cat",
    "AttCAT": "attcat",
}
ATTCAT_TABLE: dict[str, tuple[float | None, ...]] = {
    "RawAtt": (
        0.331,
        -0.885,
        0.143,
        0.149,
        0.138,
        0.235,
        0.384,
        -1.729,
        0.394,
        -2.017,
        0.298,
        -1.245,
    ),
    "Rollout": (
        0.286,
        -0.641,
        0.139,
        0.262,
        0.151,
        0.321,
        0.324,
        -1.303,
        0.277,
        -1.055,
        0.331,
        -1.323,
    ),
    "Grads": (
        0.335,
        -0.252,
        0.141,
        0.184,
        0.156,
        0.139,
        0.316,
        -1.820,
        0.414,
        -1.994,
        0.304,
        -1.227,
    ),
    "AttGrads": (
        0.351,
        -0.603,
        0.143,
        0.113,
        0.159,
        0.114,
        0.346,
        -1.941,
        0.439,
        -2.054,
        0.310,
        -1.267,
    ),
    "PartialLRP": (
        0.341,
        -0.922,
        0.142,
        0.137,
        0.138,
        0.231,
        0.418,
        -2.019,
        0.424,
        -2.199,
        0.312,
        -1.321,
    ),
    "TransAtt": (
        0.354,
        -1.038,
        0.145,
        0.114,
        0.130,
        0.214,
        0.415,
        -1.889,
        0.434,
        -2.508,
        0.421,
        -2.137,
    ),
    "CAT": (0.352, -1.115, 0.134, 0.121, 0.157, 0.121, 0.409, -2.157, 0.421, -2.587, 0.406, -3.052),
    "AttCAT": (
        0.371,
        -1.319,
        0.139,
        0.073,
        0.164,
        0.008,
        0.457,
        -2.332,
        0.473,
        -3.169,
        0.528,
        -3.671,
    ),
}
ATTCAT_KENDALL: dict[str, tuple[float | None, ...]] = {
    "Grads": (0.150, 0.236, 0.169, 0.146, 0.174, 0.098),
    "AttGrads": (0.116, 0.198, 0.156, 0.148, 0.132, 0.064),
    "PartialLRP": (0.955, 0.949, 0.935, 0.965, 0.952, 0.858),
    "TransAtt": (0.336, 0.222, 0.339, 0.152, 0.121, 0.043),
    "CAT": (0.101, 0.373, 0.339, 0.095, 0.107, 0.056),
    "AttCAT": (0.018, 0.349, 0.017, 0.015, 0.008, 0.023),
}
ATTCAT_SETS = (
    ("textattack/bert-base-uncased-SST-2", "sst2", "sentiment", None),
    ("textattack/bert-base-uncased-QQP", "qqp", "paraphrase", None),
    ("textattack/bert-base-uncased-MNLI", "mnli", "nli", None),
    ("fabriceyhc/bert-base-uncased-amazon_polarity", "amazon_polarity", "sentiment", 2000),
    ("fabriceyhc/bert-base-uncased-yelp_polarity", "yelp_polarity", "sentiment", 2000),
    ("fabriceyhc/bert-base-uncased-imdb", "imdb", "sentiment", 2000),
)

# ----------------------------------------------------------------------------------------- ALTI

ALTI_METHODS = {
    "Grad l2": "gradient_l2",
    "IG l2": "integrated_gradients_l2:steps=100",
    "IG mu": "integrated_gradients_mean:steps=100",
    "GxI l2": "input_x_gradient_l2",
    "GxI mu": "input_x_gradient_mean",
    "Rollout": "rollout",
    "Globenc": "globenc",
    "ALTI": "alti",
}
ALTI_TABLE: dict[str, tuple[float | None, ...]] = {
    "Grad l2": (0.204, 0.076, 0.083, 0.101, 0.192, 0.052, 0.284, 0.145, 0.190, 0.075, 0.230, 0.066),
    "IG l2": (0.223, 0.084, 0.111, 0.024, 0.214, 0.060, 0.315, 0.171, 0.223, 0.074, 0.295, 0.048),
    "IG mu": (0.211, 0.112, 0.106, 0.022, 0.179, 0.063, 0.317, 0.174, 0.231, 0.067, 0.279, 0.064),
    "GxI l2": (0.199, 0.080, 0.081, 0.104, 0.197, 0.056, 0.279, 0.149, 0.187, 0.081, 0.235, 0.065),
    "GxI mu": (0.207, 0.073, 0.087, 0.098, 0.213, 0.054, 0.285, 0.145, 0.191, 0.078, 0.237, 0.065),
    "Rollout": (0.074, 0.270, 0.076, 0.102, 0.090, 0.185, 0.108, 0.292, 0.076, 0.179, 0.152, 0.147),
    "Globenc": (0.174, 0.125, 0.118, 0.053, 0.207, 0.117, 0.251, 0.178, 0.161, 0.119, 0.240, 0.072),
    "ALTI": (0.317, 0.044, 0.255, 0.022, 0.308, 0.031, 0.372, 0.088, 0.269, 0.057, 0.332, 0.034),
}
ALTI_SETS = (
    ("textattack/bert-base-uncased-SST-2", "sst2", "sentiment", 0),
    ("fabriceyhc/bert-base-uncased-yelp_polarity", "yelp_polarity", "sentiment", 2),
    ("textattack/bert-base-uncased-imdb", "imdb", "sentiment", 4),
    ("agreement", "agreement", "agreement", 6),
    ("textattack/roberta-base-SST-2", "sst2", "sentiment", 8),
    ("distilbert/distilbert-base-uncased-finetuned-sst-2-english", "sst2", "sentiment", 10),
)

# --------------------------------------------------------------------- decoded layer saliency

GAMES = {"Revealing": "revealing", "Hiding": "hiding"}
DECODED_SENTIMENT: dict[str, tuple[str, tuple[float | None, ...]]] = {
    "Grad-CAM l0": ("grad_cam", (0.797, 0.713)),
    "Decoded Grad-CAM l5": ("decoded_grad_cam:layer=5", (0.832, 0.640)),
    "Decoded Grad-CAM l6": ("decoded_grad_cam:layer=6", (0.854, 0.617)),
    "Decoded Grad-CAM l7": ("decoded_grad_cam:layer=7", (0.867, 0.609)),
    "Decoded Grad-CAM l8": ("decoded_grad_cam:layer=8", (0.836, 0.660)),
    "Decoded Simple l6": ("decoded_simple:layer=6", (0.828, 0.694)),
    "Simple": ("simple", (0.799, 0.756)),
    "Smooth": ("smooth_gradient", (0.795, 0.762)),
    "Integrated": ("integrated_gradients", (0.804, 0.756)),
    "Random": ("random", (0.748, 0.770)),
}
DECODED_TOPICS: dict[str, tuple[str, tuple[float | None, ...]]] = {
    "Grad-CAM l0": ("grad_cam", (0.853, 0.804)),
    "Decoded Grad-CAM l6": ("decoded_grad_cam:layer=6", (0.895, 0.739)),
    "Decoded Grad-CAM l8": ("decoded_grad_cam:layer=8", (0.867, 0.782)),
    "Decoded Grad-CAM l9": ("decoded_grad_cam:layer=9", (0.879, 0.774)),
    "Shapely": ("shapley", (0.905, 0.567)),
    "Occlusion": ("occlusion", (0.894, 0.731)),
    "Integrated": ("integrated_gradients", (0.897, 0.661)),
    "GradientShapely": ("gradient_shap", (0.860, 0.784)),
    "LIME": ("lime", (0.851, 0.792)),
    "GradxAct": ("input_x_gradient", (0.851, 0.794)),
    "DeepLiftShapely": ("deeplift_shap", (0.823, 0.842)),
    "Random": ("random", (0.829, 0.841)),
}

PUBLISHED = {
    "mask_lrp": Publication(
        "Better Explain Transformers by Illuminating Important Information (Mask-LRP)",
        (
            *(
                Experiment(
                    f"Table 1, {data}",
                    model,
                    data,
                    stand_in,
                    {"AOPC": "aopc@mask_lrp", "LOdds": "log_odds@mask_lrp"},
                    by_column(MASK_LRP_METHODS, MASK_LRP_TABLE, 2 * number, 2),
                    variant="released",
                )
                for number, (model, data, stand_in) in enumerate(MASK_LRP_SETS)
            ),
            Experiment(
                "Table 2, SQuAD v1, BERT",
                "csarron/bert-base-uncased-squad-v1",
                "squad",
                "qa",
                {"Precision@20": "precision_at_k@mask_lrp"},
                by_column(MASK_LRP_METHODS, MASK_LRP_ANSWERS, 0, 1),
                explain="predicted",
                variant="released",
                factor=100.0,
            ),
        ),
        "The released code explains MNLI in the wrong order of labels and drops some rows of MNLI and QQP; "
        "here labels are right and no row is dropped.",
    ),
    "attcat": Publication(
        "AttCAT: Explaining Transformers via Attentive Class Activation Tokens",
        tuple(
            Experiment(
                f"Tables 1 and 2, {data}",
                model,
                data,
                stand_in,
                {"AOPC": "aopc@attcat", "LOdds": "log_odds@attcat", "Kendall": "kendall_confidence@attcat"},
                {
                    row: (method, values + ATTCAT_KENDALL.get(row, (None,) * 6)[number : number + 1])
                    for row, (method, values) in by_column(
                        ATTCAT_METHODS, ATTCAT_TABLE, 2 * number, 2
                    ).items()
                },
                variant="released",
                limit=limit,
            )
            for number, (model, data, stand_in, limit) in enumerate(ATTCAT_SETS)
        ),
        "The other class of Kendall's τ is the second best here; labels of MNLI are in their right order.",
    ),
    "alti": Publication(
        "Measuring the Mixing of Contextual Information in the Transformer (ALTI)",
        tuple(
            Experiment(
                f"Table 2, {data}, {model.split('/')[-1].split('-')[0]}",
                model,
                data,
                stand_in,
                {"Comp.": "comprehensiveness@alti", "Suff.": "sufficiency@alti"},
                by_column(ALTI_METHODS, ALTI_TABLE, first, 2),
                explain="predicted",
                limit=1000,
            )
            for model, data, stand_in, first in ALTI_SETS
        ),
        "Rows are drawn at random, not the first thousand; the agreement model is always the embedded one.",
    ),
    "decoded": Publication(
        "Decoding Layer Saliency in Language Transformers",
        (
            Experiment(
                "Table 1a, SST-2",
                "textattack/roberta-base-SST-2",
                "sst2",
                "sentiment",
                GAMES,
                DECODED_SENTIMENT,
            ),
            Experiment(
                "Table 1b, AG News",
                "textattack/roberta-base-ag-news",
                "ag_news",
                "topic",
                GAMES,
                DECODED_TOPICS,
            ),
        ),
        "The paper's own SST-2 network is not public; textattack's stands for it. Levels are tenths.",
    ),
}  # fmt: skip
"""By the name that `headlight replicate` takes."""
