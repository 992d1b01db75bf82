"""`train`: a network for the problem of a config file."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from pinn.cli.configured import (
    add_config,
    add_track,
    check_device,
    mistakes_of,
    read_config,
)
from pinn.cli.other_settings import OtherSettings
from pinn.cli.output import QuietStream, hush, say, tell
from pinn.cli.verdict import DISK_OR_DEVICE, DIVERGED, DONE, INTERRUPTED, Misuse

if TYPE_CHECKING:
    from pathlib import Path

    from autograd.ranks import Ranks
    from pinn.config import Config
    from pinn.runs.interrupts import Interrupts
    from pinn.runs.recorder import Recorder
    from pinn.solution.solution import Solution
    from pinn.solving import Session
    from pinn.tracking import Tracker
    from pinn.training.shown.progress import Progress

_ABOUT = """\
Train a network on the problem of a config file. Everything goes to one directory
(runs/NAME-SEED unless --out says otherwise): config.yaml with every default filled in,
metrics.jsonl, summary.json, solution.npz, checkpoint.npz and figures/.
Ctrl-C stops after the current step and writes all of them, as does the end of the
terminal; a second Ctrl-C stops at once and draws no figures. The same command with
--resume goes on with a run that was cut short, whatever did that.
"""
_EPILOG = """\
example:
  python -m pinn train configs/burgers.yaml --set problem.constants.nu=0.05 --out runs/thick
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "train",
        help="train a network on the problem of a config file",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_config(parser)
    parser.add_argument("--out", metavar="DIR", help="the run directory")
    parser.add_argument("--overwrite", action="store_true", help="replace the run that is there")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with the run that is in its directory and was cut short, bit for bit",
    )
    parser.add_argument(
        "--extend",
        action="store_true",
        help="go on with a run that has ended, with the higher limits that are now given",
    )
    add_track(parser)
    parser.add_argument("--quiet", action="store_true", help="print only the final line")
    parser.set_defaults(command=train)


def train(arguments: argparse.Namespace) -> int:
    """Train, save and draw; return the exit code.

    Of the ranks that an MPI launcher has started rank 0 writes and speaks; the others take part.
    """
    ranks = _ranks()
    if ranks.number:
        return _take_part(arguments, ranks)
    with ExitStack() as with_others:
        with_others.enter_context(ranks.together())
        config = read_config(arguments)
        code, _ = train_config(config, arguments, ranks=ranks, let_others_go=with_others.close)
        return code


def train_config(
    config: Config,
    arguments: argparse.Namespace,
    callbacks: Sequence[Any] = (),
    ranks: Ranks | None = None,
    let_others_go: Callable[[], None] = lambda: None,
) -> tuple[int, str]:
    """Do the same with a config that has been read; return the exit code, and why the run failed.

    The second is empty where it did not. callbacks: more of them. ranks: who share the work, this
    process alone where left out. let_others_go: called when all is computed, and rank 0 writes the
    results.
    """
    from autograd.ranks import ALONE

    ranks = ranks or ALONE
    checkpoint, overwrite, ended = _begin(config, arguments)
    ranks.agreed(lambda: (ended is None, checkpoint))
    if ended is not None:
        say(f"{config.experiment.problem.name}: {ended}")
        return DONE, ""
    if ranks.size > 1 and not arguments.quiet:
        tell(f"{ranks.size} processes share the points")
    return _run(config, checkpoint, overwrite, arguments.quiet, callbacks, ranks, let_others_go)


def _ranks() -> Ranks:
    """Return who computes: the ranks that an MPI launcher has started, or this process."""
    from autograd.launched import started_as_ranks
    from autograd.mpi import ranks_of

    try:
        return ranks_of("ranks" if started_as_ranks() else "process")
    except ImportError as error:
        raise Misuse(f"several processes were started as by mpiexec, and {error}") from error


def _take_part(arguments: argparse.Namespace, ranks: Ranks) -> int:
    """Compute the share of a rank; what goes wrong rank 0 tells, and has the exit code of."""
    hush()
    with suppress(Exception, KeyboardInterrupt), ranks.together():
        begins, checkpoint = ranks.agreed(lambda: (False, None))
        if begins:
            _solved(read_config(arguments), ranks, [], checkpoint)
    return DONE


def _begin(config: Config, arguments: argparse.Namespace) -> tuple[Path | None, bool, str | None]:
    """Return what to go on from, whether to overwrite, and why there is nothing to do."""
    from pinn.runs import check_free

    check_device(config)  # before the directory: freeing that would not help
    overwrite, checkpoint = arguments.overwrite, None
    if arguments.resume or arguments.extend:
        checkpoint, ended = _left_there(config, arguments)
        if ended is not None:
            return None, False, ended
        overwrite = checkpoint is None
    if checkpoint is None:
        check_free(config.directory, overwrite)
    return checkpoint, overwrite, None


