"""When a watch looks whether a job has failed, and what it takes for a failure."""

from __future__ import annotations

import pytest

from nccl_logscan.follow.job import Outlook, Signs
from nccl_logscan.follow.patience import Patience

SETTLE = 30.0


@pytest.fixture
def patience():
    return Patience(SETTLE, 0.0)


def test_a_job_without_a_sign_is_looked_at_every_ten_minutes_at_most(patience):
    patience.note(1000, Signs(step=5), grew=True)
    assert patience.due() == 1030
    assert not patience.take(1030, Outlook.OPEN)
    assert patience.due() is None, "nothing has come since"
    patience.note(1040, Signs(step=6), grew=True)
    assert patience.due() == 1630


def test_a_job_that_goes_on_is_never_looked_at(patience):
    for now in range(1000):
        patience.note(now, Signs(step=now), grew=True)
        assert patience.due() > now + 1


def test_what_is_held_back_is_looked_at_as_a_sign(patience):
    patience.note(1000, Signs(step=5), grew=True)
    assert not patience.take(1030, Outlook.OPEN)
    patience.note(1040, Signs(step=5, held=True), grew=True)
    assert patience.due() == 1070


def test_a_failure_counts_once_the_logs_are_still(patience):
    patience.note(100, Signs(trouble=7, step=5), grew=True)
    assert patience.is_alert
    patience.note(120, Signs(trouble=7, step=5), grew=True)
    assert patience.due() == 150
    assert patience.take(150, Outlook.FAILED)


def test_a_launcher_that_tells_of_the_end_shortens_the_wait(patience):
    patience.note(100, Signs(trouble=8, exit=8, step=5), grew=True)
    assert patience.due() == 110


def test_an_announced_restart_lengthens_it(patience):
    patience.note(100, Signs(trouble=8, exit=8, step=5, restart=9), grew=True)
    assert patience.due() == 400


def test_a_job_whose_steps_are_far_apart_is_given_twice_as_long(patience):
    for number in range(1, 5):
        patience.note(100 * number, Signs(step=number), grew=True)
    patience.note(401, Signs(trouble=5, step=4), grew=True)
    assert patience.due() == 601


def test_a_job_that_goes_on_is_no_longer_suspected(patience):
    patience.note(100, Signs(trouble=7, step=5), grew=True)
    patience.note(110, Signs(trouble=7, step=8), grew=True)
    assert not patience.is_alert


def test_what_was_found_open_is_looked_at_again_at_once_after_a_further_sign(patience):
    patience.note(100, Signs(trouble=7, step=8), grew=True)
    assert not patience.take(130, Outlook.OPEN)
    patience.note(200, Signs(trouble=7, step=9), grew=True)
    assert patience.due() == 730
    patience.note(300, Signs(trouble=10, step=9), grew=True)
    assert patience.due() < 730


def test_a_doubtful_failure_counts_after_ten_times_as_long_and_not_if_a_line_comes(patience):
    patience.note(100, Signs(trouble=7), grew=True)
    assert not patience.take(130, Outlook.DOUBTFUL)
    assert patience.due() == 400
    patience.note(200, Signs(trouble=7), grew=True)
    assert not patience.take(patience.due(), Outlook.DOUBTFUL)
    assert patience.due() == 500
    assert patience.take(500, Outlook.DOUBTFUL)


def test_logs_that_never_fall_still_are_looked_at_all_the_same(patience):
    patience.note(100, Signs(trouble=7, step=5), grew=True)
    for now in range(101, 400):
        patience.note(now, Signs(trouble=7, step=5), grew=True)
        assert patience.due() > now
    patience.note(400, Signs(trouble=7, step=5), grew=True)
    assert patience.due() == 400
    assert patience.take(400, Outlook.FAILED)


def test_an_end_counts_once_the_logs_are_still(patience):
    patience.note(100, Signs(step=5, end=6), grew=True)
    assert patience.due() == 130
    assert patience.take(130, Outlook.FINISHED)


def test_an_end_after_which_steps_come_is_none(patience):
    patience.note(100, Signs(step=5, end=6), grew=True)
    patience.note(120, Signs(step=7, end=6), grew=True)
    assert not patience.take(patience.due(), Outlook.OPEN)


def test_a_look_that_could_not_be_had_is_made_up_for(patience):
    patience.note(100, Signs(trouble=7, step=5), grew=True)
    patience.put_off(130)
    assert patience.due() == 160
    assert patience.take(160, Outlook.FAILED)
