"""The page in a real browser: type, choose, click, hide, export, come back by a link."""

import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

import headlight
from headlight.heads.masks import chosen_mask
from tests.web.browsing import MARKS, Tab, browser, run, server, tab

__all__ = ["browser", "run", "server", "tab"]

HOSTILE = '<img src=x onerror="document.title=1"> & <script>document.title=2</script> charming'
pytestmark = MARKS


def choose(page: Page, *methods: str) -> None:
    """Choose these methods and no others."""
    for method in methods:
        page.locator(f"#methods input[value={method}]").check()
    checked: list[str] = page.locator("#methods input[name=method]:checked").evaluate_all(
        "all => all.map(box => box.value)"
    )
    for other in set(checked) - set(methods):
        page.locator(f"#methods input[value={other}]").uncheck()


def spoken(piece: Locator) -> float:
    """The score that a piece tells a screen reader."""
    label = str(piece.get_attribute("aria-label")).replace("−", "-")
    return float(label.rpartition(": ")[2].split()[0].rstrip(","))


def test_typing_answers_after_a_pause(tab: Tab) -> None:
    page = tab.open()
    page.fill("#text", "a dull and lifeless film")
    expect(page.locator("#prediction")).to_contain_text("negative, with probability 0.9")
    expect(page.locator(".heatmap[data-method=attn_lrp]")).to_contain_text("lifeless")
    page.fill("#text", "a charming and funny film")
    expect(page.locator("#prediction")).to_contain_text("positive, with probability 0.9")
    expected = headlight.explain(headlight.load("sentiment"), "a charming and funny film").words()
    score = dict(expected.as_tuples())["charming"]
    piece = page.locator(".heatmap[data-method=attn_lrp] .piece", has_text="charming")
    assert spoken(piece) == pytest.approx(score, rel=0.01)


def test_methods_stand_side_by_side_and_are_subtracted(tab: Tab) -> None:
    page = tab.open("?text=a+charming+but+thin+film")
    choose(page, "attcat", "rollout", "mask_lrp")
    expect(page.locator(".heatmap[data-method]")).to_have_count(3)
    page.check("#difference")
    expect(page.locator("#maps")).to_contain_text("attcat − rollout")
    model = headlight.load("sentiment")
    one, other = (
        headlight.explain(model, "a charming but thin film", name).words().normalised("sum")
        for name in ("attcat", "rollout")
    )
    gap = dict((one - other).as_tuples())["thin"]
    shown = page.locator(".heatmap .piece", has_text=re.compile("^thin$")).all()
    assert any(spoken(piece) == pytest.approx(gap, rel=0.02) for piece in shown)


def test_tokens_and_words(tab: Tab) -> None:
    page = tab.open("?text=an+unforgettably+good+film")
    words = page.locator(".heatmap[data-method=attn_lrp] .piece").count()
    page.check("#unit-tokens", force=True)
    expect(page.locator(".heatmap[data-method=attn_lrp] .piece")).not_to_have_count(words)


def test_a_hidden_word_moves_the_probability(tab: Tab) -> None:
    page = tab.open("?text=not+a+good+film")
    page.locator(".heatmap .piece", has_text=re.compile("^not$")).first.click()
    expect(page.locator("#hidden-list li")).to_have_count(1)
    expect(page.locator("#hide-answer")).to_contain_text(re.compile(r"0\.\d+ → 0\.\d+"))
    page.locator(".heatmap .piece", has_text=re.compile("^not$")).first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#hidden-list li")).to_have_count(0)


def test_the_curve_is_held_against_random_orders(tab: Tab) -> None:
    page = tab.open("?text=a+charming+and+often+affecting+journey")
    expect(page.locator("#trust")).to_contain_text("random words")
    page.locator("#curves-panel summary").click()
    expect(page.locator("#curves svg.chart")).to_be_visible()
    expect(page.locator("#curves")).to_contain_text("random")
    with page.expect_download() as download:
        page.locator("#save-curves").click()
    saved = json.loads(download.value.path().read_text("utf-8"))
    assert saved["label"] == "positive"
    assert len(saved["levels"]) == len(saved["random"]["probabilities"]) == 11


