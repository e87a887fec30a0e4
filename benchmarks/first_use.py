"""Seconds and memory of whole processes: the first call after installation, and the second.

Run `python benchmarks/first_use.py`, which compiles the package and installs it into a temporary
folder. The calls are `solve` and `bound` for 60 points, and the README's `side-by-side`, each in a
new process. Times are from the start of the process to its end, importing included; memory is the
most that it has had at a time. Nothing is compiled or stored at the first call, so that it should
take as long as the second one. With `--full` the least of three runs is shown.
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
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

PREPARE = """
import numpy as np
import indefinite_opt as iopt
X = np.random.default_rng(0).standard_normal((60, 5))
y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0.0, 1, -1)
problem = iopt.KernelProblem.from_data(X, y, "sigmoid(a=0.5, r=-1)")
"""

CALLS: dict[str, tuple[str, ...]] = {
    "solve": ("-c", f"{PREPARE}iopt.solve(problem, iopt.SVMDual(C=1.0))"),
    "bound": ("-c", f"{PREPARE}iopt.bound(problem, iopt.SVMDual(C=1.0))"),
    "the README's side-by-side": ("-m", "indefinite_opt", "side-by-side"),
}


class Run(NamedTuple):
    """What a process took."""

    seconds: float
    megabytes: float


def installed(folder: Path) -> float:
    """Install a copy of the package into a folder; returns the seconds that takes."""
    source = folder.with_name(f"{folder.name}-source")
    source.mkdir()
    for name in ("LICENSE", "README.md", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, source)
    without = shutil.ignore_patterns("__pycache__", "*.core")
    for name in ("build_tools", "indefinite_opt"):
        shutil.copytree(ROOT / name, source / name, ignore=without)
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder),
         str(source)],
        check=True,
    )  # fmt: skip
    return time.perf_counter() - began


def run(package: Path, call: tuple[str, ...], folder: str) -> Run:
    """A new process in a folder of its own."""
    environment = {**os.environ, "PYTHONPATH": str(package)}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *call], cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, call)
    # In bytes on macOS, in kilobytes elsewhere.
    return Run(seconds, usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3))


def measured(full: bool) -> dict[str, tuple[Run, Run]]:
    """The first and the second run of each call."""
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, call in CALLS.items():
            runs = []
            for k in range(3 if full else 1):
                package = Path(folder, f"{len(found)}-{k}")
                seconds = installed(package)
                if not found and not k:
                    print(f"Installing the package took {seconds:.1f} s.\n")
                runs.append([run(package, call, folder) for _ in range(2)])
            first, second = zip(*runs, strict=True)
            found[name] = min(first), min(second)
    return found


def ratios(full: bool) -> dict[str, float]:
    """Time of the second call over that of the first, which is 1 if nothing is prepared."""
    return {
        f"first {name}": second.seconds / first.seconds
        for name, (first, second) in measured(full).items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="the least of three runs")
    found = measured(parser.parse_args().full)
    print("| in a new process | first | second | memory |\n|---|---|---|---|")
    for name, (first, second) in found.items():
        print(
            f"| {name} | {first.seconds:.2f} s | {second.seconds:.2f} s | "
            f"{second.megabytes:.0f} MB |"
        )


if __name__ == "__main__":
    main()
