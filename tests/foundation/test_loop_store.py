"""Machine code on disk: found where it is right, and compiled anew everywhere else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numba
import pytest

from helpers.processes import HANGS
from indefinite_opt.foundation import compiled, loop_store
from indefinite_opt.foundation.loop_store import SUFFIX, LoopStore

PROGRAM = """
import sys
from collections import namedtuple
from pathlib import Path
from indefinite_opt.foundation import loop_store
loop_store._PACKAGE = Path(sys.argv[1])
loop_store.SHIPPED = Path(sys.argv[2])
sys.path.insert(0, sys.argv[1])
from _outer import outer
print(outer(2.0), sum(outer.stats.cache_hits.values()), sum(outer.stats.cache_misses.values()))
"""

INNER = """
from indefinite_opt.foundation import compiled

@compiled()
def inner(x):
    return 3.0 * x
"""

OUTER = """
from indefinite_opt.foundation import compiled
from _inner import inner

@compiled()
def outer(x):
    return inner(x) + 1.0
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a loop that calls a loop of another file."""
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "_inner.py").write_text(INNER)
    (folder / "_outer.py").write_text(OUTER)
    return folder


def run(package: Path, shipped: Path, cache: Path) -> tuple[float, int, int]:
    """outer(2), and how often its machine code was found and not found, in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(package), str(shipped)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True, text=True, check=True, timeout=HANGS,
    )  # fmt: skip
    value, hits, misses = done.stdout.split()
    return float(value), int(hits), int(misses)


@pytest.mark.slow
def test_machine_code_is_found_where_it_is_right(package: Path, tmp_path: Path) -> None:
    """In the cache and with the package, until a file is cut off or a loop of any file changes."""
    shipped, cache = tmp_path / "shipped", tmp_path / "cache"
    shipped.mkdir()
    assert run(package, shipped, cache) == (7.0, 0, 1)
    os.utime(package / "_outer.py", (1e9, 1e9))  # as installing does
    assert run(package, shipped, cache) == (7.0, 1, 0)
    for path in cache.rglob(f"*{SUFFIX}"):
        shutil.copy(path, shipped)
    (package / "_inner.py").write_text(INNER.replace("3.0", "5.0"))
    assert run(package, shipped, cache) == (11.0, 0, 1)
    assert len(list(cache.rglob(f"*_outer.outer-*{SUFFIX}"))) == 1  # that of before is gone
    (package / "_inner.py").write_text(INNER)
    assert run(package, shipped, tmp_path / "other") == (7.0, 1, 0)
    assert list((tmp_path / "other").rglob(f"*{SUFFIX}")) == []
    for path in shipped.iterdir():  # cut off
        path.write_bytes(path.read_bytes()[:-100])
    assert run(package, shipped, tmp_path / "other") == (7.0, 0, 1)


def cube(x: float) -> float:
    return x * x * x


def test_files_of_another_user_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner is what the system says of the opened file, which others cannot exchange then."""
    path = tmp_path / f"loop{SUFFIX}"
    path.write_bytes(b"code")
    own = os.geteuid()
    for owner, mine, package, trusted in (
        (own, own, own, True), (0, 1000, 1000, True), (1001, 1000, 1001, True),
        (1002, 1000, 0, False), (1002, 0, 0, False),
    ):  # fmt: skip
        monkeypatch.setattr(os, "fstat", lambda number, uid=owner: SimpleNamespace(st_uid=uid))
        monkeypatch.setattr(os, "geteuid", lambda uid=mine: uid)
        monkeypatch.setattr(Path, "stat", lambda self, uid=package: SimpleNamespace(st_uid=uid))
        if trusted:
            assert loop_store._trusted(path) == b"code"
        else:
            with pytest.raises(PermissionError, match="belongs to another user"):
                loop_store._trusted(path)
        monkeypatch.undo()


def test_without_a_folder_that_can_be_written_loops_are_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    loop = compiled()(cube)
    assert loop._cache.cache_path is None
    assert loop(2.0) == 8.0


def test_with_another_numba_loops_are_kept_as_numba_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "indefinite_opt.foundation.loop_store", None)
    loop = compiled()(cube)
    assert type(loop._cache) is numba.core.caching.FunctionCache
    assert loop(2.0) == 8.0


class Point(NamedTuple):
    x: float
    y: float


def name_of(loop: Any, *types: Any) -> str:
    codegen = SimpleNamespace(magic_tuple=lambda: ("x86_64", "cpu", "+feature"))
    return LoopStore(loop).file_name(types, codegen)


def test_names_of_files_tell_loops_types_and_processors_apart() -> None:
    number, tuples = numba.float64, numba.types.NamedTuple
    name = name_of(cube, tuples((number, number), Point))
    assert name == name_of(cube, tuples((number, number), Point))
    swapped = namedtuple("Point", "y x")
    others = {
        name,
        name_of(cube, tuples((number, number), swapped)),
        name_of(cube, tuples((number, numba.float32), Point)),
        name_of(name_of, tuples((number, number), Point)),
        name_of(cube, number[:]),
        name_of(cube, numba.types.Array(number, 1, "C", readonly=True)),
        name_of(cube, numba.types.Array(number, 1, "C")),
    }
    assert len(others) == 7
    another = SimpleNamespace(magic_tuple=lambda: ("x86_64", "cpu", "-feature"))
    assert LoopStore(cube).file_name((number,), another) != name_of(cube, number)


def test_all_files_of_loops_count() -> None:
    """Every file with compiled loops is one of those whose contents are hashed together."""
    package = loop_store.SHIPPED.parents[1]
    with_loops = {
        path for path in package.rglob("*.py") if "\n@compiled(" in path.read_text(encoding="utf-8")
    }
    assert len(with_loops) >= 6
    assert with_loops <= set(loop_store._loop_files())
