"""The curves of training: round numbers on the axes, what is odd marked by shape and in words, bounded."""

from __future__ import annotations

import json
import math
import re

import pytest
from cases import BY_NAME

from nccl_logscan.diagnosis.training import Point, Training, TrainingPart
from nccl_logscan.pipeline import scan_text
from nccl_logscan.position import Position
from nccl_logscan.report.curves import draw_training
from nccl_logscan.report.html import render_html
from nccl_logscan.report.public import public_view
from nccl_logscan.report.training import training_of
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook


def view_of(name):
    return build_view(scan_text(BY_NAME[name].texts(), builtin_rulebook()))


def curves_of(*parts, overflows=0, skipped=None):
    return draw_training({"training": training_of(Training(tuple(parts), overflows, skipped))})


def part(*losses, attempt=0, file="job.log", first=1, scales=()):
    points = [
        Point(Position(file, 10 * number, 0), step, loss, scales[number] if scales else None, None)
        for number, (step, loss) in enumerate(enumerate(losses, first))
    ]
    return TrainingPart(attempt, None, tuple(points), is_choice=False)


def overflow(line, scale):
    return Point(Position("job.log", line, 0), None, None, scale, None, overflow=True)


def labels(panel):
    return [mark.label for mark in panel.marks]


def test_an_overflow_is_said_drawn_and_in_the_table():
    view = view_of("lab/m8-overflow")
    curves = draw_training(view)

    assert [panel.label for panel in curves.panels] == ["Loss", "Loss scale", "Gradient norm"]
    assert [(lane.shape, len(lane.signs) > 15) for lane in curves.lanes] == [("skip", True), ("not-finite", True)]
    assert curves.said[0].startswith("From step 1 to step 23 as rank 7 prints it: loss from 1.00408 to 7.11e19")
    assert "gradient norm from 0.027 to NaN" in curves.said[0]
    assert curves.said[1] == "27 overflows were told."
    assert sum("overflow" in row.what for row in curves.rows) == 27
    page = render_html(view)
    assert 'id="training"' in page
    assert "27 overflows were told." in page


def test_a_job_without_losses_has_no_curve():
    view = view_of("lab/v2.21.5-late")
    assert view["training"] is None
    assert 'id="training"' not in render_html(view)


ODD = [
    (1.0, 1.0), (0.0, 0.0), (0.0, -3.5), (math.nan, 2.0, 2.5), (1e-12, 1e12), (5e-324, 1.7e308), (-1e300, 1e300),
    (-1.7e308, 1.7e308), (0.0, 5e-324), (5e-324, 5e-324), (1.0, math.nextafter(1.0, 2.0)), (1.6e308, 1.7e308),
    (-1e308, math.nextafter(-1e308, 0.0)), (1e290, 1.7e308),
]  # fmt: skip


@pytest.mark.parametrize("losses", ODD)
def test_whatever_the_numbers_all_stands_within_the_picture_and_axes_have_two_numbers_at_least(losses):
    curves = curves_of(part(*losses))
    [panel] = curves.panels
    assert len(panel.marks) >= 2
    assert all(panel.top - 0.1 <= place.y <= panel.bottom + 0.1 for place in (*panel.marks, *panel.dots))
    assert "nan" not in panel.line
    assert "inf" not in panel.line


@pytest.mark.parametrize("scales", [odd for odd in ODD if not math.isnan(odd[0])])
def test_of_any_scales_there_are_round_numbers(scales):
    [_, panel] = curves_of(part(3.0, 2.0, scales=scales)).panels
    assert len(panel.marks) >= 2
    assert all(panel.top - 0.1 <= place.y <= panel.bottom + 0.1 for place in (*panel.marks, *panel.dots))


def test_axes_have_round_numbers_and_the_scale_powers_of_two():
    curves = curves_of(part(*(9.3, 8.1, 7.7, 6.6), scales=(65_536.0, 65_536.0, 8_192.0, 1_024.0)))
    loss, scale = curves.panels
    assert labels(loss) == ["6", "7", "8", "9", "10"]
    assert all(math.log2(int(label.replace(",", ""))).is_integer() for label in labels(scale))
    assert scale.scale == "log 2"
    [wide] = curves_of(part(1.0131, 1.0101, 1.05e12)).panels
    assert (labels(wide), wide.scale) == (["1", "100,000", "1e10"], "log 10")
    assert [tick.label for tick in curves.ticks] == ["1", "2", "3", "4"]


