"""Texts with numbers that are filled in by name, and with conditions that their sentences need.

A template has `{miss[LIBSVM][all]:percent}` where a number stands. A line such as

    <!-- holds: miss[LIBSVM][C10].low > miss[LIBSVM][C1].high -->

before a paragraph is what its words say of the numbers. Where it does not hold, the text is not
made: `Contradicted` names the condition and both sides, and the paragraph has to be written anew.
"""

from __future__ import annotations

import operator
import re
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from indefinite_opt.errors import DataError

FOLDER = Path(__file__).with_name("texts")

CONDITION = re.compile(r"^<!-- holds: (.+?) (<=|>=|<|>|==) (.+?) -->\n", re.MULTILINE)

OPERATORS = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq
}  # fmt: skip


class Contradicted(DataError):
    """A sentence says what the numbers of the table do not."""


def filled(template: str, numbers: Mapping[str, Any]) -> str:
    """The text with its numbers, after a check of its conditions.

    >>> filled("<!-- holds: a > 1 -->\\nIt is {a:.1f}.", {"a": 2.0})
    'It is 2.0.'
    """
    for left, sign, right in CONDITION.findall(template):
        values = [_value(side, numbers) for side in (left, right)]
        if not OPERATORS[sign](*values):
            got = " and ".join(f"{value:.6g}" for value in values)
            advice = "Write the sentences after it anew."
            raise Contradicted("text", f"{left} {sign} {right}", got, advice)
    return CONDITION.sub("", template).format_map(numbers)


def _value(side: str, numbers: Mapping[str, Any]) -> float:
    """A number that is written, or that has a name."""
    try:
        return float(side)
    except ValueError:
        found, _ = string.Formatter().get_field(side, (), numbers)
        return float(getattr(found, "value", found))


def words(text: str) -> int:
    """The words of written prose: without headings, tables, code, pictures and references.

    >>> words("# A title\\n\\nTwo words.\\n\\n| a | table |\\n\\n## References\\n\\nMore words.")
    2
    """
    prose = re.split(r"^## References$", text, maxsplit=1, flags=re.MULTILINE)[0]
    prose = re.sub(r"^```.*?^```$", "", prose, flags=re.MULTILINE | re.DOTALL)
    kept = [line for line in prose.splitlines() if not line.startswith(("#", "|", "![", "<!--"))]
    return len(" ".join(kept).split())
