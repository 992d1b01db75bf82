"""The command line: one command a file, arguments in, exit code out."""

from pinn.cli.main import main, run

__all__ = ["main", "run"]
