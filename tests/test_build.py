"""How the loops are compiled: by which compiler, for which platform, and what an error says."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "build_tools"))

import compiler  # noqa: E402

LINUX = pytest.mark.skipif(platform.system() != "Linux", reason="compilers are found in PATH")

OUTSIDE = """
#include "views.h"
EXPORT double entry(Constants x, Index i) { return x[i]; }
"""

CALL = """
import ctypes, sys
import numpy as np
from indefinite_opt.core import binding
entry = ctypes.CDLL(sys.argv[1]).entry
entry.argtypes, entry.restype = (binding.View, binding.WHOLE), binding.NUMBER
x = binding.vector(np.ones(3), "x")
print(entry(x, 2), flush=True)
entry(x, 3)
"""


@pytest.fixture
def _nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CC", "CFLAGS", "WHEEL_PLATFORM"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("_nothing_chosen")
@LINUX
def test_the_compiler_is_cc_or_one_in_the_path_or_ziglang(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compiler.command() == [sys.executable, "-m", "ziglang", "cc"]
    assert compiler.tag("linux_x") == f"manylinux_2_17_{platform.machine()}"
    clang = tmp_path / "clang"
    clang.write_text("#!/bin/sh\n")
    clang.chmod(0o755)
    assert compiler.command() == ["clang"]
    assert compiler.tag("linux_x") == "linux_x"
    monkeypatch.setenv("WHEEL_PLATFORM", "win_arm64")
    assert compiler.is_zig(compiler.command())
    assert compiler.tag("linux_x") == "win_arm64"
    monkeypatch.setenv("CC", "python -m ziglang cc -v")
    assert compiler.command() == [sys.executable, "-m", "ziglang", "cc", "-v"]


@pytest.mark.usefixtures("_nothing_chosen")
def test_an_error_names_the_platform_what_was_tried_and_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -v")
    monkeypatch.setenv("WHEEL_PLATFORM", "manylinux_2_17_x86_64")
    with pytest.raises(SystemExit) as error:
        compiler.build(tmp_path)
    for part in ("manylinux_2_17_x86_64", platform.machine(), "no-such-compiler -v"):
        assert part in str(error.value)


@pytest.mark.usefixtures("_nothing_chosen")
@pytest.mark.slow
@LINUX
def test_the_checked_build_ends_the_process_at_an_access_outside(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    core = tmp_path / compiler.CORE
    core.mkdir(parents=True)
    (core / "outside.cpp").write_text(OUTSIDE)
    (core / "views.h").write_bytes((ROOT / compiler.CORE / "views.h").read_bytes())
    monkeypatch.setattr(compiler, "ROOT", tmp_path)
    environment = compiler.build_checked(tmp_path)
    library = environment.pop("INDEFINITE_OPT_CORE")  # it has one function, and not those of others
    done = subprocess.run(
        [sys.executable, "-P", "-c", CALL, library], capture_output=True, text=True,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.stdout == "1.0\n"
    assert "0 <= i && i < size" in done.stderr
    assert done.returncode != 0
