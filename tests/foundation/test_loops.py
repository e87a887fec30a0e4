"""Compiled loops and the clock that stands still while they are compiled."""

from __future__ import annotations

import subprocess
import sys
import time

from indefinite_opt.foundation import clock, compiled
from indefinite_opt.foundation.loops import _Pauses

PROGRAM = """
import logging, time
import numpy as np
from indefinite_opt.foundation import clock, compiled

@compiled()
def total(values):
    found = 0.0
    for value in values:
        found += value
    return found

for _ in range(2):
    wall, own = time.perf_counter(), clock()
    total(np.ones(3))
    print(clock() - own, time.perf_counter() - wall)
"""


def test_the_clock_stands_still_while_a_loop_is_compiled_which_is_said_once(tmp_path) -> None:  # type: ignore[no-untyped-def]
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    (own, wall), (again, second) = [map(float, line.split()) for line in done.stdout.splitlines()]
    assert wall > 10.0 * second
    assert own < 0.5 * wall
    assert again <= second
    assert done.stderr == "compiling, first use only: this takes some seconds\n"


def test_pauses_that_overlap_count_once(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    now = iter([1.0, 5.0, 7.0, 7.0, 9.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(now))
    pauses = _Pauses()
    pauses.enter()  # at 1
    pauses.enter()
    assert pauses.working_time() == 1.0
    pauses.leave()
    assert pauses.working_time() == 1.0
    pauses.leave()  # at 5: four seconds are out
    assert pauses.working_time() == 7.0 - 4.0
    assert pauses.working_time() == 7.0 - 4.0
    assert pauses.working_time() == 9.0 - 4.0


def test_the_clock_runs_otherwise() -> None:
    before, wall = clock(), time.perf_counter()
    time.sleep(0.01)
    assert 0.0 < clock() - before <= time.perf_counter() - wall + 1e-6


def test_inner_loops_have_no_entry_from_python_and_serve_others() -> None:
    @compiled(inner=True)
    def square(x):  # type: ignore[no-untyped-def]
        return x * x

    @compiled()
    def fourth(x):  # type: ignore[no-untyped-def]
        return square(x) * square(x)

    assert fourth(3.0) == 81.0
