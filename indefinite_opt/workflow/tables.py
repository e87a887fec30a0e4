"""Tables as aligned text, in HTML, in Markdown and in LaTeX, which pandas writes.

A table is a DataFrame, or a list of rows whose cells have the heads of the columns as keys. `best`
is a Boolean array of the shape of the table, and says which cells are marked.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    Table: TypeAlias = pd.DataFrame | Sequence[Mapping[str, Any]]

Best: TypeAlias = NDArray[np.bool_] | None

WIDTH = 80
"""Columns of the printed tables."""

LEAST = 12
"""Characters of the first column that are always shown."""

_WRAP = 5
"""Columns of the two spaces before a cell, and of the mark at the end of a line that goes on."""

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"$<$", ">": r"$>$", "±": r"$\pm$", "–": "--", "≤": r"$\le$", "×": r"$\times$",
    "γ": r"$\gamma$", "ρ": r"$\rho$", "μ": r"$\mu$", "ν": r"$\nu$", "²": r"$^2$",
    "ε": r"$\varepsilon$", "α": r"$\alpha$", "β": r"$\beta$", "δ": r"$\delta$", "λ": r"$\lambda$",
    "σ": r"$\sigma$", "∞": r"$\infty$", "≥": r"$\ge$", "·": r"$\cdot$", "−": "$-$", "|": "$|$",
    "…": r"\dots{}", "\n": " ",
}  # fmt: skip
"""What LaTeX writes letters and signs by."""

_POWER = re.compile(r"\b([1-9])e-0*([1-9][0-9]*)\b")
"""A number such as 6e-5."""

_MINUS = re.compile(r"(?<![\w.)])-(?=[\d.])")
"""The sign of a number, which is longer than a hyphen."""


def aligned(title: str, table: Table, notes: Sequence[str] = (), best: Best = None) -> str:
    """The title above the table, whose first column is cut where a line would not fit, and notes.

    Columns for which a line is too short follow below, with the first column again. The best cells
    end with a star.

    >>> print(aligned("Squares", [{"n": "2", "square": "4"}, {"n": "10", "square": "100"}]))
    Squares
    n   square
    2        4
    10     100
    """
    parts = [_aligned_cells(table, best)] if len(table) else []
    return "\n".join([_wrapped(title), *parts, *map(_wrapped, notes)])


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _aligned_cells(table: Table, best: Best) -> str:
    """The table in lines of at most `WIDTH` columns."""
    import pandas as pd

    texts = _texts(table, str)
    if best is not None:
        texts.iloc[:, 1:] += np.where(best[:, 1:], "*", " ").astype(object)
    # Heads are cut and aligned as cells are.
    cells = pd.DataFrame([list(texts), *texts.to_numpy().tolist()])
    lengths = cells.map(len).max().to_numpy()
    others = np.minimum(lengths[1:], WIDTH - LEAST - _WRAP)
    room = WIDTH - int(np.sum(others + 2))
    fits = room >= min(lengths[0], LEAST)
    if not fits:
        room = min(WIDTH // 2, WIDTH - _WRAP - max(others))
    for k, most in enumerate([room, *others]):
        cells[k] = [text if len(text) <= most else f"{text[: most - 1]}…" for text in cells[k]]
    named = cells.set_index(0)  # which pandas aligns to the left, and repeats
    lines = named.to_string(header=False, index_names=False, line_width=None if fits else WIDTH)
    return "\n".join(line.rstrip() for line in lines.splitlines())


def _texts(
    table: Table,
    written: Callable[[str], str],
    best: Best = None,
    before: str = "",
    after: str = "",
) -> pd.DataFrame:
    """The heads and cells as some format writes them, and marks around the best cells."""
    import pandas as pd

    frame = pd.DataFrame(table, dtype=object)
    texts = frame.map(lambda cell: written(str(cell))).rename(columns=written)
    return texts if best is None else texts.mask(best, before + texts + after)


def html_table(title: str, table: Table, notes: Sequence[str] = (), best: Best = None) -> str:
    """The title above the table, whose cells are not cut, and a paragraph for each note.

    The best cells are bold.

    >>> html_table("<2>", [{"n": "4"}], ["A note."]).partition("<table")[0]
    '<div><strong>&lt;2&gt;</strong>'
    """
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    above = f"<strong>{html.escape(title)}</strong>" if title else ""
    return f"<div>{above}{html_cells(table, best)}{below}</div>"


def html_cells(table: Table, best: Best = None) -> str:
    """The table of `html_table` alone; numbers in cells are written by `str`.

    >>> html_cells([{"n": "<2>"}]).split()[-6:]
    ['<tbody>', '<tr>', '<td>&lt;2&gt;</td>', '</tr>', '</tbody>', '</table>']
    """
    texts = _texts(table, html.escape, best, "<b>", "</b>")
    return texts.to_html(index=False, border=0, escape=False)


def markdown_table(table: Table, right: Collection[Hashable], best: Best = None) -> str:
    """The table in GitHub's Markdown, with some columns aligned to the right; the best are bold.

    >>> print(markdown_table([{"name": "a|b", "n": 2}], ["n"]))
    | name | n |
    | --- | ---: |
    | a\\|b | 2 |
    """
    texts = _texts(table, _markdown, best, "**", "**")
    sides = ["---:" if head in right else "---" for head in texts]
    lines: list[list[Any]] = [list(texts), sides, *texts.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _markdown(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def latex_table(
    table: Table,
    right: Collection[Hashable],
    caption: str,
    label: str,
    best: Best = None,
    ruled: Collection[int] = (),
) -> str:
    r"""The table for a paper; needs ``\usepackage{booktabs}``.

    Some columns are aligned to the right, and the best cells are bold. There is a rule above the
    rows with the numbers in `ruled`.

    >>> print(latex_table([{"n": 1, "f": "±1"}], ["f"], "Squares", "tab:squares"))
    \begin{table}
    \centering
    \caption{Squares}
    \label{tab:squares}
    \begin{tabular}{lr}
    \toprule
    n & f \\
    \midrule
    1 & $\pm$1 \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    import pandas as pd

    sides = "".join("r" if head in right else "l" for head in pd.DataFrame(table))
    texts = _texts(table, escaped, best, r"\textbf{", "}")
    names = ("\\midrule\n" * (row in ruled) + name for row, name in enumerate(texts.iloc[:, 0]))
    texts.isetitem(0, list(names))
    return texts.style.hide(axis="index").to_latex(
        hrules=True, position_float="centering", column_format=sides, caption=escaped(caption),
        label=label or None,
    )  # fmt: skip


def escaped(text: str) -> str:
    r"""The text for LaTeX.

    >>> escaped("95.4 ± 1.2 %"), escaped("a_1 & b"), escaped("6e-5"), escaped("-0.1, 5-NN")
    ('95.4 $\\pm$ 1.2 \\%', 'a\\_1 \\& b', '$6\\cdot 10^{-5}$', '$-$0.1, 5-NN')
    """
    parts, end = [], 0
    for power in _POWER.finditer(text):
        parts += [_plain(text[end : power.start()]), rf"${power[1]}\cdot 10^{{-{power[2]}}}$"]
        end = power.end()
    return "".join([*parts, _plain(text[end:])])


def _plain(text: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in _MINUS.sub("−", text))
