"""The command line: arguments in, exit code out."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

if TYPE_CHECKING:
    from pathlib import Path

    from pinn.config import Config, Override
    from pinn.runs.recorder import Recorder
    from pinn.solution.solution import Solution
    from pinn.solving import Session

# Everything else is imported by the command that needs it: `--help` should not wait for numpy.

DONE, FAILED, USAGE, DIVERGED, DISK_OR_DEVICE, INTERRUPTED = 0, 1, 2, 3, 4, 130

_ABOUT = "Solve differential equations with neural networks."
_EPILOG = """\
example:
  python -m pinn train configs/burgers.yaml
  python -m pinn train configs/burgers.yaml --seed 1 --set training.0.adam.steps=500

The first line trains a network on Burgers' equation and leaves the solution, its
error and figures in runs/burgers-0. `python -m pinn COMMAND --help` tells more.

exit codes: 0 done, 2 wrong usage or config, 3 training diverged, 4 disk or device
failure, 130 interrupted (a checkpoint is written first)
"""
_TRAIN = """\
Train a network on the problem of a config file. Everything goes to one directory
(runs/NAME-SEED unless --out says otherwise): config.yaml with every default filled in,
metrics.jsonl, summary.json, solution.npz, checkpoint.npz and figures/.
Ctrl-C stops after the current step and writes a checkpoint.
"""
_TRAIN_EPILOG = """\
example:
  python -m pinn train configs/burgers.yaml --set problem.constants.nu=0.05 --out runs/thick
"""


def run() -> NoReturn:
    """Run the command line as a process of its own: `python -m pinn`, and the script `pinn`."""
    code = main()
    # All is written and said; an impatient Ctrl-C must not turn the exit into a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; messages go to stderr.

    argv: the arguments, sys.argv[1:] where left out. Raises SystemExit as argparse does, for
    --help and for wrong usage.
    """
    try:
        arguments = _parser().parse_args(argv)
        return arguments.command(arguments)
    except KeyboardInterrupt:
        _tell("interrupted")
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("PINN_DEBUG", "") not in ("", "0"):
            raise
        code, message = _verdict(error)
        _tell(message)
        return code
    finally:
        _flush(sys.stdout)


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m pinn", description=_ABOUT, epilog=_EPILOG, formatter_class=raw
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    train = commands.add_parser(
        "train",
        help="train a network on the problem of a config file",
        description=_TRAIN,
        epilog=_TRAIN_EPILOG,
        formatter_class=raw,
    )
    train.add_argument("config", metavar="CONFIG", help="a YAML file such as configs/burgers.yaml")
    train.add_argument(
        "--set",
        metavar="KEY.PATH=VALUE",
        action="append",
        default=[],
        help="change one value of the config, list items by number; may be given many times",
    )
    train.add_argument("--seed", metavar="N", help="the same as --set seed=N")
    train.add_argument("--device", metavar="cpu|cuda", help="the same as --set device=...")
    train.add_argument("--threads", metavar="N", help="the same as --set threads=N")
    train.add_argument("--out", metavar="DIR", help="the run directory")
    train.add_argument("--overwrite", action="store_true", help="replace the run that is there")
    train.add_argument("--quiet", action="store_true", help="print only the final line")
    train.set_defaults(command=_train)

    plot = commands.add_parser("plot", help="draw the figures of a run again")
    plot.add_argument("run", metavar="RUN", help="a run directory such as runs/burgers-0")
    plot.set_defaults(command=_plot)

    listing = commands.add_parser(
        "list", help="show the configs and the reference solutions that ship"
    )
    listing.set_defaults(command=_list)
    return parser