def test_layers_follow_the_slider(tab: Tab) -> None:
    page = tab.open("?text=a+charming+film")
    page.locator("#layers-panel > summary").click()
    for method in ("attcat", "decoded_grad_cam", "alti"):
        page.select_option("#layer-method", method)
        expect(page.locator("#layer-map .piece").first).to_be_visible()
    page.locator("#layer").fill("2")
    expect(page.locator("#layer-name")).to_contain_text("2")


def test_heads_are_switched_and_mask_lrp_answers(tab: Tab) -> None:
    page = tab.open("?text=a+charming+film&methods=mask_lrp")
    page.locator("#heads-panel > summary").click()
    expect(page.locator("#heads .head")).to_have_count(72)
    before = labels(page)
    page.locator("#heads-all").click()
    expect(page.locator("#heads .head[aria-pressed=true]")).to_have_count(72)
    page.wait_for_function(
        "before => JSON.stringify([...document.querySelectorAll('.heatmap[data-method=mask_lrp] .piece')]"
        ".map(p => p.ariaLabel)) !== JSON.stringify(before)",
        arg=before,
    )
    page.locator("#heads .head[data-layer='0'][data-head='0']").click()
    expect(page.locator("#heads .head[aria-pressed=true]")).to_have_count(71)
    expect(page).to_have_url(re.compile("mask=7fff"))
    page.wait_for_load_state("networkidle")
    after = labels(page)
    page.reload()
    expect(page.locator("#heads .head[aria-pressed=true]")).to_have_count(71)
    expect(page.locator(".heatmap[data-method=mask_lrp] .piece").first).to_be_visible()
    assert labels(page) == after


def test_heads_are_switched_off_and_the_answer_moves(tab: Tab) -> None:
    page = tab.open("?text=a+charming+film&view=off")
    heads, answer = page.locator("#off .head"), page.locator("#off-answer")
    expect(heads).to_have_count(72)
    expect(answer).to_contain_text("All heads are on")
    page.locator("#off .head[data-layer='5'][data-head='5']").click()
    expect(answer).to_contain_text("1 of 72 heads is off. Probability of ‘positive’: 0.")
    found = headlight.ablate(headlight.load("sentiment"), "a charming film", [(6, 6)])[0]
    expect(answer).to_contain_text(
        f"{found.before.probability:.3f} → {found.after.probability:.3f}"
    )
    expect(answer).to_contain_text("still says ‘positive’")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(answer).to_contain_text("2 of 72 heads are off")
    expect(page.locator("#off .head[aria-pressed=false]")).to_have_count(2)
    mask = chosen_mask(headlight.load("sentiment"), "both")
    for name, count in (("syntactic", None), ("positional", None), ("others", 72 - mask.count)):
        page.locator(f"#off-{name}").click()
        size = int(mask.parts[name].sum()) if count is None else count
        expect(answer).to_contain_text(f"{size} of 72 heads are off")
    # The address follows a little later than the answer.
    page.wait_for_function(
        """count => {
            const digits = new URLSearchParams(location.hash.slice(1)).get("off") ?? "";
            const bits = [...digits].flatMap(digit => [...parseInt(digit, 16).toString(2)]);
            return bits.filter(bit => bit === "1").length === count;
        }""",
        arg=72 - mask.count,
    )
    page.reload()
    expect(answer).to_contain_text(f"{72 - mask.count} of 72 heads are off")
    page.fill("#text", "a dull and lifeless film")
    expect(answer).to_contain_text("Probability of ‘negative’")
    page.locator("#off-none").click()
    expect(answer).to_contain_text("All heads are on")
    expect(page.locator("#heads-panel")).not_to_have_attribute("open", "")


def labels(page: Page) -> list[str]:
    """What the pieces of Mask-LRP's map say."""
    found: list[str] = page.locator(".heatmap[data-method=mask_lrp] .piece").evaluate_all(
        "all => all.map(piece => piece.ariaLabel)"
    )
    return found


