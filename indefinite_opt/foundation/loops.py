"""Compiled loops, and a clock that stands still while these or libraries are loaded.

A loop comes as machine code with the package, if that was built on a processor of this kind and
with this version of numba. Otherwise it is compiled when it is first called, and kept on disk. That
happens once per installation and takes seconds, so that it is said on the screen, and is not part
of the time that a solver is reported to take.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, local
from typing import Any, TypeVar

from numpy.typing import NDArray

_Array = TypeVar("_Array", bound=NDArray[Any])

_LOGGER = logging.getLogger("indefinite_opt")


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles a loop by numba, without the interpreter's lock.

    A loop whose name begins with an underscore serves other loops only and has no entry from
    Python: for named tuples of arrays an entry takes longer to compile than a short loop. Python
    that calls it nevertheless ends in a segmentation fault. A loop that Python calls returns no
    named tuple: numba makes one by Python code, and does not look whether Ctrl-C has ended that,
    which is a segmentation fault as well. The options are those of `numba.njit`.
    """
    njit = _numba().njit

    def compile_later(loop: Callable[..., Any]) -> Any:
        dispatcher = njit(
            nogil=True, error_model="numpy", no_cfunc_wrapper=True,
            no_cpython_wrapper=loop.__name__.startswith("_"), **options,
        )(loop)  # fmt: skip
        if dispatcher is not loop:  # as it is where NUMBA_DISABLE_JIT is set
            _keep_on_disk(dispatcher, loop)
        return dispatcher

    return compile_later


def read_only(array: _Array) -> _Array:
    """A view that cannot be written to; loops are compiled for such, whatever callers hand over."""
    view = array.view()
    view.flags.writeable = False
    return view


def _keep_on_disk(dispatcher: Any, loop: Callable[..., Any]) -> None:
    try:
        from indefinite_opt.foundation.loop_store import LoopStore

        dispatcher._cache = LoopStore(loop)
    except (ImportError, AttributeError):  # a version of numba with other internals
        with suppress(RuntimeError):  # no folder can be written
            dispatcher.enable_caching()


class Pauses:
    """The total time during which at least one of the threads of a call compiled or loaded."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._active = 0
        self._began = self._total = 0.0

    def enter(self) -> None:
        """A thread begins to compile or load."""
        with self._lock:
            if self._active == 0:
                self._began = time.perf_counter()
            self._active += 1

    def leave(self) -> None:
        """It has ended."""
        with self._lock:
            self._active -= 1
            if self._active == 0:
                self._total += time.perf_counter() - self._began

    def working_time(self) -> float:
        """`time.perf_counter` without the pauses."""
        with self._lock:
            return (self._began if self._active else time.perf_counter()) - self._total


class _OfThread(local):
    """What a thread counts as pauses: its own, unless it works for another thread."""

    def __init__(self) -> None:
        self.pauses = Pauses()


_OF_THREAD = _OfThread()


def pauses() -> Pauses:
    """The pauses of this thread."""
    return _OF_THREAD.pauses


def share_pauses(pauses: Pauses) -> None:
    """Let this thread, which works for another one, have the clock of that one.

    Both wait for each other, so that a pause of one is a pause of both.
    """
    _OF_THREAD.pauses = pauses


def clock() -> float:
    """`time.perf_counter` without the time for which this thread has been compiling or loading.

    A thread that works for another one has the clock of that one; other threads have clocks of
    their own, which cannot be compared.
    """
    return pauses().working_time()


@contextmanager
def clock_stopped() -> Iterator[None]:
    """The clock of this thread stands still inside: for what is loaded when it is first used."""
    own = pauses()
    own.enter()
    try:
        yield
    finally:
        own.leave()


@functools.cache
def _numba() -> Any:
    """Numba; clocks stop while it compiles or loads loops, and one line says that it compiles."""
    with clock_stopped():
        import numba
        from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]  # numba has no types
        def __init__(self, start: Callable[[], None], end: Callable[[], None]) -> None:
            self.start, self.end = start, end

        def on_start(self, event: object) -> None:
            self.start()

        def on_end(self, event: object) -> None:
            self.end()

    # A thread that waits for another one to compile has a pause as well.
    began = Listener(lambda: pauses().enter(), lambda: pauses().leave())
    event.register("numba:compiler_lock", began)
    event.register("numba:compile", Listener(_say_once, lambda: None))
    return numba


@functools.cache
def _say_once() -> None:
    _LOGGER.warning("compiling, first use only: this takes some seconds")
