"""Compiled loops and the clock that stands still while they are compiled."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import indefinite_opt as iopt
from helpers.processes import HANGS, fresh
from indefinite_opt.foundation import clock, clock_stopped, pool, within
from indefinite_opt.foundation.loops import Pauses

PROGRAM = """
import logging, time
import numpy as np
import indefinite_opt as iopt
from numba.core import event
from indefinite_opt.foundation import clock, clock_stopped, compiled, pool, within

@compiled()
def total(values):
    found = 0.0
    for value in values:
        found += value
    return found

now = [0.0]
time.perf_counter = lambda: now[0]

class Compiling(event.Listener):
    def on_start(self, event):
        pass

    def on_end(self, event):
        now[0] += 100.0

event.register("numba:compile", Compiling())
for _ in range(2):
    wall, own = time.perf_counter(), clock()
    total(np.ones(3))
    print(clock() - own, time.perf_counter() - wall)
"""
"""On a clock that goes on by 100 s whenever a loop has been compiled, and only then."""


def test_the_clock_stands_still_while_a_loop_is_compiled_which_is_said_once(tmp_path) -> None:  # type: ignore[no-untyped-def]
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "0.0 100.0\n0.0 0.0\n"
    assert done.stderr == "compiling, first use only: this takes some seconds\n"


def test_pauses_that_overlap_count_once(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    now = iter([1.0, 5.0, 7.0, 7.0, 9.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(now))
    pauses = Pauses()
    pauses.enter()  # at 1
    pauses.enter()
    assert pauses.working_time() == 1.0
    pauses.leave()
    assert pauses.working_time() == 1.0
    pauses.leave()  # at 5: four seconds are out
    assert pauses.working_time() == 7.0 - 4.0
    assert pauses.working_time() == 7.0 - 4.0
    assert pauses.working_time() == 9.0 - 4.0


def test_another_thread_does_not_stop_the_clock() -> None:
    paused, ended = threading.Event(), threading.Event()

    def pause() -> None:
        with clock_stopped():
            paused.set()
            assert ended.wait(HANGS)

    other = threading.Thread(target=pause)
    other.start()
    try:
        assert paused.wait(HANGS)
        before = clock()
        time.sleep(0.01)
        assert clock() > before
    finally:
        ended.set()
        other.join()


def test_threads_that_work_for_a_call_stop_its_clock() -> None:
    def stands_still() -> bool:
        with clock_stopped():
            before = clock()
            time.sleep(0.01)
            return before == clock() == within(HANGS, clock) == work_of_pool()

    def work_of_pool() -> float:
        with pool(1) as executor:
            return executor.submit(clock).result()

    assert stands_still()
    with pool(1) as executor:
        gate, paused = threading.Event(), threading.Event()

        def pause() -> None:
            with clock_stopped():
                paused.set()
                assert gate.wait(HANGS)

        job = executor.submit(pause)
        assert paused.wait(HANGS)
        before = clock()
        time.sleep(0.01)
        assert clock() == before
        gate.set()
        job.result()


def test_the_clock_runs_otherwise() -> None:
    before, wall = clock(), time.perf_counter()
    time.sleep(0.01)
    assert 0.0 < clock() - before <= time.perf_counter() - wall + 1e-6


def is_loop(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(each, ast.Call) and getattr(each.func, "id", "") == "compiled"
        for each in function.decorator_list
    )


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
from indefinite_opt.quadratic.local.descent import _loops as loops, _pair_loops as pair_loops

n = 400
g = np.random.default_rng(0)
A = g.standard_normal((n, n))
K, y = A + A.T, np.resize([1.0, -1.0], n)
hessian = loops.Hessian(K, K, np.diagonal(K).copy(), 1.0, 1e-12)
box = loops.BoxLines(y, np.zeros(n, np.int64), 1, False, np.zeros(n), np.full(n, 1.0))
for array in (*hessian[:3], *box[:2], *box[4:]):
    array.flags.writeable = False

def point():
    return loops.DescentPoint(np.zeros(n), y.copy())

few = loops.Limits(0.0, 0.0, 1, 1.0)
calls = {
    "blocks": lambda limits: loops.solve_blocks(hessian, box, point(), limits, n, 0),
    "perturbations": lambda limits: loops.perturb(
        hessian, box, point(), -np.ones(n), loops.PerturbationPlan(10**9, 9, False, n, 0.0), limits,
        np.array([1], np.uint64),
    ),
    "first order": lambda limits: pair_loops.solve_pairs(hessian, box, point(), limits, False),
    "second order": lambda limits: pair_loops.solve_pairs(hessian, box, point(), limits, True),
}
came = 0
for name, call in calls.items():
    call(few)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 1e-4)
    try:
        for _ in range(10**6):
            call(few._replace(steps=1000, work=1e7))
    except KeyboardInterrupt:
        came += 1
print(came)
"""


@pytest.mark.skipif(os.name != "posix", reason="timers that send signals are Unix's")
def test_signals_may_come_in_compiled_loops() -> None:
    """Named tuples of results once ended in a segmentation fault there."""
    assert fresh(SIGNALLED) == "4\n"
