"""The pages of the site: their examples run, their files are complete."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import json
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.processes import HANGS

ROOT = Path(__file__).parents[1]
FOLDERS = ("", "guide", "quadratic", "extend", "theory")
PAGES = sorted(path for folder in FOLDERS for path in (ROOT / "docs" / folder).glob("*.md"))
WITH_EXAMPLES = [path for path in PAGES if ">>> " in path.read_text(encoding="utf-8")]


def test_the_pages_have_examples() -> None:
    assert ROOT / "docs" / "start.md" in WITH_EXAMPLES
    assert len(WITH_EXAMPLES) >= 9


NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:e[+-]?\d+)?")


class UpToRounding(doctest.OutputChecker):
    """Accepts other digits of numbers where rounding decides them, as other processors round."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        numbers = [[float(one) for one in NUMBER.findall(text)] for text in (want, got)]
        return NUMBER.sub("#", want) == NUMBER.sub("#", got) and all(
            abs(a - b) <= 1e-6 * abs(a) or max(abs(a), abs(b)) < 1e-5
            for a, b in zip(*numbers, strict=True)
        )


def test_numbers_agree_up_to_rounding() -> None:
    agree = UpToRounding().check_output
    assert agree("gap 2.6e-10, -24.4624183\n", "gap 1e-09, -24.4624184\n", 0)
    assert not agree("24.46\n", "24.47\n", 0)
    assert not agree("residual 2.6e-10\n", "residual 2.6e-04\n", 0)
    assert not agree("LOCAL 1.0\n", "GLOBAL 1.0\n", 0)


@pytest.mark.parametrize(
    "path",
    [path if path.stem == "start" else pytest.param(path, marks=pytest.mark.slow)
     for path in WITH_EXAMPLES],
    ids=lambda path: path.stem,
)  # fmt: skip
def test_examples_run(path: Path) -> None:
    # An output ends with the block of code, and needs no empty line before that.
    text = re.sub(r"^```.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    outcome = doctest.DocTestRunner(UpToRounding()).run(examples)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def docstrings() -> dict[str, str]:
    """All docstrings of the package, by their files and lines."""
    found = {}
    for path in sorted((ROOT / "indefinite_opt").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node, clean=False)
                found[f"{path.name}:{getattr(node, 'lineno', 1)}"] = text or ""
    return found


def test_formulas_have_no_backslashes_that_are_shown() -> None:
    """At the end of a line a backslash is no space, and in a text it escapes nothing."""
    texts = docstrings()
    assert any(".. math::" in text for text in texts.values())
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    texts |= {path.name: path.read_text(encoding="utf-8") for path in pages}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        words = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        texts[path.name] = "\n".join(words)
    single = re.compile(r"(?<!\\)(?:\\\\)*\\$|\\text\{[^{}]*\\", re.MULTILINE)
    commands = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)  # lines of a shell go on
    assert [name for name, text in texts.items() if single.search(commands.sub("", text))] == []


def test_every_formulation_has_a_card() -> None:
    page = (ROOT / "docs" / "guide" / "formulations.md").read_text(encoding="utf-8")
    cards = re.findall(r"^```\{formulation\} (\w+)\(", page, re.MULTILINE)
    assert sorted(cards) == iopt.available_formulations()


class Requests(HTMLParser):
    """The addresses that a browser fetches by itself when it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "link" and values.get("rel") not in ("stylesheet", "preload", "icon"):
            return
        address = values.get("href" if tag == "link" else "src")
        if tag in ("link", "script", "img", "iframe") and address:
            self.addresses.append(address)


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("pydata_sphinx_theme") is None,
    reason="Sphinx and its theme are missing: pip install '.[docs]'",
)
def test_the_site_builds_without_warnings_and_needs_no_network(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=HANGS)
    assert built.stderr == ""
    assert built.returncode == 0
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) > 150
    for page in pages:
        reader = Requests()
        reader.feed(page.read_text(encoding="utf-8"))
        assert [a for a in reader.addresses if re.match(r"(https?:)?//", a)] == [], page.name


def test_a_picture_is_in_a_group_and_says_what_to_see() -> None:
    for path in (ROOT / "docs" / "gallery_scripts").rglob("plot_*.py"):
        assert path.parent.name in ("geometry", "problems", "solvers", "proofs"), path
        code, _, seen = path.read_text(encoding="utf-8").rpartition("# %%\n")
        assert re.search(r"^figure(, axes)? = ", code, re.MULTILINE), path
        lines = seen.splitlines()
        assert all(line.startswith("# ") for line in lines), path
        sentences = re.split(r"(?<=[.?]) ", " ".join(line[2:] for line in lines))
        assert 3 <= len(sentences) <= 4, path


def run_script(name: str) -> dict[str, Any]:
    """The variables of a script of the gallery, such as problems/plot_ranks."""
    shown = runpy.run_path(str(ROOT / "docs" / "gallery_scripts" / f"{name}.py"))
    plt.close("all")
    return shown


def test_the_gap_in_the_picture_of_another_solver_is_its_own() -> None:
    """It is that of the points of LIBSVM, not that of the bracket, which ends at what was asked."""
    shown = run_script("solvers/plot_own_solver")
    bracket = iopt.bound(shown["problem"], shown["dual"], gap=1e-6)
    assert bracket.relative_gap <= 1e-6
    assert min(shown["gaps"]) > 0.5
    assert shown["residuals"][-1] < 1e-4 * shown["residuals"][0]


def test_the_width_in_the_picture_of_regression_is_that_of_its_share() -> None:
    """ν is at least the share outside of the tube, and at most that outside or on its border."""
    shown = run_script("problems/plot_regression")
    off = np.abs(shown["found"].decision_function(shown["x"][:, None]) - shown["t"])
    _, width = shown["widths"]
    assert np.mean(off > 1.0001 * width) <= shown["found"].formulation.nu
    assert np.mean(off >= 0.9999 * width) >= shown["found"].formulation.nu


@pytest.mark.slow
def test_the_picture_of_ranks_separates_two_groups() -> None:
    (ax,) = run_script("problems/plot_ranks")["figure"].axes
    bars = [line.get_xdata() for line in ax.lines if line.get_linewidth() == 3.0]
    difference = float(re.findall(r"difference (\d\.\d+)", ax.texts[5].get_text())[0])
    assert len(bars) == 2
    assert bars[1][0] - bars[0][1] > difference


def test_the_line_of_the_bound_in_the_picture_of_descents_is_below_every_point() -> None:
    """Whether or not the search has closed the bracket; the depot has the proved optimum."""
    [known] = iopt.depot("boxqp-50-40-1")
    (ax,) = run_script("solvers/plot_ends_of_descents")["figure"].axes
    lines = {line.get_label(): line.get_xdata()[0] for line in ax.lines}
    assert lines.pop("proved bound") <= known.upper + 1e-6 * abs(known.upper)
    (best,) = lines.values()
    assert best >= known.lower
