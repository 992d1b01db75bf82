"""Ctrl-C between steps, at once, and never inside a file."""

import os
import signal
from types import SimpleNamespace

import pytest

from pinn.runs.interrupts import Interrupts


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_the_running_step_ends_before_training_is_interrupted():
    with Interrupts() as interrupts:
        interrupts.on_stage_start(None)
        interrupts.on_step(None)
        press()
        with pytest.raises(KeyboardInterrupt):
            interrupts.on_step(None)


def test_a_second_press_interrupts_at_once():
    with Interrupts() as interrupts:
        interrupts.on_stage_start(None)
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_a_press_in_the_last_step_keeps_the_next_stage_from_beginning():
    with Interrupts() as interrupts:
        interrupts.on_stage_start(None)
        press()
        with pytest.raises(KeyboardInterrupt):
            interrupts.on_stage_end(SimpleNamespace(reason="steps done"))


def test_the_end_of_an_interrupted_stage_is_quiet():
    with Interrupts() as interrupts:
        interrupts.on_stage_start(None)
        press()
        interrupts.on_stage_end(SimpleNamespace(reason="interrupted"))


def test_outside_of_training_it_is_an_ordinary_ctrl_c():
    with Interrupts(), pytest.raises(KeyboardInterrupt):
        press()


def test_nothing_breaks_off_a_held_block():
    done = []
    with Interrupts() as interrupts:
        with interrupts.held():
            for i in range(5):
                press()
                done.append(i)
        with pytest.raises(KeyboardInterrupt):
            press()
    assert done == [0, 1, 2, 3, 4]


def test_the_handlers_from_before_are_put_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) not in before
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
