"""The heat map of ranks by time and the graph of what followed: bounded, and saying the same in words."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest
from cases import BY_NAME

from nccl_logscan.diagnosis.activity import Activity, Mark, RankCourse
from nccl_logscan.diagnosis.verdict import Culprit
from nccl_logscan.pipeline import scan_text
from nccl_logscan.position import Position
from nccl_logscan.report.activity import BINS, EARLY, LANES, activity_of
from nccl_logscan.report.graph import NODES, draw_graph
from nccl_logscan.report.heat_map import draw_activity
from nccl_logscan.report.html import render_html
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook

START = datetime(2026, 11, 30, 4)
CULPRIT = 137


def mark(seconds):
    return Mark(seconds, Position("job.log", 7, 900), START + timedelta(seconds=seconds))


def course(rank):
    """All go on for an hour and end within a minute; the culprit falls silent ten minutes before."""
    end = 3_000.0 if rank == CULPRIT else 3_600.0 + rank % 60
    trouble = None if rank == CULPRIT else mark(3_600.0)
    return RankCourse(rank, mark(rank % 7), mark(end), trouble)


def lanes_of(count, culprit=CULPRIT, silent=()):
    courses = tuple(course(rank) for rank in range(count) if rank not in silent)
    return activity_of(Activity(courses, 0, "node-1"), Culprit(rank=culprit), silent)


def view_of(name):
    return build_view(scan_text(BY_NAME[name].texts(), builtin_rulebook()))


@pytest.fixture(scope="module")
def hang():
    return view_of("lab/m8-timeout-rank5")


@pytest.mark.parametrize("count", [256, 4_096, 10_000])
def test_however_many_ranks_there_are_the_lanes_are_few_and_the_culprit_has_its_own(count):
    activity = lanes_of(count)

    assert len(activity["lanes"]) <= LANES + EARLY + 1
    assert sum(lane["rank_count"] for lane in activity["lanes"]) == count
    [lane] = [lane for lane in activity["lanes"] if lane["culprit"]]
    assert (lane["first_rank"], lane["last_rank"], lane["troubled"]) == (CULPRIT, CULPRIT, [])
    assert len(json.dumps(activity)) < 60_000


def test_a_silence_of_ten_minutes_after_an_hour_is_seen():
    activity = lanes_of(4_096)
    [lane] = [lane for lane in activity["lanes"] if lane["culprit"]]
    fell_silent, count = lane["speaking"][-1]

    assert count == 0
    assert fell_silent < BINS * 0.9


def test_a_rank_that_fell_silent_before_all_others_has_a_lane_though_it_is_not_blamed():
    activity = lanes_of(4_096, culprit=5)

    assert [CULPRIT, CULPRIT] in [[lane["first_rank"], lane["last_rank"]] for lane in activity["lanes"]]


def test_a_culprit_that_wrote_nothing_has_an_empty_lane():
    activity = lanes_of(4_096, silent=(CULPRIT,))
    [lane] = [lane for lane in activity["lanes"] if lane["culprit"]]

    assert (lane["speaking"], lane["silent_last"]) == ([], None)


def test_all_speak_between_their_first_and_their_last_lines():
    activity = lanes_of(256)

    for lane in activity["lanes"]:
        counts = [count for _, count in lane["speaking"]]
        assert max(counts) == lane["rank_count"]
        assert all(0 <= at < BINS for at, _ in lane["speaking"])
    assert activity["edges"] == sorted(activity["edges"])


def test_the_picture_of_ten_thousand_ranks_is_small(hang):
    view = {**hang, "activity": lanes_of(10_000)}

    assert len(render_html(view)) - len(render_html({**hang, "activity": None})) < 60_000


def test_the_picture_says_in_words_what_each_lane_shows(hang):
    picture = draw_activity({**hang, "activity": lanes_of(4_096)})
    [row] = [row for row in picture.rows if row.culprit]

    assert row.title == f"rank {CULPRIT}: first line 2026-11-30 04:00:04; last line 2026-11-30 04:50:00"


def test_a_log_cannot_act_on_the_page_through_its_name(hang):
    told = {**lanes_of(64), "clock": "<script>alert(1)</script>\x1b[31m", "elsewhere": 2}

    page = render_html({**hang, "activity": told})
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert "2 ranks have no line" in page


def test_what_follows_from_a_symptom_stands_behind_it(hang):
    graph = draw_graph(hang)
    first, then = graph.nodes[1:3]

    assert graph.nodes[0].is_cause
    assert (first.words[0].text[:2], then.words[0].text[:2]) == ("1.", "4.")
    assert then.x > first.x > graph.nodes[0].x
    assert "followed: 4. A process was ended by SIGTERM (21 times, ranks 1-7" in graph.said


def test_no_box_lies_on_another_and_all_lie_in_the_picture(hang):
    graph = draw_graph({**hang, "cascade": many(60)})

    for at, node in enumerate(graph.nodes):
        assert node.x + node.width <= graph.width
        assert node.y + node.height <= graph.height
        for other in graph.nodes[:at]:
            beside = node.x + node.width <= other.x or other.x + other.width <= node.x
            assert beside or node.y >= other.y + other.height or other.y >= node.y + node.height


def many(count):
    first = {"file": "job.log", "line": 1, "time": None}
    title = "A <b>title</b> of many words that goes on and on until nobody reads it any more, and then some " * 3
    return [
        {
            "rule": f"r/{at}", "title": title, "follows": f"r/{at - 1}" if at % 4 else None, "ranks": [at],
            "rank_count": 1, "count": 1, "first": first, "category": "unknown",
        }
        for at in range(count)
    ]  # fmt: skip


def test_of_many_symptoms_the_first_are_drawn_and_the_rest_counted(hang):
    graph = draw_graph({**hang, "cascade": many(50)})

    assert (len(graph.nodes), graph.left_out) == (NODES + 1, 50 - NODES)
    assert all(len(node.words) <= 5 for node in graph.nodes)


def test_nothing_is_drawn_where_nothing_followed(hang):
    assert draw_graph({**hang, "cascade": []}) is None
    assert draw_activity(view_of("lab/m8-healthy")) is None


@pytest.mark.parametrize("name", ["lab/m8-timeout-rank5", "lab/timeout-dataloader"])
def test_a_log_whose_times_go_back_has_a_picture_all_the_same(name):
    back = [
        f"2026-11-{30 - number % 29:02} 05:{59 - number % 60:02}:00,000 | rank{number % 8} | INFO | t:1 - step {number}"
        for number in range(400)
    ]
    texts = BY_NAME[name].texts()
    view = build_view(scan_text({name: "\n".join([*back, text]) for name, text in texts.items()}, builtin_rulebook()))

    assert view["activity"] is not None
    for lane in view["activity"]["lanes"]:
        assert all(0 <= count <= lane["rank_count"] for _, count in lane["speaking"])
    assert "<svg" in render_html(view)
