"""The HTML report as a browser shows it: on real cases, on a hostile log, on more of everything than a page shows."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from nccl_logscan.report.visible import visible

ORDINARY = 400_000
LARGEST = 800_000
WIDTHS = (360, 390, 768, 1024, 1440, 1920, 2560)
FIRST_SCREENS = ((1200, 800), (1440, 900), (360, 740))
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOURS = ["color-contrast", "link-in-text-block"]
"""Rules on what differs between light and dark."""

CASES = (
    "field/app_003",
    "field/net002",
    "field/net009",
    "lab/desync-op",
    "lab/device-assert",
    "lab/ds-overflow",
    "lab/dup-gpu",
    "lab/m8-healthy",
    "lab/m8-timeout-rank5",
    "lab/mix-2.18.3-2.21.5",
    "lab/sigkill",
    "lab/timeout-dataloader",
    "lab/v2.16.5-fullmem",
    "lab/v2.25.1-linkdown",
)
MADE = ("hostile_result", "huge_result")
all_pages = pytest.mark.parametrize("name", [*CASES, *MADE])


def test_the_cases_are_of_many_categories(shown):
    assert len({shown(name).view["verdict"]["category"] for name in CASES}) >= 10


@all_pages
def test_nothing_goes_wrong_and_nothing_but_the_file_is_asked_for(light, shown, name):
    page = shown(name)

    light.open(page.address)
    light.open_parts()

    assert light.tab.locator("h1").count() == 1
    assert light.problems == []
    assert light.requests == [page.address]


@all_pages
def test_axe_finds_nothing_in_light_and_in_dark(light, shown, name):
    light.tab.set_viewport_size({"width": 1200, "height": 800})
    light.open(shown(name).address)
    light.open_parts()

    assert violations(light.tab, RULES) == []
    if name != "huge_result":  # which shows no kind of element that the others do not, and takes ten seconds
        light.tab.emulate_media(color_scheme="dark")
        try:
            assert light.tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 21, 26)"
            assert violations(light.tab, COLOURS) == []
        finally:
            light.tab.emulate_media(color_scheme="light")


def violations(tab, rules):
    found = Axe().run(tab, options={"runOnly": rules, "resultTypes": ["violations"]}).response["violations"]
    return [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found]


@all_pages
def test_the_page_is_never_wider_than_the_window(light, shown, name):
    light.open(shown(name).address)
    light.open_parts()

    for width in WIDTHS:
        light.tab.set_viewport_size({"width": width, "height": 900})
        assert light.tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width


@all_pages
def test_every_part_opens_by_keyboard_and_the_focus_is_seen(light, shown, name):
    light.open(shown(name).address)
    stop = """() => {
        const at = document.activeElement;
        return {tag: at.tagName, open: at.parentElement.open, outline: getComputedStyle(at).outlineStyle};
    }"""

    light.tab.keyboard.press("Tab")
    while (focused := light.tab.evaluate(stop))["tag"] != "BODY":
        assert focused["outline"] != "none", focused
        if focused["tag"] == "SUMMARY" and not focused["open"]:
            light.tab.keyboard.press("Enter")
        light.tab.keyboard.press("Tab")

    assert light.tab.locator("details").count() > 0
    assert light.tab.locator("details:not([open])").count() == 0


def test_the_first_stop_leads_past_the_head(light, shown):
    light.open(shown("field/net002").address)

    light.tab.keyboard.press("Tab")

    assert light.tab.evaluate("document.activeElement.textContent") == "Skip to the verdict"
    assert light.tab.evaluate("document.activeElement.getBoundingClientRect().left") >= 0


@all_pages
def test_what_scrolls_is_reached_by_keyboard(light, shown, name):
    light.tab.set_viewport_size({"width": 360, "height": 740})
    light.open(shown(name).address)
    light.open_parts()

    unreached = """[...document.querySelectorAll('main *')].filter(
        each => each.scrollWidth > each.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(each).overflowX)
             && each.tabIndex < 0).map(each => each.outerHTML.slice(0, 200))"""
    assert light.tab.evaluate(unreached) == []


@all_pages
def test_without_scripts_all_is_there(light, scriptless, shown, name):
    def lines(watched):
        watched.open(shown(name).address)
        watched.open_parts()
        return {re.sub(r"\s+", " ", line) for line in watched.tab.locator("body").inner_text().splitlines()}

    without = lines(scriptless)

    assert without <= lines(light)
    assert scriptless.tab.locator("button:visible").count() == 0
    assert light.tab.locator("button.copy:visible").count() == light.tab.locator("button.copy").count()


@pytest.fixture(scope="session")
def copied_by(light):
    """Press a button and return what another program would then get from the clipboard."""
    pad = light.tab.context.new_page()
    pad.set_content("<textarea></textarea>")

    def copied_by(button):
        button.click()
        expect(light.tab.get_by_role("status")).to_have_text("Copied")
        pad.bring_to_front()
        pad.locator("textarea").fill("")
        pad.keyboard.press("Control+V")
        light.tab.bring_to_front()
        return pad.locator("textarea").input_value()

    return copied_by


def in_the_page(text):
    return visible(text if len(text) <= 400 else f"{text[:399]}…")


@pytest.fixture(params=["clipboard", "no-clipboard"])
def copying(request, light, shown):
    """Open a page, once with the browser's clipboard and once as on a share, where a page has none."""

    def copying(name):
        page = shown(name)
        light.open(page.address)
        if request.param == "no-clipboard":
            light.tab.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        return page.view

    return copying