def test_everything_can_be_taken_away(tab: Tab, tmp_path: Path) -> None:
    page = tab.open("?text=a+charming+film")
    kept = {}
    for kind in ("html", "svg", "png", "json", "latex"):
        with page.expect_download() as download:
            page.locator(f"#export-{kind}").click()
        kept[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(kept[kind])
    assert kept["png"].read_bytes().startswith(b"\x89PNG")
    assert kept["svg"].read_text("utf-8").startswith("<svg")
    assert "<!doctype html>" in kept["html"].read_text("utf-8")
    assert "\\colorbox" in kept["latex"].read_text("utf-8")
    stored = json.loads(kept["json"].read_text("utf-8").splitlines()[0])
    expected = headlight.explain(headlight.load("sentiment"), "a charming film")
    found = headlight.Attribution.from_dict(stored)
    assert found.tokens == expected.tokens
    assert found.scores == pytest.approx(expected.scores, rel=1e-4, abs=1e-7)


def test_a_link_shows_the_same(tab: Tab) -> None:
    page = tab.open("?text=one+charming+film")
    choose(page, "rollout", "attcat")
    page.select_option("#target", "negative")
    page.check("#difference")
    page.locator(".heatmap .piece", has_text=re.compile("^one$")).first.click()
    expect(page.locator("#hide-answer")).to_contain_text("negative")
    expect(page.locator("#maps")).to_contain_text("rollout")
    before = page.locator("#maps").inner_text(), page.locator("#hide-answer").inner_text()
    expect(page).to_have_url(re.compile("hidden=1"))
    address = page.url
    assert "?" not in address
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator("#hide-answer")).to_have_text(before[1])
    expect(page.locator("#maps")).to_contain_text(
        "rollout − attcat"
    )  # the other reply, in any order
    assert page.locator("#maps").inner_text() == before[0]
    assert page.locator("#target").input_value() == "negative"


def test_a_link_to_a_long_text_is_not_sent_to_the_server(tab: Tab) -> None:
    page = tab.open()
    text = "ω " * 9_000 + "charming"
    page.fill("#text", text)
    expect(page).to_have_url(re.compile("charming"))
    page.reload()
    expect(page.locator("#text")).to_have_value(text)
    expect(page.locator(".heatmap .piece").first).to_be_visible()
    page.evaluate("location.hash = '#text=another+film'")
    expect(page.locator("#text")).to_have_value("another film")


def test_the_last_explanations_come_back(tab: Tab) -> None:
    page = tab.open("?text=the+first+film")
    page.locator("#text").focus()
    page.locator("#model").focus()
    page.fill("#text", "the second film")
    expect(page.locator("#history li")).to_have_count(2)
    page.locator("#history li", has_text="the first film").locator("a, button").first.click()
    expect(page.locator("#text")).to_have_value("the first film")


def test_every_model_has_examples_that_answer(tab: Tab) -> None:
    page = tab.open()
    for model in ("agreement", "qa", "sentiment"):
        page.select_option("#model", model)
        page.locator("#examples button").nth(1).click()
        expect(page.locator("#prediction")).to_contain_text("probability")
        expect(page.locator("#error")).to_be_hidden()
    expect(page.locator(".heatmap .piece").first).to_be_visible()


def test_a_question_is_answered_from_its_context(tab: Tab) -> None:
    page = tab.open()
    page.select_option("#model", "qa")
    page.fill("#text", "Who wrote the novel?")
    page.fill(
        "#pair", "The novel was written by Mary Shelley in Geneva and published in London in 1818."
    )
    expect(page.locator("#prediction")).to_contain_text("Mary Shelley")
    expect(page.locator(".heatmap[data-method=attn_lrp] p")).to_have_count(2)


def test_a_generated_text_and_its_matrix(tab: Tab) -> None:
    page = tab.open()
    expect(page.locator("#model option[value=llm]")).to_have_count(1, timeout=120_000)
    page.select_option("#model", "llm")
    page.fill("#text", "The capital of France is")
    page.locator("#generation-panel > summary").click()
    page.fill("#generate-count", "3")
    page.locator("#generate").click()
    expect(page.locator("#generated-text")).to_contain_text("Paris")
    expect(page.locator("#generated-matrix #save-generation")).to_be_visible()


def test_text_stays_text(tab: Tab, tmp_path: Path) -> None:
    page = tab.open()
    title = page.title()
    page.fill("#text", HOSTILE)
    expect(page.locator(".heatmap").first).to_contain_text("onerror")
    assert page.locator("main img").count() == 0
    page.reload()
    expect(page.locator(".heatmap").first).to_contain_text("onerror")
    assert page.title() == title
    with page.expect_download() as download:
        page.locator("#export-html").click()
    saved = tmp_path / "hostile.html"
    download.value.save_as(saved)
    page.goto(saved.as_uri())
    assert page.title() not in ("1", "2")
    assert page.locator("img, script").count() == 0


