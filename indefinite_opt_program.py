"""The program `indefinite-opt`, outside the package: Ctrl-C is answered while the package loads."""

from __future__ import annotations

import os
import signal
from types import FrameType

__all__ = ["main"]


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once: no command has begun, and half-imported modules raise anything but this."""
    os.write(2, b"interrupted\n")
    os._exit(130)


def main() -> None:
    """Load the package and run the command that the arguments of the process name."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # where signals are ignored they stay ignored
        signal.signal(signal.SIGINT, _leave)
    from indefinite_opt.command_line.app import main as run

    try:
        run()  # the command answers signals itself, from its first line to its last
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the exit code stands


if __name__ == "__main__":
    main()
