"""What the page learns about a server when it opens."""

from fastapi import FastAPI

from headlight import __version__
from headlight.methods import METHODS
from headlight.renderers.colours import GREY, HEAD_KINDS, MARKED, NAMES, STRONGEST, Rgb, palette
from headlight.web.limits import Limits
from headlight.web.loaded_models import LoadedModels
from headlight.web.replies import About, MethodFacts, PaletteFacts
from headlight.web.runs import Runs


def add_about(app: FastAPI, models: LoadedModels, runs: Runs, limits: Limits) -> None:
    """Add the route that tells the page what this server offers."""

    @app.get("/api/about", tags=["about"])
    def about() -> About:
        """The models, methods, runs and limits of this server."""
        return {
            "version": __version__,
            "limits": {**vars(limits)},
            "models": [models.facts[name] for name in models.names if name in models.facts],
            "loading": models.loading,
            "failed": models.failed,
            "methods": [method_facts(name) for name in METHODS],
            "runs": list(runs.folders),
            "palette": palette_facts(),
        }


def method_facts(name: str) -> MethodFacts:
    """What the page shows about a method."""
    entry = METHODS[name]
    return {
        "name": name,
        "summary": entry.summary,
        "signed": entry.signed,
        "paper": entry.paper,
        "cost": entry.cost,
    }


def palette_facts() -> PaletteFacts:
    """The colours and thresholds of heat maps, from the one place that defines them."""
    signed, compared = palette("blue_red"), palette("green_red")
    return {
        "positive": css(signed.positive),
        "negative": css(signed.negative),
        "unsigned": css(signed.unsigned),
        "more": css(compared.positive),
        "less": css(compared.negative),
        "beyond": css(GREY),
        "heads": {kind: css(colour) for kind, colour in HEAD_KINDS.items()},
        "names": {
            "positive": NAMES[signed.positive],
            "negative": NAMES[signed.negative],
            "unsigned": NAMES[signed.unsigned],
            "more": NAMES[compared.positive],
            "less": NAMES[compared.negative],
            "beyond": NAMES[GREY],
        },
        "strongest": STRONGEST,
        "marked": MARKED,
    }


def css(colour: Rgb) -> str:
    """A colour as CSS writes it."""
    red, green, blue = colour
    return f"rgb({red} {green} {blue})"
