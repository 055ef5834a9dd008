"""The course of training: whose it is, what of it is kept, and that a skimmed log gives the same."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from nccl_logscan.diagnosis.training import FIRSTS, LASTS, POINTS, Progress
from nccl_logscan.pipeline import Options, scan, scan_text
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.skim import rounds, windows
from nccl_logscan.skim.choice import Skimming


def course_of(log):
    return scan_text(log, builtin_rulebook()).training


def steps_of(part):
    return [point.step for point in part.points]


def lines(count, said="step {step} loss={loss:.3f}\n", start=1):
    return "".join(said.format(step=step, loss=9 - math.log(step + 1)) for step in range(start, start + count))


def test_one_rank_speaks_for_all_and_it_is_the_one_that_goes_farthest():
    log = "".join(f"[rank{rank}]: step {step} loss={rank}.{step}\n" for step in range(1, 6) for rank in (2, 0, 1))
    [part] = course_of(log).parts
    assert (part.rank, steps_of(part), part.points[0].loss) == (2, [1, 2, 3, 4, 5], 2.1)

    [part] = course_of(log + "[rank1]: step 6 loss=1.6\n").parts
    assert (part.rank, part.points[-1].step) == (1, 6)


def test_fewer_than_two_points_are_no_course():
    assert course_of("step 1 loss=0.5\nNCCL version 2.21.5\n") is None
    assert course_of("NCCL version 2.21.5\n") is None


def test_a_step_told_twice_is_one_and_one_that_goes_back_begins_a_part():
    log = "step 7 loss=0.7\nstep 8 loss=0.8\nstep 8 loss=0.9 grad_norm=3\nstep 7 loss=0.6\nstep 8 loss=0.5\n"
    first, second = course_of(log).parts
    assert (steps_of(first), steps_of(second)) == ([7, 8], [7, 8])
    assert (first.points[1].loss, first.points[1].grad_norm) == (0.8, 3.0)


def test_attempts_are_apart():
    texts = {f"attempt_{number}/0/stderr.log": lines(4, start=1 + 2 * number) for number in range(3)}
    course = course_of(texts)
    assert [(part.attempt, steps_of(part)) for part in course.parts] == [
        (0, [1, 2, 3, 4]), (1, [3, 4, 5, 6]), (2, [5, 6, 7, 8]),
    ]  # fmt: skip


def test_of_many_steps_the_extremes_the_ends_and_what_is_odd_stay():
    said = (
        lines(20_000)
        .replace("step 7777 loss=", "step 7777 loss=-50.5 was ")
        .replace("step 999 loss=", "step 999 loss=nan was ")
    )
    [part] = course_of(said.replace("step 15000 loss=", "step 15000 loss=88.5 was ")).parts

    assert len(part.points) <= POINTS
    steps = steps_of(part)
    assert {1, 999, 7777, 15_000, 20_000} <= set(steps)
    assert steps == sorted(steps)
    assert max(after - before for before, after in pairwise(steps)) < 1_000


def test_skipped_steps_are_counted_as_the_log_counts_them():
    log = "".join(
        f" iteration {step}/ 900 | consumed samples: 64 | lm loss: 2.5E+00 | loss scale: {scale} | "
        f"number of skipped iterations: {skipped} | number of nan iterations: 0 |\n"
        for step, scale, skipped in ((10, 4096, 0), (20, 1024, 2), (30, 512, 1))
    )
    course = course_of(log)
    assert course.skipped == 3
    assert [point.skipped for point in course.parts[0].points] == [0, 2, 1]
    assert [point.loss_scale for point in course.parts[0].points] == [4096, 1024, 512]


SCALES = [65_536.0, 32_768.0, 32_768.0, 16_384.0]


def long_log():
    """Steps of two ranks with scales that change now and then, overflows, a few NaN, and much else between."""
    for step in range(1, 3_001):
        scale = SCALES[step // 800]
        for rank in (1, 0):
            loss = "nan" if step in {700, 701, 2_999} else f"{9 - math.log(step):.4f}"
            yield f"[rank{rank}]: step={step} loss={loss} scale={scale}\n"
            if step % 800 == 799:
                yield f"[rank{rank}]: Gradient overflow. Skipping step, reducing loss scale to {scale / 2}\n"
        yield f"node-1:77:78 [0] NCCL INFO Channel {step % 8:02}/08 : 0 1\n"


@pytest.mark.parametrize("segment", [1 << 21, 2_500])
def test_a_skimmed_log_gives_the_choice_that_is_in_every_way_of_reading_it(tmp_path, monkeypatch, segment):
    for module in (rounds, windows):
        monkeypatch.setattr(module, "SEGMENT", segment)
    log = tmp_path / "job.log"
    log.write_text("".join(long_log()), "utf-8")

    skimmed = [training_of(log, 1, threads) for threads in (1, 3)]
    whole = training_of(log, None, 1)
    monkeypatch.setattr(Progress, "feed", taken_for_skimmed(Progress.feed))
    chosen = training_of(log, None, 1)

    assert skimmed[0] == skimmed[1] == chosen
    assert not whole["parts"][0]["is_choice"]
    steps = [point["step"] for point in chosen["parts"][0]["points"] if not point["overflow"]]
    assert {1, 2, 700, 701, 799, 800, 2_399, 2_400, 2_999, 3_000} <= set(steps)
    assert FIRSTS + LASTS < len(steps) < 40
    assert chosen["overflows"] == whole["overflows"] == 3


def taken_for_skimmed(feed):
    def feed_and_tell(self, event, site):
        self.skims(event.at.source)
        feed(self, event, site)

    return feed_and_tell


def training_of(log, large, threads):
    options = Options(skimming=Skimming(large=large, threads=threads), looks_beside=False)
    return build_view(scan([log], None, options))["training"]
