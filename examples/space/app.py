"""A Gradio app for a Space: paste a review, choose methods, see what the model looked at."""

import gradio

import headlight

MODEL = headlight.load("sentiment")
METHODS = [
    "attn_lrp",
    "attcat",
    "mask_lrp",
    "alti",
    "decoded_grad_cam",
    "gae",
    "integrated_gradients",
]
EXAMPLE = "a charming and often affecting journey, though the plot is thin"


def explain(text: str, methods: list[str]) -> tuple[dict[str, float], str]:
    """The prediction, and a heat map for each method."""
    try:
        found = headlight.explain(MODEL, [text], methods or ["attn_lrp"])
    except headlight.HeadlightError as error:
        raise gradio.Error(str(error)) from error
    maps = [each[0].words() for each in found.values()]
    target = maps[0].target
    return {target.label: target.probability or 0.0}, "".join(each._repr_html_() for each in maps)


app = gradio.Interface(
    explain,
    [gradio.Textbox(EXAMPLE, label="Review"), gradio.CheckboxGroup(METHODS, value=METHODS[:2])],
    [gradio.Label(label="Prediction"), gradio.HTML(label="What it looked at")],
    title="headlight",
)

if __name__ == "__main__":
    app.launch()
