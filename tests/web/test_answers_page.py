"""The page for answers in a real browser: ask, point, take a source away, with mouse, finger and keyboard."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.web.browsing import MARKS, Tab, browser, run, server, tab

__all__ = ["browser", "run", "server", "tab"]

HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
LETTER = "You will know the mill by its door, which is green."
DIARY = "We swam every day, and the bread was good."
LINK = (
    "answers#model=llm&question=What+colour+is+the+door+of+the+mill%3F&tokens=16"
    f"&name=Letter&source={LETTER}&name=Diary&source={DIARY}"
)
LOADING = 120_000
WORKING = 60_000

pytestmark = MARKS


def ask(page: Page) -> None:
    """Ask what the form asks, and wait until every word is explained."""
    page.locator("#ask").click()
    expect(page.locator("#read .piece").first).to_be_visible(timeout=WORKING)
    expect(page.locator("#doing")).to_be_empty(timeout=WORKING)


def opened(page: Page, address: str, link: str = LINK) -> Page:
    """The page for answers with a link's question."""
    page.goto(f"{address}/{link}")
    page.locator("html[data-ready=yes]").wait_for(timeout=LOADING)
    return page


def coloured(page: Page, area: str) -> dict[str, float]:
    """The opacity of the colour of every word of an area, by word."""
    found: list[tuple[str, str]] = page.locator(f"{area} .piece").evaluate_all(
        "all => all.map(node => [node.textContent, node.style.backgroundColor])"
    )
    opacities = ((word, re.search(r"([\d.]+)\)$", colour)) for word, colour in found)
    return {word: float(opacity[1]) if opacity else 0.0 for word, opacity in opacities}


