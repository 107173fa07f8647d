"""What the page learns of a server before it asks anything."""

from headlight.methods import METHODS
from headlight.renderers.colours import BLUE, HEAD_KINDS, MARKED, STRONGEST
from tests.web.sites import Site


def test_colours_and_thresholds_are_those_of_the_renderers(page: Site) -> None:
    palette = page.get("/api/about").json()["palette"]
    assert (palette["strongest"], palette["marked"]) == (STRONGEST, MARKED)
    assert palette["positive"] == "rgb({} {} {})".format(*BLUE)
    assert list(palette["heads"]) == list(HEAD_KINDS)
    assert palette["names"]["less"] == "orange"


def test_what_a_method_costs_is_that_of_the_registry(page: Site) -> None:
    methods = page.get("/api/about").json()["methods"]
    assert {each["name"]: each["cost"] for each in methods} == {n: METHODS[n].cost for n in METHODS}
