"""Tables for papers, in LaTeX with the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence

Cell = str | tuple[str, bool]
"""A text, and whether it is bold."""

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"$<$", ">": r"$>$", "±": r"$\pm$", "–": "--", "≤": r"$\le$", "×": r"$\times$",
    "γ": r"$\gamma$", "ρ": r"$\rho$", "μ": r"$\mu$", "ν": r"$\nu$", "²": r"$^2$",
    "ε": r"$\varepsilon$", "α": r"$\alpha$", "β": r"$\beta$", "δ": r"$\delta$", "λ": r"$\lambda$",
    "σ": r"$\sigma$", "∞": r"$\infty$", "≥": r"$\ge$", "·": r"$\cdot$", "−": "$-$", "|": "$|$",
    "…": r"\dots{}", "\n": " ",
}  # fmt: skip

_POWER = re.compile(r"\b([1-9])e-0*([1-9][0-9]*)\b")
"""A number such as 6e-5."""

_MINUS = re.compile(r"(?<![\w.)])-(?=[\d.])")
"""The sign of a number, which is longer than a hyphen."""


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


def latex_table(
    head: Sequence[str],
    groups: Sequence[Sequence[Sequence[Cell]]],
    columns: str,
    caption: str,
    label: str,
) -> str:
    r"""A table with groups of rows between rules; needs ``\usepackage{booktabs}``.

    >>> print(latex_table(["n", "f"], [[["1", ("2", True)]]], "lr", "Squares", "tab:squares"))
    \begin{table}
      \centering
      \caption{Squares}
      \label{tab:squares}
      \begin{tabular}{lr}
        \toprule
        n & f \\
        \midrule
        1 & \textbf{2} \\
        \bottomrule
      \end{tabular}
    \end{table}
    """
    body: list[str] = []
    for group in groups:
        body += [r"\midrule", *(rf"{' & '.join(map(_cell, row))} \\" for row in group)]
    lines = [r"\toprule", rf"{' & '.join(map(escaped, head))} \\", *body, r"\bottomrule"]
    return "\n".join([
        r"\begin{table}", r"  \centering", rf"  \caption{{{escaped(caption)}}}",
        *([rf"  \label{{{label}}}"] if label else []),
        rf"  \begin{{tabular}}{{{columns}}}", *(f"    {line}" for line in lines),
        r"  \end{tabular}", r"\end{table}",
    ])  # fmt: skip


def _cell(cell: Cell) -> str:
    text, bold = (cell, False) if isinstance(cell, str) else cell
    return rf"\textbf{{{escaped(text)}}}" if bold else escaped(text)
