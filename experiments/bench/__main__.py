"""Run the benchmarks from the command line."""

from experiments.bench.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
