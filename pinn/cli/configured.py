"""What commands share that work on a config file: its arguments, and what counts as its mistake."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pinn.cli.verdict import Misuse

if TYPE_CHECKING:
    from pinn.config import Config

_SHORTCUTS = {
    "seconds": "seconds", "seed": "seed", "device": "device", "threads": "threads",
    "out": "output.directory",
}  # fmt: skip


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add CONFIG and the options that change it for once."""
    parser.add_argument(
        "config", metavar="CONFIG",
        help="a YAML file such as configs/burgers.yaml, or the name of one that ships: burgers",
    )
    parser.add_argument(
        "--set",
        metavar="KEY.PATH=VALUE",
        action="append",
        default=[],
        help="change one value of the config, list items by number; may be given many times",
    )
    parser.add_argument(
        "--seconds", metavar="S",
        help="limit of the training's time, the same as --set seconds=S; the error estimate at the "
        "end comes on top: 2 to 5 s for networks of a thousand numbers, 10 to 40 s for 2000 random "
        "features, but half of S at most, or 5 s (--set error_bars=false leaves it out)",
    )
    parser.add_argument("--seed", metavar="N", help="the same as --set seed=N")
    parser.add_argument("--device", metavar="cpu|cuda|cuda:N", help="the same as --set device=...")
    parser.add_argument("--threads", metavar="N", help="the same as --set threads=N")


def add_track(parser: argparse.ArgumentParser) -> None:
    """Add --track, of the commands that train."""
    parser.add_argument(
        "--track", metavar="TOOL", action="append",
        help="log runs with tensorboard, wandb or mlflow as well; may be given many times",
    )


def read_config(arguments: argparse.Namespace) -> Config:
    """Return the config of a command line; ConfigError with every mistake."""
    from pinn.config import Override, load
    from pinn.config.shipped import found_config

    overrides = [Override.parse(text, f"--set {text}") for text in arguments.set]
    for option, path in _SHORTCUTS.items():
        text = getattr(arguments, option, None)
        if text is not None:
            overrides.append(Override.of(path, text, f"--{option} {text}"))
    trackers = getattr(arguments, "track", None)
    if trackers:
        source = " ".join(f"--track {name}" for name in trackers)
        overrides.append(Override.parse(f"output.tracking=[{', '.join(trackers)}]", source))
    overrides += getattr(arguments, "overrides", [])  # of a sweep
    try:
        path = found_config(arguments.config)
    except ValueError as error:
        raise Misuse(f"{arguments.config}: no such file, and {error}") from None
    return load(path, overrides)


def check_device(config: Config) -> None:
    """Raise DeviceError, in the words of the command line, where the device cannot be used."""
    from autograd.devices import DeviceError, as_device

    device = config.experiment.device
    try:
        as_device(device)
    except DeviceError as error:
        place = config.reader.place(("device",))
        option = str(place) if place.line is None else ""  # as it was typed
        if not isinstance(error.__cause__, ModuleNotFoundError):
            raise DeviceError(f"{option}: {error}" if option else str(error)) from error
        raise DeviceError(
            f"{option or f'device {device!r}'} needs cupy, which is not installed; for CUDA 12 "
            'pip install ".[gpu12]" brings it, for CUDA 13 pip install ".[gpu13]"; or choose the '
            "device cpu"
        ) from error


@contextmanager
def mistakes_of(config: Config, ended: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Take what is refused inside the block for a mistake in a config: raise ConfigError.

    ended: whether it is too late for that, as when training has begun.
    """
    from autograd.plan.executors import ExecutorError

    try:
        yield
    except ExecutorError:  # of the environment, and of no config
        raise
    except (TypeError, ValueError, ImportError) as error:
        if ended():
            raise
        raise config.mistakes(error) from error
