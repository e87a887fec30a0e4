"""Every build of the loops computes the same numbers, whatever the compiler and the processor."""

from __future__ import annotations

import ast
import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from indefinite_opt.core import library

HERE = Path(__file__).parent
COMPILER = HERE.parents[1] / "build_tools" / "compiler.py"

EXPECTED = {
    "active sets": "b9b6906115e18cc3",
    "cuts": "c56fed99b28b20a6",
    "descents": "1ab0e23e8c2bc860",
    "points": "d9029b6a33f83c9b",
    "relaxations": "47689a015435afc4",
    "roots": "df6bef129af9abf0",
    "squares": "d5cab410341ba070",
}
"""On x86-64, by gcc 12 and clang 20 (of zig 0.15), with and without vector instructions."""


@functools.cache
def digests(build: str) -> dict[str, str]:
    """Those that a process with this build computes."""
    done = subprocess.run(
        [sys.executable, str(HERE / "digest.py")], capture_output=True, text=True, check=True,
        env={**os.environ, library.VARIABLE: build},
    )  # fmt: skip
    found: dict[str, str] = ast.literal_eval(done.stdout)
    return found


def test_the_build_for_every_processor() -> None:
    assert digests(library.GENERIC) == EXPECTED


@pytest.mark.skipif(not library.has_avx2, reason="this processor has no AVX2")
def test_the_build_for_processors_with_avx2() -> None:
    assert digests(library.AVX2) == EXPECTED


def compilers() -> list[str]:
    """Those of this machine; that of the package ziglang counts if it is installed."""
    found = [name for name in ("gcc", "clang") if shutil.which(name)]
    zig = importlib.util.find_spec("ziglang")
    return [*found, *([f"{sys.executable} -m ziglang cc"] if zig else [])]


@pytest.mark.slow
def test_every_compiler(tmp_path: Path) -> None:
    known = compilers()
    if not known:
        pytest.skip("this machine has neither gcc nor clang nor the package ziglang")
    for place, compiler in enumerate(known):
        folder = tmp_path / str(place)
        subprocess.run(
            [sys.executable, str(COMPILER), "--output", str(folder)], check=True,
            env={**os.environ, "CC": compiler},
        )  # fmt: skip
        built = sorted(folder.glob("*.core"))
        assert built
        for path in built:
            if path.stem == library.GENERIC or library.has_avx2:
                assert digests(str(path)) == EXPECTED, (compiler, path.stem)