def test_a_verdict_goes_with_its_question(tab: Tab) -> None:
    page = tab.open("?text=a+charming+and+often+affecting+journey")
    expect(page.locator("#trust")).to_contain_text("random words")
    page.route("**/api/explain", lambda _route: None)  # the next answer never comes
    page.fill("#text", "a dull and lifeless film")
    expect(page.locator("#trust")).to_have_text("This is measured as soon as there is an answer.")
    expect(page.locator("#trust .good")).to_have_count(0)


def test_an_empty_box_gets_a_hint_and_keeps_no_answer(tab: Tab) -> None:
    page = tab.open("?text=a+charming+film")
    page.fill("#text", "")
    expect(page.locator("#hint")).to_contain_text("Write something in “Text” to get an answer.")
    expect(page.locator("#error")).to_be_hidden()
    expect(page.locator("#prediction")).to_be_empty()
    expect(page.locator("#maps .piece")).to_have_count(0)
    expect(page.locator("#trust .trust")).to_have_count(0)
    page.fill("#text", "a dull film")
    expect(page.locator("#hint")).to_be_empty()
    expect(page.locator("#maps .piece").first).to_be_visible()


def test_a_text_beyond_the_limit_is_refused_whole(tab: Tab) -> None:
    page = tab.open("?text=a+charming+film")
    page.fill("#text", "good " * 4_100)
    expect(page.locator("#error")).to_contain_text(
        "The text has 20,500 characters; this page takes up to 20,000. Shorten it."
    )
    assert len(page.input_value("#text")) == 20_500
    expect(page.locator("#maps .piece")).to_have_count(0)


def test_a_text_that_is_cut_says_so_without_words_of_the_library(tab: Tab) -> None:
    page = tab.open("?text=a+charming+film")
    page.fill("#text", "good " * 600)
    note = page.locator("#maps .note").first
    expect(note).to_contain_text("cut to the first 512 of 602 tokens, the model's limit")
    expect(note).not_to_contain_text("stride")


def test_mistakes_are_told_kindly_and_nothing_is_lost(tab: Tab) -> None:
    page = tab.open("?text=a+charming+film")
    page.select_option("#model", "agreement")
    page.fill("#text", "   ")
    page.fill("#text", "the keys [MASK] here")
    expect(page.locator("#error")).to_be_hidden()
    page.route(
        "**/api/explain", lambda route: route.fulfill(status=500, json={"error": "It broke."})
    )
    page.fill("#text", "the key [MASK] there")
    expect(page.locator("#error")).to_contain_text("It broke.")
    page.unroute("**/api/explain")
    page.fill("#text", "the keys [MASK] there")
    expect(page.locator("#error")).to_be_hidden()
    expect(page.locator("#prediction")).to_contain_text("probability")


def test_a_long_text_is_shown_whole_and_can_be_typed_on(tab: Tab) -> None:
    page = tab.open()
    with page.expect_request("**/api/explain"):
        page.fill("#text", " ".join(f"word{n} charming" for n in range(300)))
    page.check("#unit-tokens", force=True)
    expect(page.locator(".heatmap[data-method=attn_lrp] .piece")).to_have_count(512)
    page.locator("#text").press("End")
    page.keyboard.type(" yes")
    assert page.locator("#text").input_value().endswith("charming yes")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_accessible_and_fits(
    browser: Browser, server: str, scheme: str, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    for path in (
        "/?text=a+charming+but+thin+film&methods=attcat+rollout&difference=1&view=layers+heads+off+curves+mixing&off=800000000000000001",
        "/results",
    ):
        page.goto(server + path)
        expect(page.locator(".heatmap .piece").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, path
    context.close()


def test_results_are_browsed(tab: Tab) -> None:
    page = tab.page
    page.goto(f"{tab.address}/results")
    expect(page.locator("table").first).to_contain_text("attcat")
    expect(page.locator("svg").first).to_be_visible()
    expect(page.locator(".heatmap .piece").first).to_be_visible()


def test_keyboard_alone(tab: Tab) -> None:
    page = tab.open("?text=a+charming+film")
    page.locator(".heatmap .piece[tabindex='0']").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.locator("#hidden-list li")).to_have_count(1)
