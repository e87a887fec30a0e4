"""Loops that numba compiles when they are first called, and keeps on disk."""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numpy.typing import NDArray

__all__ = ["assign", "compiled", "larger", "smaller"]

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
            with suppress(RuntimeError):  # no folder can be written: compiled in every process
                dispatcher.enable_caching()
        return dispatcher

    return compile_later


def larger(a: float, b: float) -> float:
    """The larger of two numbers that are not NaN.

    In compiled loops this is an instruction by which a maximum over an array is vectorised, which
    it is not by `max`.
    """
    return a if a >= b else b


def smaller(a: float, b: float) -> float:
    """The smaller of two numbers that are not NaN; see `larger`."""
    return a if a <= b else b


def assign(target: NDArray[Any], source: NDArray[Any]) -> None:
    """target[:] = source, for vectors of one length.

    In compiled loops assignment of whole arrays takes seconds to compile, for the messages of its
    checks.
    """
    for t in range(target.size):
        target[t] = source[t]


def _compile_as(function: Callable[[float, float], float], name: str) -> None:
    """Let loops that call a function of two numbers contain an instruction of LLVM instead."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic, overload

    def instruction(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number = ir.DoubleType()
            kind = ir.FunctionType(number, [number, number])
            called = builder.module.declare_intrinsic(name, [number], kind)
            return builder.call(called, arguments, fastmath=("nnan", "nsz"))

        return types.float64(types.float64, types.float64), generate

    called = intrinsic(instruction)

    overload(function)(lambda a, b: lambda a, b: called(a, b))


@functools.cache
def _numba() -> Any:
    """Numba, which says in one line on a terminal that it compiles."""
    import numba
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]  # numba has no types
        def on_start(self, event: object) -> None:
            _say_once()

        def on_end(self, event: object) -> None:
            pass

    event.register("numba:compile", Listener())
    numba.extending.register_jitable(assign)
    _compile_as(larger, "llvm.maxnum")
    _compile_as(smaller, "llvm.minnum")
    return numba


@functools.cache
def _say_once() -> None:
    if sys.stderr is None or not sys.stderr.isatty():  # nobody waits, or what is printed is kept
        return
    _LOGGER.warning("compiling, first use only: this takes some seconds")
