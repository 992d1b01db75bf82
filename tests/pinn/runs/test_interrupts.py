"""Ctrl-C between steps, at once, and never inside a file."""

import os
import signal
from types import SimpleNamespace

import pytest

from pinn.runs.interrupts import Interrupts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] if os.name != "nt" else []


def press(number=signal.SIGINT):
    os.kill(os.getpid(), number)


@pytest.fixture(autouse=True)
def usual_handlers():
    """Handlers as a program starts with them, whatever the tests were started from."""
    before = {number: signal.getsignal(number) for number in NUMBERS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in NUMBERS[1:]:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


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
            interrupts.on_stage_end(SimpleNamespace(reason="step limit"))


def test_the_end_of_an_interrupted_stage_is_quiet():
    with Interrupts() as interrupts:
        interrupts.on_stage_start(None)
        press()
        interrupts.on_stage_end(SimpleNamespace(reason="interrupted"))


def test_outside_of_training_it_is_an_ordinary_ctrl_c():
    with Interrupts(), pytest.raises(KeyboardInterrupt):
        press()


def test_nothing_breaks_off_a_held_block_and_what_follows_is_not_wanted():
    done = []
    with Interrupts() as interrupts:
        interrupts.on_stage_start(None)
        with pytest.raises(KeyboardInterrupt):
            with interrupts.held():
                for i in range(5):
                    press()
                    done.append(i)
        with pytest.raises(KeyboardInterrupt):
            press()
    assert done == [0, 1, 2, 3, 4]


def test_after_one_press_that_training_heard_the_rest_is_wanted():
    with Interrupts() as interrupts:
        interrupts.on_stage_start(None)
        press()
        with pytest.raises(KeyboardInterrupt):
            interrupts.on_step(None)
        with interrupts.held():
            pass
        with pytest.raises(KeyboardInterrupt):
            press()


def test_an_impatient_press_does_not_hit_what_saves_the_run():
    with Interrupts() as interrupts:
        interrupts.on_stage_start(None)
        press()
        with pytest.raises(KeyboardInterrupt):
            press()
        press()  # on the way from the training loop to the files
        with pytest.raises(KeyboardInterrupt), interrupts.held():
            press()


def test_an_error_in_a_held_block_is_not_hidden():
    with Interrupts() as interrupts:
        interrupts.on_stage_start(None)
        with pytest.raises(OSError), interrupts.held():
            press()
            raise OSError


@pytest.mark.parametrize("number", NUMBERS)
def test_every_request_to_end_lets_the_step_end(number):
    with Interrupts() as interrupts:
        interrupts.on_stage_start(None)
        press(number)
        with pytest.raises(KeyboardInterrupt):
            interrupts.on_step(None)


def test_a_terminal_that_is_closed_says_so_twice_and_means_it_once():
    with Interrupts() as interrupts:
        interrupts.on_stage_start(None)
        for _ in range(3):
            press(signal.SIGHUP)
        with pytest.raises(KeyboardInterrupt):
            interrupts.on_step(None)
        with interrupts.held():
            press(signal.SIGHUP)
        press(signal.SIGHUP)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_that_was_ignored_stays_ignored(number):
    signal.signal(number, signal.SIG_IGN)
    with Interrupts() as interrupts:
        interrupts.on_stage_start(None)
        press(number)
        interrupts.on_step(None)
    assert signal.getsignal(number) is signal.SIG_IGN


def test_the_handlers_from_before_are_put_back():
    before = [signal.getsignal(number) for number in NUMBERS]
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) not in before
    assert [signal.getsignal(number) for number in NUMBERS] == before
