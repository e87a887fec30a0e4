"""What is shown of a study while it runs: a bar in a terminal, or calls of a function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indefinite_opt.studies.store import Row

if TYPE_CHECKING:
    from rich.console import Console

Progress = Callable[[int, int, Row], None]
"""Called with the number of cells done, the number of all cells, and the last row."""


def wants_bar(progress: Progress | bool | None) -> bool:
    """Whether a bar is shown: by default, if the errors go to a terminal."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    return terminal and progress is not False and not callable(progress)


@contextmanager
def advancing(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """What is called after each cell: the given function, or what moves a bar on, or None."""
    if not wants_bar(progress):
        yield progress if callable(progress) else None
        return
    with bar() as advance:
        yield advance


@contextmanager
def bar(console: Console | None = None) -> Iterator[Progress]:
    """A bar on a console, by default that of the errors, and what moves it on."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Bar

    with Bar(console=console or Console(stderr=True)) as shown:
        task = shown.add_task("cells", total=None)

        def advance(done: int, total: int, row: Row) -> None:
            words = [str(row[name]) for name in ("method", "setting") if name in row]
            if "data" in row:
                words.append(f"on {row['data']}")
            shown.update(task, completed=done, total=total, description=escape(" ".join(words)))

        yield advance
