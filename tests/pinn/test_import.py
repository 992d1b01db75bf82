"""What `import pinn` costs: processor time, which other processes on the machine do not change."""

import subprocess
import sys

SCRIPT = """
import sys, time
import numpy
began = time.process_time()
import pinn
print(time.process_time() - began)
heavy = {"scipy", "matplotlib", "tqdm", "yaml", "cupy", "numba"}
print(*sorted(heavy & set(sys.modules)))
"""


def test_importing_is_quick_and_light():
    times = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        seconds, heavy = done.stdout.split("\n")[:2]
        assert heavy == ""
        times.append(float(seconds))
    assert min(times) < 0.3
