from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
import shutil
from datetime import timedelta
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from nccl_logscan import scan
from nccl_logscan.position import Instant
from nccl_logscan.report import html as html_module
from nccl_logscan.report.compiled_templates import SCRIPT
from nccl_logscan.report.html import render_html
from nccl_logscan.report.picture import LANES, draw_timeline
from nccl_logscan.report.view import build_view

CASES = Path(__file__).resolve().parents[2] / "fixtures" / "cases"
RESULTS = ["sample_result", "healthy_result", "unknown_result", "hostile_result"]
VOID = {"meta", "link", "br", "img", "input", "hr", "base"}
STYLE = (Path(html_module.__file__).parent / "templates" / "style.css").read_text("utf-8")


class Page(HTMLParser):
    """What a browser would make of the page, as far as the tests ask."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.hidden: list[bool] = []
        self.seen_buttons = 0
        self.text = ""
        self.script = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
            self.hidden.append("hidden" in dict(attrs))
            self.seen_buttons += tag == "button" and not any(self.hidden)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes another element"
        self.hidden.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.script += data
        elif self.open and self.open[-1] != "style":
            self.text += data

    def all(self, *tags):
        return [attributes for tag, attributes in self.elements if tag in tags]


@pytest.fixture(params=RESULTS)
def page(request):
    return Page(render_html(build_view(request.getfixturevalue(request.param))))


def test_the_page_is_well_formed_and_nothing_in_it_comes_from_a_log(page):
    assert page.open == []
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"img", "iframe", "object", "embed", "link", "form", "base", "audio", "video", "use"}
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name in {"src", "srcset", "action"}], tag


def directives(page):
    [policy] = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    return dict(directive.split(" ", 1) for directive in policy.split("; "))


def test_one_script_runs_and_it_is_ours_to_the_last_byte(page):
    assert page.all("script") == [{}]
    assert page.script == SCRIPT
    assert directives(page)["script-src"] == digest(page.script)


def digest(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_one_style_sheet_is_applied_and_no_attribute_is(page):
    [style] = re.findall("<style>(.*?)</style>", page.source, re.DOTALL)

    assert directives(page)["style-src"] == digest(style)
    assert not [tag for tag, attributes in page.elements if "style" in attributes]


def test_the_page_asks_the_network_for_nothing(page):
    policy = directives(page)
    assert policy.pop("script-src").startswith("'sha256-")
    assert policy.pop("style-src").startswith("'sha256-")
    assert policy == {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'"}
    assert "url(" not in page.source
    assert "@import" not in page.source
    for link in page.all("a"):
        assert link["href"].startswith(("#", "https://"))


def test_links_within_the_page_have_a_target_and_ids_are_unique(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        assert not link["href"].startswith("#") or link["href"][1:] in ids
    for _, attributes in page.elements:
        assert set((attributes.get("aria-labelledby") or "").split()) <= set(ids)


def test_headings_are_in_order(page):
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_there_are_landmarks_captions_and_a_language(page):
    tags = [tag for tag, _ in page.elements]
    for landmark in ("header", "main", "nav", "footer"):
        assert tags.count(landmark) == 1
    assert tags.count("table") == tags.count("caption")
    assert all(header.get("scope") in {"col", "row", "rowgroup"} for header in page.all("th"))
    assert page.all("html") == [{"lang": "en"}]


def test_no_character_acts_on_the_reader(page):
    assert not set(page.source) & {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2028)}


def test_a_hostile_log_is_text_and_nothing_else(hostile_result):
    page = Page(render_html(build_view(hostile_result)))
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7*7 }}" in page.text
    assert "^[[31m" in page.text
    assert "<U+202E>" in page.text
    assert len(page.source) < 3_000_000


def test_the_first_screen_says_what_where_how_sure_why_and_what_to_do(sample_result):
    page = Page(render_html(build_view(sample_result)))
    first = re.sub(r"\s+", " ", page.text[: page.text.index("What followed")])
    for part in (
        "Rank 11 on node-17 could not reach 10.0.0.24<40211> through mlx5_3",
        "mlx5_3",
        "93 %",
        "Established",
        "127 other ranks report nothing but waiting",
        "Restart without node-17.",
        "sbatch --exclude=node-17 train.sbatch",
        "Which of the two ends lost the packets",
    ):
        assert part in first


def text_of(page, name, inside=""):
    """The text of a section, from its first element of some class on."""
    start = page.source.index(f'<section id="{name}"')
    start = page.source.index(f'class="{inside}"', start) if inside else start
    return re.sub(r"<[^>]*>", "", page.source[start : page.source.index("</section>", start)])


def test_what_not_to_do_and_what_is_not_known_stand_out_wherever_the_report_has_them(sample_result):
    view = build_view(sample_result)
    page = Page(render_html(view))
    [warning] = [step for step in view["remediation"] if step["do_not"]]
    looks = [step for step in view["remediation"] if step["effect"] == "inspect" and not step["do_not"]]
    [unknown] = view["verdict"]["unknowns"]

    assert warning["title"] in text_of(page, "verdict")
    assert warning["title"] in text_of(page, "remedy", "notice")
    assert "What is not known" in text_of(page, "verdict")
    for part in (unknown, *(step["title"] for step in looks)):
        assert part in text_of(page, "unknown", "notice")
    assert {"#remedy", "#unknown"} <= {link["href"] for link in page.all("a")}


def test_what_would_tell_is_shown_without_an_unknown_and_neither_without_either(sample_result):
    looks = dataclasses.replace(sample_result.plan[0], effect="inspect", do_not=False)
    sure = dataclasses.replace(sample_result.diagnosis, unknowns=())

    told = Page(render_html(build_view(dataclasses.replace(sample_result, diagnosis=sure, plan=(looks,)))))
    none = Page(render_html(build_view(dataclasses.replace(sample_result, diagnosis=sure, plan=()))))

    assert looks.title in text_of(told, "unknown")
    assert 'id="unknown"' not in none.source
    assert "#unknown" not in {link["href"] for link in none.all("a")}


def test_a_page_without_scripts_has_no_button_to_be_seen(page):
    assert page.all("button")
    assert page.seen_buttons == 0


def test_the_page_holds_all_that_the_report_says(sample_result):
    text = re.sub(r"\s+", " ", Page(render_html(build_view(sample_result))).text)
    for part in (
        "logs/train-7431.log:41877",
        "step 48212 | loss 2.1734",
        "127 times",
        "0-10, 12-127",
        "Raise the PyTorch time-out.",
        "A dead peer is noticed later.",
        "train.sbatch:12 NCCL_IB_TIMEOUT",
        "-export NCCL_IB_TIMEOUT=20 # <site> +export NCCL_IB_TIMEOUT=22 # <site>",
        "NCCL_TIMEOUT=1800 No version of NCCL or PyTorch reads it. Take it out.",
        "-export NCCL_TIMEOUT=1800",
        "Status 12 is also what a wrong GID index gives.",
        "570.86.15",
        "2.27.5+cuda12.9",
        "126-127",
        "NET/X : strange thing",
        "The last line has no line end",
        "61,004",
    ):
        assert part in text
    assert "hf_abc" not in text


def test_the_matched_columns_are_marked(sample_result):
    source = render_html(build_view(sample_result))
    [cited, *_] = build_view(sample_result)["verdict"]["evidence"]
    start, end = cited["highlight"]
    assert f"<mark>{cited['text'][start:end].replace('<', '&lt;').replace('>', '&gt;')}</mark>" in source


@pytest.mark.parametrize("address", ["javascript:alert(1)", "http://plain.example", "https://a b", "data:text/html,x"])
def test_only_https_addresses_become_links(sample_result, address):
    step = dataclasses.replace(sample_result.plan[0], source=address)
    page = Page(render_html(build_view(dataclasses.replace(sample_result, plan=(step,)))))
    assert address in page.text
    assert address not in {link["href"] for link in page.all("a")}


def test_the_same_view_gives_the_same_bytes(sample_result):
    assert render_html(build_view(sample_result)) == render_html(build_view(sample_result))


def test_an_ordinary_report_is_small(sample_result):
    assert len(render_html(build_view(sample_result)).encode()) < 100_000


def test_the_largest_report_is_bounded(huge_result):
    assert len(render_html(build_view(huge_result)).encode()) < 800_000


def moments(result, ranks, *, clock="c"):
    entry = result.timeline[0]
    start = entry.when.value
    return tuple(
        dataclasses.replace(entry, rank=rank, when=Instant(start + timedelta(seconds=at), clock))
        for at, rank in enumerate(ranks)
    )


def test_many_ranks_share_lanes_and_the_culprit_keeps_its_own(sample_result):
    many = dataclasses.replace(sample_result, timeline=moments(sample_result, range(480)))
    picture = draw_timeline(build_view(many))
    assert len(picture.lanes) <= LANES + 1
    assert [lane.label for lane in picture.lanes if lane.culprit] == ["rank 11"]


def test_a_picture_is_in_reading_order_where_two_clocks_stamped_it(sample_result):
    two = (*moments(sample_result, [0, 1], clock="a"), *moments(sample_result, [2, 3], clock="b"))
    picture = draw_timeline(build_view(dataclasses.replace(sample_result, timeline=two)))
    assert picture.axis.startswith("In the order of the log")
    gaps = [round(after.x - before.x) for before, after in pairwise(picture.marks)]
    assert len(set(gaps)) == 1


def test_on_one_clock_a_long_pause_is_wider_than_a_short_one(sample_result):
    entry = sample_result.timeline[0]
    timeline = tuple(
        dataclasses.replace(entry, when=Instant(entry.when.value + timedelta(seconds=seconds), "c"))
        for seconds in (0, 1, 601)
    )
    first, second, third = draw_timeline(build_view(dataclasses.replace(sample_result, timeline=timeline))).marks
    assert third.x - second.x > 3 * (second.x - first.x)


def test_labels_of_the_axis_do_not_touch(sample_result):
    many = dataclasses.replace(sample_result, timeline=moments(sample_result, range(300)))
    ticks = draw_timeline(build_view(many)).ticks
    far, near = ([tick for tick in ticks if tick.zoom == zoom] for zoom in (1, 4))
    assert len(near) > 2 * len(far) > 6
    for shown, apart in ((far, 100), (near, 25)):
        assert all(after.x - before.x > apart for before, after in pairwise(shown[1:-1]))


def test_a_year_that_the_log_did_not_say_is_not_shown(sample_result):
    timeline = tuple(
        dataclasses.replace(entry, when=entry.when and Instant(entry.when.value.replace(year=1904), "c"))
        for entry in sample_result.timeline
    )
    text = Page(render_html(build_view(dataclasses.replace(sample_result, timeline=timeline)))).text
    assert "03-14 02:17:47" in text
    assert "1904" not in text


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_moments_make_no_picture(sample_result, count):
    few = dataclasses.replace(sample_result, timeline=sample_result.timeline[:count])
    assert draw_timeline(build_view(few)) is None
    render_html(build_view(few))


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))


def luminance(colour: str) -> float:
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_is_readable_on_every_ground_in_both_schemes(scheme):
    light, dark = STYLE.split("@media (prefers-color-scheme: dark)")
    part = light if scheme == "light" else dark[: dark.index("*, *::before")]
    shared = colours(part[: part.index(".family-")])
    families = re.findall(r"\.family-(\w+) \{([^}]+)\}", part)
    assert len(families) == 10
    for family, block in families:
        palette = shared | colours(block)
        for ground in ("page", "card", "well"):
            for ink in ("ink", "quiet", "accent"):
                assert contrast(palette[ink], palette[ground]) >= 4.5, (family, ink, ground)
        assert contrast(palette["ink"], palette["tint"]) >= 4.5, family


def test_a_log_in_a_long_folder_is_named_by_its_end(tmp_path):
    folder = tmp_path.joinpath(*("a-rather-long-folder" for _ in range(9)))
    folder.mkdir(parents=True)
    shutil.copy(CASES / "lab" / "m8-timeout-rank5" / "driver.log", folder)
    page = render_html(build_view(scan([folder / "driver.log"])))
    named = re.findall(r">([^<>]*a-rather-long-folder[^<>]*)<", page)
    assert len([place for place in named if "…" in place]) > 40
    assert [place for place in named if "driver.log" not in place] == []
