"""Runs that are handed to workers: in their order, again when a worker is lost, until Ctrl-C."""

from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path

import pytest

from pinn.runs.jobs import Ended, Job, Wanted, run_jobs
from pinn.runs.processes import CannotBegin


class Told(list):
    """Lines, as a function that takes them."""

    def __call__(self, line):
        self.append(line)


class Ends(dict):
    """How jobs ended by directory, as a function that takes both."""

    def __call__(self, job, ended):
        self[job.directory] = ended


class Scripted(Executor):
    """Gives every job what a script has for it, attempt by attempt; an exception is a lost worker.

    None is a job that is not done until it is cancelled, or until the file that it asks for is
    gone.
    """

    def __init__(self, script):
        self.script = script
        self.given = []

    def submit(self, work, job):
        self.given.append(job)
        outcome = self.script[job.directory][job.attempt - 1]
        if outcome == "full":
            raise RuntimeError("cannot schedule new futures")
        future = Future()
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        elif outcome is None:
            future.done = lambda: future.cancelled() or not job.is_wanted
            future.result = lambda: Ended(None, "interrupted after step 3")
        else:
            future.set_result(work(job, outcome))
        return future


def work(job, code):
    return Ended(code, f"code {code}")


def jobs(folder, *names):
    return [Job(name, "", str(folder)) for name in names]


def done(folder, script, told, **options):
    executor, ends = Scripted(script), Ends()
    run_jobs(
        jobs(folder, *script), work, executor, on_end=ends, folder=folder, tell=told, **options
    )
    return {name: ended.code for name, ended in ends.items()}, executor


def test_every_job_ends_whatever_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = Told()
    codes, executor = done(tmp_path, {"a": [0], "b": [3], "c": [0]}, told)
    assert codes == {"a": 0, "b": 3, "c": 0}
    assert sorted(told) == ["a (1 of 3): code 0", "b (2 of 3): code 3", "c (3 of 3): code 0"]
    assert [job.attempt for job in executor.given] == [1, 1, 1]


def test_the_run_of_a_lost_worker_is_taken_up_by_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = Told()
    lost = OSError("killed")
    codes, executor = done(tmp_path, {"a": [lost, lost, 0], "b": [0]}, told)
    assert codes == {"a": 0, "b": 0}
    assert [job.attempt for job in executor.given if job.directory == "a"] == [1, 2, 3]
    again = "a (1 of 2): its worker was lost (OSError); another takes the run up"
    assert [line for line in told if line.startswith("a")] == [again, again, "a (1 of 2): code 0"]


def test_a_worker_that_is_asked_to_end_leaves_its_run_to_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told, ends = Told(), Ends()
    script = {"a": ["cut", 0]}

    def cut_short(job, outcome):
        return Ended(None, "interrupted") if outcome == "cut" else Ended(outcome, "ended")

    run_jobs(
        jobs(tmp_path, "a"), cut_short, Scripted(script), on_end=ends, folder=tmp_path, tell=told
    )
    assert ends == {"a": Ended(0, "ended")}
    assert told[0] == "a (1 of 1): interrupted; another takes the run up"


def test_workers_are_not_lost_without_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = Told()
    codes, executor = done(tmp_path, {"a": [OSError("killed")] * 9, "b": [0]}, told, tries=4)
    assert codes == {"a": None, "b": 0}
    assert len(executor.given) == 5
    assert "a (1 of 2): its worker was lost (OSError), as were all 4 that had it: killed" in told


def test_an_executor_that_takes_nothing_more_costs_the_run_and_no_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = Told()
    codes, _ = done(tmp_path, {"a": [OSError("killed"), "full"], "b": [0]}, told)
    assert codes == {"a": None, "b": 0}
    assert (
        "a (1 of 2): no worker is left to take the run (RuntimeError: cannot schedule new futures)"
    ) in told


