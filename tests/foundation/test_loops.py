"""Compiled loops, and where they are kept."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.processes import HANGS, fresh
from indefinite_opt.foundation import compiled, larger, smaller

READ_ONLY = """
import os, sys
import numpy as np
from indefinite_opt.foundation import compiled

@compiled()
def total(values):
    found = 0.0
    for value in values:
        found += value
    return found

print(total(np.ones(3)), total(np.ones(4)))
"""


def test_the_larger_and_the_smaller_of_numbers() -> None:
    """In Python and in a compiled loop, with infinities and of any length."""

    @compiled()
    def extremes(x: np.ndarray) -> tuple[float, float]:
        high, low = -np.inf, np.inf
        for t in range(x.size):
            high, low = larger(high, x[t]), smaller(low, x[t])
        return high, low

    generator = np.random.default_rng(0)
    for n in (1, 7, 1001):
        x = generator.standard_normal(n)
        for at in (x, np.where(x < 0.0, -np.inf, x), np.where(x > 0.0, np.inf, x), np.zeros(n)):
            assert extremes(at) == (at.max(), at.min())
    assert (larger(-1.0, np.inf), smaller(-np.inf, 2.0)) == (np.inf, -np.inf)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are Unix's")
def test_loops_are_compiled_once_which_is_said_on_a_terminal(tmp_path: Path) -> None:
    import pty

    script = tmp_path / "program.py"
    script.write_text(READ_ONLY)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    said = []
    for _ in range(2):
        ours, theirs = pty.openpty()
        done = subprocess.run(
            [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=theirs, text=True,
            check=True, env=environment, timeout=HANGS,
        )  # fmt: skip
        os.write(theirs, b"end\n")  # a read of an empty terminal would wait
        os.close(theirs)
        said.append("")
        while not said[-1].endswith("end\r\n"):  # a read may return a part of it
            said[-1] += os.read(ours, 4096).decode()
        os.close(ours)
        assert done.stdout == "3.0 4.0\n"
    assert said == ["compiling, first use only: this takes some seconds\r\nend\r\n", "end\r\n"]


@pytest.mark.slow
def test_without_a_folder_that_can_be_written_loops_are_compiled_every_time() -> None:
    """numba raises RuntimeError there when a loop is decorated with cache=True."""
    no_folder = "from numba.core import caching\ncaching.CacheImpl._locator_classes = []\n"
    assert fresh(no_folder + READ_ONLY) == "3.0 4.0\n"


def is_loop(function: ast.FunctionDef) -> bool:
    called = [each.func for each in function.decorator_list if isinstance(each, ast.Call)]
    return any(getattr(each, "id", "") == "compiled" for each in called)


def test_no_python_calls_an_inner_loop() -> None:
    """It would have no entry, and end the process."""
    texts = {
        path: path.read_text()
        for folder in (Path(iopt.__file__).parent, Path(__file__).parents[1])
        for path in folder.rglob("*.py")
    }
    inner = {
        path: {
            node.name for node in ast.parse(text).body
            if isinstance(node, ast.FunctionDef) and is_loop(node) and node.name.startswith("_")
        }
        for path, text in texts.items() if "@compiled(" in text
    }  # fmt: skip
    everywhere = set().union(*inner.values())
    assert len(everywhere) > 30
    called = re.compile(rf"\b({'|'.join(everywhere)})\b")
    for path, text in texts.items():
        for function in ast.parse(text).body if called.search(text) else ():
            if isinstance(function, ast.FunctionDef) and is_loop(function):
                continue
            for node in ast.walk(function):
                mine = inner.get(path, set())
                assert not (isinstance(node, ast.Name) and node.id in mine), (path, node.id)
                if isinstance(node, ast.Attribute) and node.attr in everywhere:
                    assert "loops" not in getattr(node.value, "id", ""), (path, node.attr)


SIGNALLED = """
import signal
import numpy as np
from indefinite_opt.quadratic.local.descent import _loops as loops
from indefinite_opt.quadratic.local.search import _perturbation_loops as perturbation_loops

n = 400
g = np.random.default_rng(0)
A = g.standard_normal((n, n))
K, y = A + A.T, np.resize([1.0, -1.0], n)
program = loops.pair_program(
    K, np.diagonal(K).copy(), 1.0, y, np.zeros(n, np.int64), 1, False, np.zeros(n), np.full(n, 1.0)
)

def point():
    return loops.DescentPoint(np.zeros(n), y.copy())

def plan(steps, work):
    return perturbation_loops.PerturbationPlan(10**9, 9, 0.0, 1.0, steps, work)

calls = [
    lambda *limits: loops.block_steps(program, point(), 0.0, 64, 0, *limits),
    lambda *limits: perturbation_loops.perturb(
        program, point(), -np.ones(n), np.arange(n), np.array([0, n, n]), plan(*limits),
        np.array([1], np.uint64),
    ),
    lambda *limits: loops.pair_steps(program, point(), 0, 0.0, *limits),
]
came = 0
for call in calls:
    call(1, 1.0)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 1e-4)
    try:
        for _ in range(10**6):
            call(1000, 1e7)
    except KeyboardInterrupt:
        came += 1
print(came)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="timers that send signals are Unix's")
def test_signals_may_come_in_compiled_loops() -> None:
    """Named tuples of results once ended in a segmentation fault there."""
    assert fresh(SIGNALLED) == "3\n"
