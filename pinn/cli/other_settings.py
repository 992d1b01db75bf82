"""Settings that a run is gone on with, other than those it had."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinn.config import Config
    from pinn.solving import Session


class OtherSettings:
    """Tells in a line what is other than in the config.yaml of the run that is gone on with.

    What makes it another run has been refused by then: limits, output and threads are left. Comes
    before the recorder, which writes the config anew. tell: gets the line, where there is one.
    """

    def __init__(self, config: Config, tell: Callable[[str], object]) -> None:
        self._config, self._tell = config, tell

    def on_start(self, session: Session) -> None:
        from pinn.config import ConfigError
        from pinn.config.yaml_tree import leaves, parse_yaml, read_yaml
        from pinn.runs import Run
        from pinn.runs.comparison import differences

        if session.resumed.resume is None:
            return
        path = Run(self._config.directory).config_path
        with suppress(ConfigError):  # a checkpoint is all that is gone on from: none is needed
            before = leaves(read_yaml(path, str(path)))
            now = leaves(parse_yaml(self._config.text(), self._config.source))
            found = differences([before, now], but="output.directory")  # it may have been moved
            told = ", ".join(f"{key} {new} ({old} before)" for key, (old, new) in found.items())
            if told:
                self._tell(f"{path.parent}: goes on with other settings: {told}")