def _run(
    config: Config,
    checkpoint: Path | None,
    overwrite: bool,
    quiet: bool,
    callbacks: Sequence[Any],
    ranks: Ranks,
    let_others_go: Callable[[], None],
) -> tuple[int, str]:
    """Train in the run directory, and write the results there; return as `train_config` does."""
    from pinn.runs.interrupts import Interrupts
    from pinn.runs.recorder import Recorder

    shown = [] if quiet else [_shown()]
    warn = shown[0].tell if shown else tell
    recorder = Recorder(
        config.directory, config.text(), config.log_every, config.output.checkpoint_seconds,
        overwrite, warn=warn,
    )  # fmt: skip
    trackers = [
        tracker.within(config.directory, config.log_every, warn)
        for tracker in config.output.tracking
    ]
    with recorder, Interrupts(ranks) as interrupts:
        others = [OtherSettings(config, one.tell) for one in shown]
        told = [_Rehearsal(), *others, recorder, *trackers, *shown, *callbacks, interrupts]
        try:
            solution = _solve(config, ranks, recorder, told, quiet, checkpoint)
        except BaseException as error:
            with interrupts.held():
                _save_reached(recorder, error)
                _finish_logs(trackers)
            if isinstance(error, KeyboardInterrupt) and recorder.run is not None:
                return INTERRUPTED, ""
            raise
        let_others_go()
        return _finish(recorder, interrupts, solution, trackers, quiet)


def _left_there(config: Config, arguments: argparse.Namespace) -> tuple[Path | None, str | None]:
    """Return the run directory to go on in, None to begin one; and why there is nothing to do."""
    from pinn.runs import Run, is_run

    directory = config.directory
    if arguments.overwrite:
        raise Misuse("--overwrite begins a run anew, and --resume and --extend go on with it")
    if not is_run(directory):
        tell(f"{directory}: no run is there yet; it begins now")
        return None, None
    run, end = Run(directory), ended_there(config)
    if end is not None and not arguments.extend:
        others = f" (other limits: {end.other_limits})" if end.other_limits else ""
        return None, (
            f"the run in {directory} has ended: {end.why}{others}; --extend goes on with it where "
            "a limit is raised, such as --seconds"
        )
    if end is not None and not end.raised:
        raise Misuse(
            f"--extend: the run in {directory} has ended, and no limit is raised; give a higher "
            "one, such as --seconds or the steps of a stage"
        )
    if run.checkpoint_path.exists() or run.previous_checkpoint_path.exists():
        return directory, None
    if end is not None or run.solution_path.exists():
        raise Misuse(
            f"{directory}: its results are there, and no checkpoint to go on from; --overwrite "
            "begins it anew"
        )
    tell(f"{directory}: the run was cut short before its first checkpoint; it begins anew")
    return None, None


class End(NamedTuple):
    """How the run in a config's directory has ended.

    why: a sentence. other_limits: where the config has others, with what is there and here. raised:
    whether the run may go on for longer by them; so where its checkpoint does not say, which is
    told when it is gone on with.
    """

    why: str
    other_limits: str = ""
    raised: bool = True


def ended_there(config: Config) -> End | None:
    """Return how the run in a config's directory has ended; None where it has not, or is not there.

    Misuse where it is of another config.
    """
    from pinn.files import DamagedFile
    from pinn.runs import Run, is_run
    from pinn.solution.resuming import other_limits

    why = Run(config.directory).end() if is_run(config.directory) else None
    if why is None:
        return None
    try:
        return End(why, *other_limits(config.directory, config.experiment))
    except (FileNotFoundError, DamagedFile):
        return End(why)
    except ValueError as error:
        raise Misuse(str(error)) from error


def _solve(
    config: Config,
    ranks: Ranks,
    recorder: Recorder,
    callbacks: list,
    quiet: bool,
    checkpoint: Path | None,
) -> Solution:
    """Train; what is refused before training begins is a mistake in the config.

    What seems wrong with the problem is a line each; the final line counts them, and summary.json
    has them, also of a quiet run.
    """
    import warnings

    import pinn

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if not issubclass(category, pinn.ProblemWarning):
            usual(message, category, *place)
        elif not quiet:
            tell(f"warning: {message}")

    with mistakes_of(config, lambda: recorder.run is not None), warnings.catch_warnings():
        warnings.simplefilter("always", pinn.ProblemWarning)
        usual, warnings.showwarning = warnings.showwarning, show
        return _solved(config, ranks, callbacks, checkpoint)


def _solved(config: Config, ranks: Ranks, callbacks: list, checkpoint: Path | None) -> Solution:
    import pinn

    arguments = config.experiment.arguments
    arguments["executor"] = "ranks" if ranks.size > 1 else "process"  # the launcher knows
    return pinn.solve(**arguments, callbacks=callbacks, resume=checkpoint)


