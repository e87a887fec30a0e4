"""Callbacks that end a run."""

from __future__ import annotations

from collections.abc import Callable

import indefinite_opt as iopt


def stop(when: int = 1) -> Callable[[iopt.solvers.Trace], bool]:
    """Ask to stop at that report."""
    return lambda trace: len(trace) == when


def press(when: int = 1) -> Callable[[iopt.solvers.Trace], bool]:
    """Ctrl-C at that report."""

    def callback(trace: iopt.solvers.Trace) -> bool:
        if len(trace) == when:
            raise KeyboardInterrupt
        return False

    return callback
