"""Long calls end at their limit and on Ctrl-C, and pass on what they return and raise."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from helpers.processes import HANGS, interrupted
from indefinite_opt.foundation.interruptible import TimeLimitReached, in_child, within
from indefinite_opt.foundation.threads import interrupts_held


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What a call that never ends waits for; opened when the test is over."""
    event = threading.Event()
    yield event
    event.set()


def test_the_result_and_the_arguments_are_passed_on() -> None:
    assert within(HANGS, divmod, 17, 5) == (3, 2)
    assert within(np.inf, divmod, 17, 5) == (3, 2)


def test_an_exception_is_passed_on() -> None:
    with pytest.raises(ZeroDivisionError):
        within(HANGS, divmod, 1, 0)


def test_the_treatment_of_floating_point_errors_is_that_of_the_caller() -> None:
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        within(HANGS, np.divide, np.ones(1), np.zeros(1))


def test_a_call_that_does_not_end_is_abandoned(gate: threading.Event) -> None:
    with pytest.raises(TimeLimitReached, match=r"wait did not end within 0.01 s"):
        within(0.01, gate.wait)


def test_a_call_is_abandoned_where_its_caller_asks_to_stop(gate: threading.Event) -> None:
    with pytest.raises(TimeLimitReached):
        within(np.inf, gate.wait, stop=lambda: True)


def test_nothing_is_started_without_time() -> None:
    called: list[int] = []
    with pytest.raises(TimeLimitReached):
        within(0.0, called.append, 1)
    assert called == []


def test_a_child_passes_on_what_it_returns_and_raises() -> None:
    result = in_child(HANGS, np.add, np.ones(3), 1.0)
    np.testing.assert_array_equal(result, np.full(3, 2.0))
    with pytest.raises(ZeroDivisionError):
        in_child(HANGS, divmod, 1, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
def test_a_child_is_killed_where_it_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    children: list[int] = []
    fork = os.fork

    def counted() -> int:
        child = fork()
        children.append(child)
        return child

    monkeypatch.setattr(os, "fork", counted)
    with pytest.raises(TimeLimitReached):
        in_child(0.1, time.sleep, 3600.0)
    with pytest.raises(ProcessLookupError):
        os.kill(children[0], 0)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
def test_a_child_that_dies_is_no_answer() -> None:
    with pytest.raises(RuntimeError, match="without an answer"):
        in_child(HANGS, os._exit, 1)


def test_an_interrupt_ends_the_wait_and_the_process() -> None:
    """Otherwise the process would sleep for an hour, and the test run out of time.

    The thread is left with whatever it holds, so that it writes without a lock.
    """
    code = (
        "import os, time\n"
        "from indefinite_opt.foundation.interruptible import within\n"
        "try:\n"
        "    within(float('inf'), lambda: (os.write(1, b'waiting\\n'), time.sleep(3600)))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    exit_code, rest, _ = interrupted("-c", code, after="waiting")
    assert (exit_code, rest) == (0, "interrupted\n")


@pytest.mark.skipif(sys.platform != "linux", reason="on_exit is a function of Linux")
def test_a_process_with_an_abandoned_call_ends_before_its_libraries_do() -> None:
    """`abort` stands for a destructor that frees the memory of the call; it would end in -6."""
    code = (
        "import ctypes, os, time\n"
        "from indefinite_opt.foundation.interruptible import within\n"
        "library = ctypes.CDLL(None)\n"
        "if not hasattr(library, 'on_exit'):\n"
        "    raise SystemExit('without on_exit')\n"
        "library.on_exit(library.abort, None)\n"
        "library.printf(b'of a library\\n')\n"
        "try:\n"
        "    within(0.01, time.sleep, 3600.0)\n"
        "except Exception:\n"
        "    print('abandoned')\n"
        "raise SystemExit(7)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=HANGS, check=False
    )
    if "without on_exit" in process.stderr:
        pytest.skip("this C library has no on_exit")
    assert process.returncode == 7
    assert sorted(process.stdout.splitlines()) == ["abandoned", "of a library"]
    assert process.stderr == ""


# ------------------------------------------------------------------------- interrupts held back


def held(steps: list[int], failure: type[Exception] | None = None) -> None:
    with interrupts_held() as came:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        steps.append(len(came))
        if failure is not None:
            raise failure


@pytest.mark.parametrize("failure", [None, ZeroDivisionError])
def test_an_interrupt_inside_the_block_is_raised_at_its_end(
    failure: type[Exception] | None,
) -> None:
    steps: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        held(steps, failure)
    assert steps == [1]


def test_the_handler_of_the_caller_is_kept_and_is_told() -> None:
    told = []
    before = signal.signal(signal.SIGINT, lambda number, frame: told.append(number))
    try:
        with interrupts_held():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            assert told == []
        assert told == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_hold_nothing_back() -> None:
    seen = []

    def work() -> None:
        with interrupts_held() as came:
            seen.append((came, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [([], signal.getsignal(signal.SIGINT))]