def test_ctrl_c_has_every_run_ended_and_waits_for_that(tmp_path, monkeypatch):
    """What became of those that had ended before is known by then."""
    monkeypatch.chdir(tmp_path)
    told, ends = Told(), Ends()
    Path("a").mkdir()

    def first_look(seconds):
        Path("a", ".pinn-run").write_text("begun")  # and b is still waiting for its turn
        monkeypatch.setattr("pinn.runs.jobs.time.sleep", interrupt)

    def interrupt(seconds):
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
        raise KeyboardInterrupt

    monkeypatch.setattr("pinn.runs.jobs.time.sleep", first_look)
    executor = Scripted({"a": [None], "b": [None], "c": [3]})
    with pytest.raises(KeyboardInterrupt):
        run_jobs(
            jobs(tmp_path, "a", "b", "c"), work, executor, on_end=ends, folder=tmp_path, tell=told
        )
    assert told == [
        "c (3 of 3): code 3",
        "a (1 of 3): begins",
        "every run ends after this step (Ctrl-C again: without waiting for that)",
        "a (1 of 3): interrupted after step 3",
    ]
    assert ends == {"c": Ended(3, "code 3")}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_ctrl_c_in_the_middle_of_a_look_leaves_nothing_untold(tmp_path, monkeypatch):
    """To see where a run goes on from, its checkpoint is read, which is most of a look."""
    monkeypatch.chdir(tmp_path)
    told, ends = Told(), Ends()
    Path("a").mkdir()

    def begin(seconds):
        Path("a", ".pinn-run").write_text("begun")

    def interrupt(run):
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
        raise KeyboardInterrupt

    monkeypatch.setattr("pinn.runs.jobs.time.sleep", begin)
    monkeypatch.setattr("pinn.runs.jobs.Run.last_step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(
            jobs(tmp_path, "a"), work, Scripted({"a": [None]}), on_end=ends, folder=tmp_path,
            tell=told,
        )  # fmt: skip
    assert told == [
        "every run ends after this step (Ctrl-C again: without waiting for that)",
        "a (1 of 1): begins",
        "a (1 of 1): interrupted after step 3",
    ]


class Refusing(Executor):
    """Has no process for a job, which shows when the job is not wanted any more."""

    def submit(self, work, job):
        def result():
            raise CannotBegin("no process begins")

        future = Future()
        future.set_running_or_notify_cancel()
        future.done, future.result = lambda: not job.is_wanted, result
        return future


def test_after_ctrl_c_a_process_that_does_not_begin_is_no_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told, ends = Told(), Ends()

    def interrupt(seconds):
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
        raise KeyboardInterrupt

    monkeypatch.setattr("pinn.runs.jobs.time.sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(
            jobs(tmp_path, "a", "b"), work, Refusing(), on_end=ends, folder=tmp_path, tell=told
        )
    assert told == ["every run ends after this step (Ctrl-C again: without waiting for that)"]
    assert not ends


def test_processes_that_do_not_begin_end_it_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CannotBegin):
        done(tmp_path, {"a": [CannotBegin("no process begins")], "b": [0]}, Told())


def test_jobs_that_are_done_here_end_with_ctrl_c(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told, ends, seen = Told(), Ends(), []

    def here(job):
        seen.append(job.directory)
        return Ended({"a": 3, "b": None, "c": 0}[job.directory], "ended")

    with pytest.raises(KeyboardInterrupt):
        run_jobs(
            jobs(tmp_path, "a", "b", "c"), here, None, on_end=ends, folder=tmp_path, tell=told
        )
    assert seen == ["a", "b"]
    assert ends == {"a": Ended(3, "ended")}
    assert told == [
        "a (1 of 3): begins", "a (1 of 3): ended", "b (2 of 3): begins", "b (2 of 3): ended"
    ]  # fmt: skip


def test_a_run_that_nobody_wants_any_more_ends_after_its_step(tmp_path, monkeypatch):
    clock = iter([0.0, 0.1, 1.0, 1.0, 2.0, 2.0])
    monkeypatch.setattr("pinn.runs.jobs.time.monotonic", lambda: next(clock))
    (job,) = jobs(tmp_path, "a")
    job = replace(job, wanted="asked-for")
    asked = tmp_path / "asked-for"
    asked.touch()
    wanted = Wanted(job)  # 0.0
    wanted.on_step(None)  # 0.1: it does not look
    wanted.on_step(None)  # 1.0, and remembers when
    asked.unlink()
    with pytest.raises(KeyboardInterrupt):
        wanted.on_step(None)  # 2.0
