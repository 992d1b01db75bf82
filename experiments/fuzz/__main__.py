"""Try many mutations, and print each kind of finding once."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

import pinn
from experiments.fuzz.configs import configs
from experiments.fuzz.expressions import random_text
from experiments.fuzz.mutations import all_mutations, random_mutation, read, write
from experiments.fuzz.trying import try_check, try_config, try_expression

PROBLEM = pinn.Problem(
    pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u", "v"], {"f": "u_t + v", "g": "v_t - u"},
    constants={"nu": 0.1, "k": 2}, parameters=[pinn.Parameter("a", 0.1)],
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="random texts of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true", help="every mutation of one place first")
    parser.add_argument("--deep", action="store_true", help="check configs, not only load them")
    parser.add_argument("--only", help="one of the configs, or expressions")
    arguments = parser.parse_args()
    findings: dict[str, str] = {}
    tried = 0

    def note(finding: str | None, text: str) -> None:
        nonlocal tried
        tried += 1
        if finding is not None and finding not in findings:
            findings[finding] = text
            print(f"{finding}\n{text}\n{'-' * 70}", flush=True)

    roots = {name: read(text) for name, text in configs().items()}
    if arguments.only:
        roots = {name: root for name, root in roots.items() if name == arguments.only}
    attempt = try_check if arguments.deep else try_config
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.yaml"
        for name, root in roots.items():
            if arguments.all:
                for changed in all_mutations(root):
                    note(attempt(write(changed), path), write(changed))
            rng = np.random.default_rng([arguments.seed, *name.encode()])
            for _ in range(arguments.count):
                text = write(random_mutation(root, rng, int(rng.integers(1, 4))))
                note(attempt(text, path), text)
    if not arguments.only or arguments.only == "expressions":
        rng = np.random.default_rng(arguments.seed)
        for _ in range(arguments.count):
            text = random_text(rng)
            note(try_expression(text, PROBLEM), repr(text))
    print(f"{tried} texts, {len(findings)} findings")


if __name__ == "__main__":
    main()