@pytest.fixture(scope="module")
def answered(browser: Browser, server: str) -> Iterator[Page]:
    """A page whose question is answered; tests leave nothing pinned and nothing taken away."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = opened(context.new_page(), server)
    ask(page)
    yield page
    context.close()


def test_the_answer_has_words_and_citations(answered: Page) -> None:
    expect(answered.locator("#said")).to_contain_text("green")
    expect(answered.locator("#said .cite").first).to_contain_text("[1]")
    expect(answered.locator("#read .source")).to_have_count(2)
    expect(answered.locator("#readout")).to_contain_text("the whole answer")


def test_pointing_at_a_word_of_the_answer_lights_up_its_source(answered: Page) -> None:
    before = coloured(answered, "#read")
    answered.locator("#said .piece", has_text="green").first.hover()
    expect(answered.locator("#readout")).to_contain_text("“green” came mostly from Letter")
    after = coloured(answered, "#read")
    assert after != before
    assert max(after, key=lambda word: after[word]) == "green"
    answered.locator("h1").hover()
    expect(answered.locator("#readout")).to_contain_text("the whole answer")
    assert coloured(answered, "#read") == before


def test_pointing_at_the_prompt_lights_up_the_answer(answered: Page) -> None:
    assert not any(coloured(answered, "#said").values())
    answered.locator("#read .source .piece", has_text="green").hover()
    expect(answered.locator("#readout")).to_contain_text("“green” carries most: “green”")
    lit = coloured(answered, "#said")
    assert max(lit, key=lambda word: lit[word]) == "green"
    answered.locator(".source-name", has_text="Letter").hover()
    expect(answered.locator("#readout")).to_contain_text("Letter carries most")
    assert any(coloured(answered, "#said").values())
    answered.locator("h1").hover()


def test_a_click_keeps_what_is_pointed_at(answered: Page) -> None:
    word = answered.locator("#said .piece", has_text="green").first
    word.click()
    answered.locator("h1").hover()
    expect(word).to_have_attribute("aria-pressed", "true")
    expect(answered.locator("#readout")).to_contain_text("“green” came")
    answered.locator("#unpin").click()
    expect(answered.locator("#readout")).to_contain_text("the whole answer")
    expect(answered.locator("#unpin")).to_be_hidden()


def test_a_clicked_word_leads_to_its_layers(answered: Page) -> None:
    link = answered.locator("#layers")
    expect(link).to_be_hidden()
    answered.locator("#said .piece", has_text="green").first.click()
    expect(link).to_have_text("Layer by layer: why “green” here")
    with answered.context.expect_page() as opening:
        link.click()
    page = opening.value
    expect(page.locator("#layer-map .heatmap .piece").first).to_be_visible(timeout=WORKING)
    expect(page.locator("#layer-name")).to_have_text("all layers together")
    page.locator("#layer").press("ArrowRight")
    expect(page.locator("#layer-name")).to_contain_text("layer 1 (1 of 30)")
    expect(page.locator("#layer-map .heatmap")).to_contain_text("green")
    page.close()
    answered.locator("#unpin").click()
    expect(link).to_be_hidden()


def test_the_keyboard_points_too(answered: Page) -> None:
    answered.locator("#said .piece[tabindex='0']").focus()
    expect(answered.locator("#readout")).not_to_contain_text("the whole answer")
    first = answered.locator("#readout").inner_text()
    answered.keyboard.press("ArrowRight")
    expect(answered.locator("#readout")).not_to_have_text(first)
    answered.keyboard.press("Enter")
    expect(answered.locator("#said .piece[aria-pressed=true]")).to_have_count(1)
    answered.keyboard.press("Escape")
    expect(answered.locator("#said .piece[aria-pressed=true]")).to_have_count(0)
    answered.locator("#read .piece[tabindex='0']").focus()
    answered.keyboard.press("End")
    expect(answered.locator("#readout")).to_contain_text("“?”")
    answered.locator("#ask").focus()


def test_sentences_can_be_pointed_at(answered: Page) -> None:
    words = answered.locator("#said .piece").count()
    answered.check("#unit-sentences", force=True)
    assert answered.locator("#said .piece").count() < words
    answered.locator("#said .piece").first.hover()
    expect(answered.locator("#readout")).to_contain_text("came mostly from")
    answered.check("#unit-words", force=True)
    expect(answered.locator("#said .piece")).to_have_count(words)


def shown_probabilities(page: Page) -> list[float]:
    """The probabilities with all sources, and without those taken away."""
    return [float(text) for text in page.locator("#without .value").all_inner_texts()]


def test_without_the_source_that_holds_it_the_answer_is_less_probable(answered: Page) -> None:
    letter, diary = answered.locator(".take").all()
    letter.click()
    expect(answered.locator("#change")).to_contain_text(
        re.compile("Without Letter, the same answer is .* times less probable")
    )
    before, after = shown_probabilities(answered)
    assert after < before
    letter.click()
    expect(answered.locator("#change")).to_have_count(0)
    diary.click()
    expect(answered.locator("#change")).to_contain_text("Without Diary")
    assert shown_probabilities(answered)[1] > after
    diary.click()
    expect(answered.locator("#without")).to_contain_text("Take a source away")


def test_another_method_explains_the_same_answer(answered: Page) -> None:
    said = answered.locator("#said p").inner_text()
    answered.select_option("#method", "input_x_gradient")
    expect(answered.locator("#doing")).not_to_be_empty()
    expect(answered.locator("#doing")).to_be_empty(timeout=WORKING)
    assert (
        re.sub(r"\[\d\] \d+ %", "", said).split()
        == re.sub(r"\[\d\] \d+ %", "", answered.locator("#said p").inner_text()).split()
    )
    expect(answered.locator("#error")).to_be_hidden()


def test_sources_and_messages_are_added_and_removed(tab: Tab) -> None:
    page = opened(tab.page, tab.address)
    page.locator("#add-source").click()
    expect(page.locator("#sources li")).to_have_count(3)
    expect(page.locator("#sources li").nth(2).locator("textarea")).to_be_focused()
    page.keyboard.type("It is red.")
    page.locator("#sources button[aria-label='Remove source 1']").click()
    expect(page.locator("#sources li")).to_have_count(2)
    page.locator("#chat-field summary").click()
    page.locator("#add-message").click()
    page.keyboard.type("Hello!")
    expect(page).to_have_url(re.compile("said=Hello"))
    page.reload()
    expect(page.locator("#chat textarea")).to_have_value("Hello!")
    expect(page.locator("#sources textarea").nth(1)).to_have_value("It is red.")


def test_mistakes_are_told(tab: Tab) -> None:
    page = opened(tab.page, tab.address)
    page.fill("#prompt", "  ")
    page.locator("#ask").click()
    expect(page.locator("#hint")).to_have_text("Write a question first.")
    page.fill("#prompt", "What is it?")
    page.locator("#sources textarea").first.fill("long " * 1_100)
    page.locator("#ask").click()
    expect(page.locator("#error")).to_contain_text("this server takes up to 5,000")
    expect(page.locator("#doing")).to_be_empty()


def test_text_stays_text(tab: Tab) -> None:
    page = opened(tab.page, tab.address, "answers#model=llm&question=Hi&tokens=4")
    title = page.title()
    page.fill("#prompt", f"Say {HOSTILE}")
    page.locator("#add-source").click()
    page.locator("#sources input").fill(HOSTILE)
    page.locator("#sources textarea").fill(f"{HOSTILE} is a text.")
    ask(page)
    expect(page.locator("#read")).to_contain_text("onerror")
    page.locator(".take").click()
    expect(page.locator("#change")).to_contain_text("onerror", timeout=WORKING)
    assert page.locator("main img, main script").count() == 0
    assert page.title() == title


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_is_accessible_and_fits(
    browser: Browser, server: str, scheme: str, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844},
        color_scheme="dark" if scheme == "dark" else "light",
        has_touch=width < 500,
    )
    page = opened(context.new_page(), server, LINK.replace("tokens=16", "tokens=6"))
    ask(page)
    if width < 500:
        page.locator("#said .piece").nth(1).tap()
        expect(page.locator("#said .piece[aria-pressed=true]")).to_have_count(1)
    page.locator(".take").first.click()
    expect(page.locator("#change")).to_be_visible(timeout=WORKING)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    context.close()


def test_every_page_leads_to_the_others(tab: Tab) -> None:
    for path in ("", "answers", "results"):
        tab.page.goto(f"{tab.address}/{path}")
        links = tab.page.locator("nav a").evaluate_all("all => all.map(a => a.pathname)")
        assert links == ["/", "/answers", "/results"]
