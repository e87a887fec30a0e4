"""The first calls after installation, when compiled loops are not yet kept on disk.

Run `python benchmarks/first_use.py`, which installs the package into a temporary folder and takes
about three minutes. The problem is the README's. Every call is made in a new process: first with an
empty cache, so that loops are compiled, and then again, with the loops that are kept since. Times
are from the start of the process to the result, importing included. With `--full` the least of
three runs is shown.
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

PREPARE = """
import indefinite_opt as iopt
data = iopt.datasets.load("iris-versicolor-virginica")
problem = iopt.KernelProblem.from_data(data.X, data.y, "sigmoid(a=1, r=-1)", scaling="minmax")
formulation = iopt.SVMDual(C=10.0)
"""

COMPARE = ("compare", "iris-versicolor-virginica", "--a", "1", "--r", "-1")

CALLS: dict[str, tuple[str, ...]] = {
    "solve": ("-c", f"{PREPARE}iopt.solve(problem, formulation)"),
    "bound": ("-c", f"{PREPARE}iopt.bound(problem, formulation)"),
    "the README's compare": ("-m", "indefinite_opt", *COMPARE),
}


def installed(folder: Path) -> float:
    """Install a copy of the package into a folder; returns the seconds that takes."""
    source = folder.with_name(f"{folder.name}-source")
    source.mkdir()
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, source)
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "indefinite_opt", source / "indefinite_opt", ignore=without)
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder),
         str(source)],
        check=True,
    )  # fmt: skip
    return time.perf_counter() - began


def seconds(package: Path, call: tuple[str, ...], folder: str) -> float:
    """Seconds of a new process in a folder that has the cache of loops."""
    environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": f"{folder}/cache"}
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *call], cwd=folder, env=environment, check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return time.perf_counter() - began


def times(full: bool) -> dict[str, tuple[float, float]]:
    """Seconds of the first and of the second call."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "package")
        print(f"Installing the package took {installed(package):.1f} s.\n")
        found = {}
        for name, call in CALLS.items():
            runs = []
            for _ in range(3 if full else 1):
                with tempfile.TemporaryDirectory() as place:
                    runs.append([seconds(package, call, place) for _ in range(2)])
            first, second = zip(*runs, strict=True)
            found[name] = min(first), min(second)
    return found


def ratios(full: bool) -> dict[str, float]:
    """Time of the second call over that of the first, larger is better."""
    return {f"first {name}": second / first for name, (first, second) in times(full).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="the least of three runs")
    found = times(parser.parse_args().full)
    print("| in a new process | first | second |\n|---|---|---|")
    for name, (first, second) in found.items():
        print(f"| {name} | {first:.1f} s | {second:.1f} s |")


if __name__ == "__main__":
    main()