class _Version(argparse.Action):
    """--version, which looks the version up only when asked."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        from pinn.runs.machine import machine_and_versions

        versions = machine_and_versions()["versions"]
        others = ", ".join(f"{name} {versions[name]}" for name in ("python", "numpy", "scipy"))
        print(f"pinn {versions['pinn']} ({others})")
        parser.exit()


# ---- commands


def _train(arguments: argparse.Namespace) -> int:
    from pinn.config import load
    from pinn.runs.interrupts import Interrupts
    from pinn.runs.recorder import Recorder, write_figures
    from pinn.runs.run import Run

    config = load(arguments.config, _overrides(arguments))
    directory = config.directory
    Run.check_free(directory, arguments.overwrite)
    recorder = Recorder(directory, config.text(), config.log_every, arguments.overwrite)
    with Interrupts() as interrupts:
        callbacks = [recorder, *_progress(arguments.quiet), interrupts]
        try:
            solution = _solve(config, recorder, callbacks)
        except KeyboardInterrupt:
            # A second Ctrl-C: there is no solution to write, but there may be a step.
            if recorder.run is None:
                raise
            with interrupts.held():
                recorder.write_checkpoint()
            _tell(f"interrupted; the run is in {directory}")
            return INTERRUPTED
        with interrupts.held():
            recorder.write_results(solution)
        report = solution.report
        if report.stop_reason == "interrupted":
            _tell(
                f"{report.message}: a checkpoint is in {recorder.run.checkpoint_path}; "
                f"python -m pinn plot {directory} draws what there is"
            )
            return INTERRUPTED
        write_figures(recorder.run, solution)
    if report.stop_reason == "diverged":
        remedy = ". A smaller learning_rate of adam or other weighting may help"
        _tell(
            f"training diverged: {report.message}; its last good state is in {directory}"
            f"{remedy if report.steps else ''}"
        )
        return DIVERGED
    _say(f"{config.experiment.problem.name}: {report.summary()}; results in {directory}")
    return DONE


def _solve(config: Config, recorder: Recorder, callbacks: list) -> Solution:
    """Train; what is refused before training begins is a mistake in the config."""
    import pinn
    from pinn.config import Complaint, ConfigError, Place

    try:
        return pinn.solve(**vars(config.experiment), callbacks=callbacks)
    except (TypeError, ValueError) as error:
        if recorder.run is not None:
            raise
        raise ConfigError([Complaint(Place(config.source), "", str(error))]) from error


def _progress(quiet: bool) -> list:
    """The callbacks that show progress on stderr; the final line is printed by the command."""
    if quiet:
        return []
    from types import SimpleNamespace

    import pinn

    progress = pinn.Progress(_Unbreakable(sys.stderr))
    events = ("on_stage_start", "on_step", "on_stage_end")
    shown = {event: getattr(progress, event) for event in events}
    return [SimpleNamespace(on_start=_announce, **shown)]


def _announce(session: Session) -> None:
    experiment = session.experiment
    points = ", ".join(f"{block.name} {len(block.points)}" for block in session.objective.blocks)
    _tell(
        f"{experiment.problem.name}: {session.objective.size} trainable numbers, "
        f"{experiment.precision} on {experiment.device}; points: {points}"
    )


def _overrides(arguments: argparse.Namespace) -> list[Override]:
    from pinn.config import Override

    overrides = [Override.parse(text, f"--set {text}") for text in arguments.set]
    shortcuts = {"seed": "seed", "device": "device", "threads": "threads",
                 "out": "output.directory"}
    for option, path in shortcuts.items():
        text = getattr(arguments, option)
        if text is not None:
            overrides.append(Override.of(path, text, f"--{option} {text}"))
    return overrides


def _plot(arguments: argparse.Namespace) -> int:
    import pinn
    from pinn.runs.recorder import write_figures
    from pinn.runs.run import Run

    try:
        run = Run.open(arguments.run)
    except FileNotFoundError as error:
        raise _Misuse(str(error)) from error
    saved = [path for path in (run.solution_path, run.checkpoint_path) if path.exists()]
    if not saved:
        raise _Misuse(f"{run.directory}: neither solution.npz nor checkpoint.npz to draw is there")
    for path in write_figures(run, pinn.load(saved[0])):
        _say(str(path))
    return DONE


def _list(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from pinn.problem import references

    # Beside the package in a checkout; below the working directory in any other project.
    folders = [Path(__file__).resolve().parent.parent / "configs", Path("configs").resolve()]
    files = {path: None for folder in folders for path in sorted(folder.glob("*.yaml"))}
    _say("configs:" if files else "configs: none here; they lie in the folder configs/ of pinn")
    for path in files:
        shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
        _say(f"  {shown}  {_first_comment(path)}")
    _say("references:")
    for name in references.names():
        _say(f"  {name}  {references.get(name).source}")
    return DONE


def _first_comment(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        line = file.readline().strip()
    return line.lstrip("# ") if line.startswith("#") else ""


# ---- messages


class _Misuse(Exception):
    """A command that was given something it cannot work with."""


def _verdict(error: Exception) -> tuple[int, str]:
    """The exit code and the message that an error ends the command with."""
    from autograd.devices import DeviceError
    from pinn.config import ConfigError
    from pinn.runs.run import RunExists

    if isinstance(error, ConfigError | RunExists | _Misuse):
        return USAGE, str(error)
    if isinstance(error, DeviceError):
        return DISK_OR_DEVICE, str(error)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename is not None else ""
        return DISK_OR_DEVICE, f"{where}{error.strerror or error}"
    if isinstance(error, MemoryError):
        remedy = "take fewer points (sampling.interior) or a smaller model"
        return DISK_OR_DEVICE, f"out of memory: {str(error) or 'no more is free'}; {remedy}"
    return FAILED, (
        f"unexpected {type(error).__name__}: {error}\n"
        "run again with PINN_DEBUG=1 for the traceback"
    )


class _Unbreakable:
    """A stream that goes quiet when nobody reads it: that must not cost anyone a training run."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            _abandon(self._stream)
            return len(text)

    def flush(self) -> None:
        _flush(self._stream)


def _say(line: str) -> None:
    print(line, file=_Unbreakable(sys.stdout), flush=True)


def _tell(line: str) -> None:
    print(line, file=_Unbreakable(sys.stderr), flush=True)


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except BrokenPipeError:
        _abandon(stream)


def _abandon(stream: TextIO) -> None:
    """Send the rest of a stream nowhere, so that Python can flush it at exit without complaint."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