def test_a_curve_is_parted_at_a_number_that_is_none_and_between_attempts():
    curves = curves_of(part(3.0, 2.0, math.inf, 1.0, 0.5), part(2.5, 2.0, attempt=1, file="again.log", first=2))
    [panel] = curves.panels
    assert panel.earlier.count("M") == 2
    assert panel.line.count("M") == 1
    assert [sign.title for sign in curves.lanes[0].signs] == ["step 3 · loss infinite · line 20"]
    assert [said.split(",")[0] for said in curves.said] == ["Attempt 0", "Attempt 1"]


def test_where_steps_begin_anew_in_one_input_its_lines_are_the_axis():
    curves = curves_of(part(3.0, 2.0), part(2.5, 2.0))
    assert curves.axis == "line of the log"
    assert curves_of(part(3.0, 2.0)).axis == "step"


def test_an_attempt_of_overflows_alone_takes_no_axis_from_the_others():
    alone = overflow(15, 4.0)
    last = TrainingPart(1, None, (alone._replace(at=Position("again.log", 3, 0)),), is_choice=False)
    curves = curves_of(part(3.0, 2.0), last, overflows=1)
    assert (curves.axis, len(curves.said)) == ("step", 2)
    assert curves_of(TrainingPart(0, None, (alone, overflow(17, 2.0)), is_choice=False), last).axis == "line of the log"


def test_what_a_choice_leaves_out_is_said():
    chosen = part(3.0, 1.0, 2.0)
    whole, choice = curves_of(chosen), curves_of(TrainingPart(0, None, chosen.points, is_choice=True))
    assert whole.said == ("From step 1 to step 3: loss from 3 to 2, lowest 1.",)
    assert choice.said == ("Of the steps that were read, from step 1 to step 3: loss from 3 to 2, lowest 1.",)


def test_overflows_without_a_step_stand_between_the_steps_around_them_and_behind_the_last():
    steps = part(3.0, 2.0, 1.0, scales=(8.0, 8.0, 4.0))
    points = [*steps.points[:2], overflow(15, 4.0), steps.points[2], overflow(30, 2.0), overflow(31, 1.0)]
    curves = curves_of(TrainingPart(0, None, tuple(points), is_choice=False), overflows=3)
    between, behind, last = [sign.x for sign in curves.lanes[0].signs]
    _, second, third = [dot.x for dot in curves.panels[0].dots]
    assert second < between < third < behind < last <= curves.right
    assert [tick.label for tick in curves.ticks] == ["1", "2", "3"]


def test_the_picture_and_its_table_are_bounded():
    points = [Point(Position("job.log", at, 0), at, 1.0 + at % 7, 2.0, 3.0, skipped=1) for at in range(1, 641)]
    view = view_of("lab/m8-overflow")
    view["training"] = training_of(Training((TrainingPart(0, 3, tuple(points), is_choice=True),), 0, 640))
    curves = draw_training(view)
    assert (len(curves.rows), curves.left_out) == (100, 540)
    assert len(curves.lanes[0].signs) < 120
    page = render_html(view)
    section = page[
        page.index('<section id="training"') : page.index("</section>", page.index('<section id="training"'))
    ]
    assert len(section) < 80_000
    assert "not each of its steps was read" in section
    assert "640 steps were skipped." in section


def test_numbers_that_json_lacks_are_words():
    view = view_of("lab/nan-bf16")
    told = json.loads(json.dumps(view["training"], allow_nan=False))
    assert [point["loss"] for point in told["parts"][0]["points"]][-1] == "nan"


def test_the_name_of_the_file_is_replaced_for_the_public():
    path = "/home/alice/runs/secret-job/train.log"
    view = build_view(scan_text({path: "step 1 loss=0.5\nstep 2 loss=0.25\n"}, builtin_rulebook()))
    assert path in json.dumps(view["training"])
    public, _ = public_view(view)
    assert not re.search("alice|secret-job", json.dumps(public["training"]) + render_html(public))