@pytest.mark.parametrize("name", ["field/net002", "lab/timeout-dataloader", "hostile_result"])
def test_evidence_is_copied_as_it_is_shown(light, copied_by, copying, name):
    view = copying(name)
    light.open_parts()
    for figure, line in zip(light.tab.locator("figure.evidence").all(), view["verdict"]["evidence"], strict=True):
        around = [[in_the_page(text) for text in line[side]] for side in ("before", "after")]
        shown = "\n".join([*around[0], visible(line["text"]), *around[1]])
        assert copied_by(figure.locator("button.copy")) == shown


def test_lines_that_are_closed_are_not_copied(light, copied_by, shown):
    page = shown("lab/timeout-dataloader")
    light.open(page.address)
    cited = page.view["verdict"]["evidence"]
    place = next(place for place in range(3, len(cited)) if cited[place]["before"])

    assert copied_by(light.tab.locator("figure.evidence button.copy").nth(place)) == cited[place]["text"]


def test_commands_and_diffs_are_copied_to_the_last_line_feed(light, copied_by, copying):
    view = copying("sample_result")
    wanted = {step[key] for step in view["remediation"] for key in ("command", "diff")}
    wanted |= {entry[key] for entry in view["config"]["lint"] for key in ("command", "diff")}
    got = {copied_by(button) for button in light.tab.locator(".boxed button.copy").all()}

    assert got == wanted - {None}
    assert any(text.startswith("--- a/") and text.endswith("\n") for text in got)


def test_a_copy_is_told_and_leaves_the_focus_where_it_was(light, copying):
    copying("field/net002")
    button = light.tab.locator("figure.evidence button.copy").first
    button.focus()

    light.tab.keyboard.press("Enter")

    expect(light.tab.get_by_role("status")).to_have_text("Copied")
    assert button.inner_text().startswith("Copied")
    assert light.tab.evaluate("document.activeElement.className") == "copy"


def test_where_a_browser_takes_no_text_it_is_selected(light, shown):
    light.open(shown("field/net002").address)
    light.tab.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    light.tab.evaluate("document.execCommand = () => false")

    light.tab.locator(".boxed button.copy").first.click()

    expect(light.tab.get_by_role("status")).to_have_text("Selected, not copied")
    assert light.tab.evaluate("getSelection().toString()") == "export NCCL_IB_TIMEOUT=22"


@pytest.mark.parametrize("name", CASES)
def test_the_first_screen_says_what_where_how_sure_and_what_to_do(light, shown, name):
    light.open(shown(name).address)
    for width, height in FIRST_SCREENS:
        light.tab.set_viewport_size({"width": width, "height": height})
        for part in ("h1", ".where", ".sure p", ".next .action"):
            boxes = [each.bounding_box() for each in light.tab.locator(part).all()]
            assert all(box["y"] + box["height"] <= height for box in boxes), (part, width)


@all_pages
def test_all_is_printed_but_what_only_a_screen_needs(scriptless, shown, name):
    scriptless.tab.set_viewport_size({"width": 700, "height": 900})  # as wide as a sheet of A4 within its margins
    scriptless.tab.emulate_media(media="print")
    try:
        scriptless.open(shown(name).address)
        closed = scriptless.tab.locator("details:not([open]) > :not(summary)")
        assert closed.evaluate_all("each => each.every(one => one.getBoundingClientRect().height > 0)")
        assert scriptless.tab.locator("button:visible, nav:visible, .skip:visible").count() == 0
        assert scriptless.tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    finally:
        scriptless.tab.emulate_media(media="screen")


@pytest.mark.parametrize("name", CASES)
def test_the_page_is_small_enough_for_a_mail(shown, name):
    assert shown(name).path.stat().st_size < ORDINARY


def test_the_largest_page_is_bounded(shown):
    assert shown("huge_result").path.stat().st_size < LARGEST


def test_the_probes_see_what_a_page_does_wrong(light, folder):
    bad = folder / "bad.html"
    bad.write_text(
        "<!DOCTYPE html><meta http-equiv='Content-Security-Policy' content=\"script-src 'none'\"><h1>x</h1>"
        "<div style='width:5000px'>x</div><img src='other.png'><script>console.error('no')</script>"
    )
    light.tab.set_viewport_size({"width": 1280, "height": 800})

    light.open(bad.as_uri())

    assert any("Content Security Policy" in problem for problem in light.problems)
    assert any(request.endswith("other.png") for request in light.requests)
    assert light.tab.evaluate("document.documentElement.scrollWidth") > 1280
    assert {"image-alt", "html-has-lang"} <= {rule for rule, _ in violations(light.tab, RULES)}