class _Rehearsal:
    """Evaluates the objective once before anything is written.

    What only shows then (a derivative that an operation lacks, an executor that is not there, a
    compiler's error) is said before the run directory exists. Of windows of time two show all that
    any show: training never takes all of them at once, and compiling them takes as long
    as many of its steps.
    """

    def on_start(self, session: Session) -> None:
        from pinn.models import Windows

        objective, model = session.objective, session.experiment.model
        if isinstance(model, Windows) and model.count > 2:
            few = dataclasses.replace(model, count=2, breaks=None, until=None)
            objective = dataclasses.replace(session.experiment, model=few).objective()
        objective.value_and_gradient(objective.theta)


def _shown() -> Progress:
    """Progress on stderr, without its end, which the command prints with the names of files."""
    from pinn.models.in_words import in_words
    from pinn.training.shown.progress import Progress

    class Shown(Progress):
        """What a run is made of, and its progress."""

        def on_start(self, session: Session) -> None:
            super().on_start(session)
            experiment = session.experiment
            blocks = session.objective.blocks
            points = ", ".join(f"{block.name} {len(block.points)}" for block in blocks)
            self.tell(
                f"{experiment.problem.name}: {in_words(experiment.model)}; "
                f"{session.objective.size} trainable numbers, {experiment.precision} on "
                f"{experiment.device}; points: {points}"
            )

        def on_end(self, solution: Solution) -> None:
            return None

    return Shown(QuietStream(sys.stderr))


# ---- after training


def _save_reached(recorder: Recorder, error: BaseException) -> None:
    """Save what training had reached when it ended without a solution."""
    interrupted = isinstance(error, KeyboardInterrupt)
    reason = "interrupted" if interrupted else "failed"
    try:
        saved = recorder.write_reached(error)
    except OSError as trouble:
        tell(str(trouble))
        return
    if saved:
        tell(f"{reason}; what training had reached is in {recorder.directory}")
    elif interrupted and recorder.run is not None:
        tell(f"interrupted before the first step; the run is in {recorder.directory}")


def _finish_logs(trackers: list[Tracker], quiet: bool = True) -> None:
    """Wait until other tools have what was sent to them, and say where they keep it."""
    for tracker in trackers:
        where = tracker.where
        tracker.wait()
        if where and not quiet:
            tell(f"{type(tracker).__name__}: the log is in {where}")


def _finish(
    recorder: Recorder,
    interrupts: Interrupts,
    solution: Solution,
    trackers: list[Tracker],
    quiet: bool,
) -> tuple[int, str]:
    """Save the results, say what they are, draw the figures; return as `train_config` does."""
    from pinn.files import sentence_of
    from pinn.runs.figures import draw_run
    from pinn.solution.report_text import report_text
    from pinn.training.shown.progress import estimate_time

    directory, report = recorder.directory, solution.report
    code = {"diverged": DIVERGED, "interrupted": INTERRUPTED}.get(str(report.stop_reason), DONE)
    failures: list[str] = []

    def tell_failure(sentence: str) -> None:
        tell(sentence)
        failures.append(sentence)

    try:
        with interrupts.held():
            try:
                recorder.write_results(solution)
            except OSError as error:
                tell_failure(str(error))
                code = DISK_OR_DEVICE
            if not quiet:
                took = estimate_time(report)
                also = f"\n{took}" if took else ""
                tell(f"\n{report_text(report, f'{directory}{os.sep}')}{also}\n")
            _finish_logs(trackers, quiet)
            say(f"{solution.problem.name}: {report.summary()}; results in {directory}")
            if report.stop_reason == "diverged":
                tell_failure(_about_divergence(solution, directory, quiet))
            elif report.stop_reason == "interrupted":
                tell(f"{report.message}: a checkpoint is in {recorder.run.checkpoint_path}")
        if not quiet:  # of a large network they take as long as an error estimate
            tell(f"drawing the figures into {os.path.join(directory, 'figures')}")
        draw_run(recorder.run, solution)
    except KeyboardInterrupt:
        tell(f"no figures were drawn; python -m pinn plot {directory} draws them")
        code = code or INTERRUPTED
    except OSError as error:
        tell_failure(f"the figures are not complete: {sentence_of(error)}")
        code = DISK_OR_DEVICE
    return code, "\n".join(failures)


def _about_divergence(solution: Solution, directory: Any, quiet: bool) -> str:
    report = solution.report
    remedy = ". A smaller learning_rate of adam or other weighting may help"
    untold = report.setbacks if quiet else ()  # else they were told when they came
    return "\n".join(
        [
            *(f"went back: {setback}" for setback in untold),
            f"training diverged: {report.message}; its last good state is in {directory}"
            f"{remedy if report.steps else ''}",
        ]
    )
