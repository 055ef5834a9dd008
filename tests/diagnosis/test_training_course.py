"""The course of training: whose it is, what of it is kept, and that a skimmed log gives the same."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest
from cases import BY_NAME

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

    skimmed = [training_of([log], 1, threads) for threads in (1, 3)]
    whole = training_of([log], None, 1)
    monkeypatch.setattr(Progress, "feed", taken_for_skimmed(Progress.feed))
    chosen = training_of([log], None, 1)

    assert skimmed[0] == skimmed[1] == chosen
    assert not whole["parts"][0]["is_choice"]
    steps = [point["step"] for point in chosen["parts"][0]["points"] if not point["overflow"]]
    assert {1, 2, 700, 701, 800, 2_400, 2_999, 3_000} <= set(steps)
    assert FIRSTS + LASTS < len(steps) < 40
    assert chosen["overflows"] == whole["overflows"] == 3


MEGATRON = (
    " iteration {step:8d}/ 9000 | consumed samples: {samples} | lm loss: {loss} | loss scale: {scale} | "
    "number of skipped iterations: {lately:3d} | number of nan iterations: 0 |"
)
DEEPSPEED = "[INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped={skipped}, lr=[0.001], mom=[0.9]"
FAIRSEQ = (
    "| INFO | train_inner | epoch 001: {step} / 6547 loss={loss}, num_updates={step}, gnorm=1.5, loss_scale={scale:g}"
)


def random_log(wording, seed):
    """Steps that go back now and then, scales that change, runs of skipped steps, losses that are none."""
    chance = random.Random(seed)  # noqa: S311 - nothing is to be kept secret
    step, scale, skipped, held = 100, 65_536.0, 0, 0
    for _ in range(400):
        step = max(0, step - chance.choice([5, 10_000])) if chance.random() < 0.01 else step + chance.choice([1, 1, 10])
        held = held - 1 if held else 5 if chance.random() < 0.03 else 0
        lately = 1 if held else 0
        skipped += lately
        scale *= chance.choice([0.5, 2]) if chance.random() < 0.03 else 1
        loss = "nan" if chance.random() < 0.02 else f"{9 * chance.random():.{chance.choice([2, 4])}f}"
        yield wording.format(step=step, samples=64 * step, loss=loss, scale=scale, lately=lately, skipped=skipped)


@pytest.mark.parametrize("wording", [MEGATRON, DEEPSPEED, FAIRSEQ], ids=["megatron", "deepspeed", "fairseq"])
@pytest.mark.parametrize("seed", range(3))
def test_logs_of_any_course_give_the_choice_too(tmp_path, wording, seed, monkeypatch):
    for module in (rounds, windows):
        monkeypatch.setattr(module, "SEGMENT", 2_500)
    log = tmp_path / "job.log"
    log.write_text("\n".join(random_log(wording, seed)), "utf-8")
    skimmed = training_of([log], 1, 2)
    monkeypatch.setattr(Progress, "feed", taken_for_skimmed(Progress.feed))

    assert skimmed == training_of([log], None, 1)


REAL = [
    "lab/m8-overflow",
    "lab/ds-overflow",
    "lab/nan-bf16",
    "lab/healthy-fp16-warmup",
    "field/app_036",
    "field/app_054",
]


@pytest.mark.parametrize("name", REAL)
def test_real_logs_give_the_choice_too(name, monkeypatch):
    for module in (rounds, windows):
        monkeypatch.setattr(module, "SEGMENT", 2_500)
    paths = BY_NAME[name].inputs
    skimmed = training_of(paths, 1, 2)
    monkeypatch.setattr(Progress, "feed", taken_for_skimmed(Progress.feed))

    assert skimmed["parts"][0]["is_choice"]
    assert skimmed == training_of(paths, None, 1)


def taken_for_skimmed(feed):
    def feed_and_tell(self, event, site):
        self.skims(event.at.source)
        feed(self, event, site)

    return feed_and_tell


def training_of(logs, large, threads):
    options = Options(skimming=Skimming(large=large, threads=threads), looks_beside=False)
    return build_view(scan(logs, None, options))["training"]


def test_epochs_that_count_anew_all_the_time_are_one_part():
    log = "".join(f"epoch {epoch} step {step} loss={epoch}.{step}\n" for epoch in range(40) for step in range(5))
    [part] = course_of(log).parts
    assert [point.loss for point in part.points][:6] == [0.0, 0.1, 0.2, 0.3, 0.4, 1.0]
    assert len(course_of(log[: log.index("epoch 10")]).parts) == 10


def test_of_many_attempts_the_last_are_kept():
    texts = {f"attempt_{number:02}/0/stderr.log": lines(3) for number in range(20)}
    assert [part.attempt for part in course_of(texts).parts] == list(range(12, 20))
