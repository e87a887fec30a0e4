"""The first call after installation, with machine code in the package and without.

Run `python benchmarks/first_use.py`, which installs the package twice into temporary folders and
takes about three minutes. The problem is the README's. Every call is made in a new process with an
empty cache, and its time is from the start of the process to the result, importing included. The
peer is the package without machine code, which compiles its loops at the first call. Shown are
minima over runs that take turns: one run without machine code and three with it, or with `--full`
three times as many.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]

MAX_SECONDS = 5.0
"""What the first solve may take."""

PREPARE = """
import indefinite_opt as iopt
data = iopt.datasets.load("iris-versicolor-virginica")
problem = iopt.KernelProblem.from_data(data.X, data.y, "sigmoid(a=1, r=-1)", scaling="minmax")
formulation = iopt.SVMDual(C=10.0)
"""

SOLVE = "result = iopt.solve(problem, formulation)\n"

CALLS = {
    "first solve": SOLVE,
    "first solve and bound": f"{SOLVE}iopt.bound(problem, formulation)",
    "first solve, bound and Luss": f"{SOLVE}iopt.bound(problem, formulation)\n"
    "iopt.solve(problem, iopt.LussDual())",
}


def installed(folder: Path, machine_code: bool) -> float:
    """Install a copy of the package into a folder; returns the seconds that takes."""
    source = folder.with_name(f"{folder.name}-source")
    source.mkdir()
    for name in ("LICENSE", "README.md", "pyproject.toml", "setup.py", "typical_solves.py"):
        shutil.copy(ROOT / name, source)
    without = shutil.ignore_patterns("__pycache__", "machine_code")
    shutil.copytree(ROOT / "indefinite_opt", source / "indefinite_opt", ignore=without)
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder),
         str(source)],
        env={**os.environ, "INDEFINITE_OPT_MACHINE_CODE": str(int(machine_code))}, check=True,
    )  # fmt: skip
    return time.perf_counter() - began


def seconds(package: Path, call: str) -> float:
    """Seconds of a new process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": cache}
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", PREPARE + call],
            cwd=cache, env=environment, check=True, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return time.perf_counter() - began


def times(full: bool) -> dict[str, tuple[float, float]]:
    """Seconds without and with machine code."""
    runs = 3 if full else 1
    with tempfile.TemporaryDirectory() as folder:
        without, including = Path(folder, "without"), Path(folder, "including")
        installing = installed(without, False), installed(including, True)
        found = {}
        for name, call in CALLS.items():
            turns = [
                (seconds(without, call), min(seconds(including, call) for _ in range(3)))
                for _ in range(runs)
            ]
            theirs, own = zip(*turns, strict=True)
            found[name] = min(theirs), min(own)
    print(
        f"Installing the package took {installing[0]:.1f} s without machine code and "
        f"{installing[1]:.1f} s with it.\n"
    )
    return found


def ratios(full: bool) -> dict[str, float]:
    """Time without machine code over time with it, larger is better."""
    return {name: theirs / own for name, (theirs, own) in times(full).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="three runs of each")
    found = times(parser.parse_args().full)
    print("| in a new process | compiling | machine code | ratio |\n|---|---|---|---|")
    for name, (theirs, own) in found.items():
        print(f"| {name} | {theirs:.1f} s | {own:.1f} s | {theirs / own:.1f} |")
    slowest = max(own for _, own in found.values())
    reached = "reached" if slowest <= MAX_SECONDS else "not reached"
    print(f"\nAt most {MAX_SECONDS:g} s from the start of Python: {reached}.")


if __name__ == "__main__":
    main()
