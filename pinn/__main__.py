"""`python -m pinn`."""

import signal
import sys

from pinn.cli import main

if __name__ == "__main__":
    code = main()
    # All is written and said; an impatient Ctrl-C must not turn the exit into a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)
