"""`python -m pinn`."""

from pinn.cli import run

if __name__ == "__main__":
    run()
