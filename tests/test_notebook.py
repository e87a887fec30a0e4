"""Every notebook runs from top to bottom in a fresh kernel, and shows what it is there to show."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers.processes import HANGS
from helpers.solutions import NUMBER_IN_TEXT, SOLVES

nbformat = pytest.importorskip("nbformat", reason="nbformat, which reads notebooks, is missing")
nbclient = pytest.importorskip("nbclient", reason="nbclient, which runs notebooks, is missing")
pytest.importorskip("ipykernel", reason="ipykernel, in which notebooks run, is missing")

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

# The kernel's client runs in this process, and its libraries warn about each other's and Python's
# interfaces as those change; no test here is about that. Our own code runs in the kernel, where a
# warning goes to stderr: `check_shown` asserts that there is none.
_CLIENT = "(jupyter|nbclient|nbformat|tornado|traitlets|zmq)"
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{category}:{_CLIENT}")
    for category in ("DeprecationWarning", "PendingDeprecationWarning", "RuntimeWarning")
]


def run(path: Path, home: Path) -> tuple[Any, list[str]]:
    """A notebook, executed, and what the solutions of its exercises print after it.

    The interpreter is that of this process: a python3 kernel of the user's may belong to any.
    """
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "Python 3", "language": "python"}
    folder = home / "kernels" / "python3"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    notebook = nbformat.read(path, as_version=4)
    count = len(notebook.cells)
    for solution in solutions(notebook):
        notebook.cells.append(nbformat.v4.new_code_cell(solution))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(home))
        # Neither a startup file of the user's, nor a folder that cannot be written.
        patch.setenv("IPYTHONDIR", str(home / "ipython"))
        patch.setenv("JUPYTER_RUNTIME_DIR", str(home / "runtime"))
        nbclient.NotebookClient(
            notebook, timeout=HANGS, kernel_name="python3", coalesce_streams=True,
            resources={"metadata": {"path": str(FOLDER)}},
        ).execute()  # fmt: skip
    cells = notebook.cells[count:]
    assert [cell.source for cell in cells if spoken(cell.outputs, "stderr")] == []
    answers = [spoken(cell.outputs, "stdout") for cell in cells]
    del notebook.cells[count:]
    return notebook, answers


def solutions(notebook: Any) -> list[str]:
    """The code of the solutions, which are hidden in `details` elements."""
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    hidden = re.findall(r"<details>.*?</details>", "\n".join(cells), re.DOTALL)
    return [code for text in hidden for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]


def outputs(notebook: Any) -> list[Any]:
    return [out for cell in notebook.cells for out in cell.get("outputs", [])]


def printed(notebook: Any, stream: str) -> str:
    return spoken(outputs(notebook), stream)


def spoken(outs: list[Any], stream: str) -> str:
    """What outputs write to a stream; a kernel may send a line in two parts."""
    return "".join(out.text for out in outs if out.output_type == "stream" and out.name == stream)


def displayed(notebook: Any, kind: str) -> list[str]:
    return [out.data[kind] for out in outputs(notebook) if kind in out.get("data", {})]


NUMBER = re.compile(r"\b[0-9a-f]{32,}\b|(?<![A-Za-z_\d])[-−+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?")
"""A digest, or a number that is no part of a name."""


def without_numbers(text: str) -> str:
    """A text with # for each number, and without the spaces that depend on their digits.

    >>> without_numbers("x = [ 0.8 -1.2e-05], l1-gaussian: 1 node, 0.3 s")
    'x = [# #], l1-gaussian: # node, # s'
    """
    shorter = re.sub(r"\bnodes\b", "node", NUMBER.sub("#", text))
    return re.sub(r"(?<=[\[(]) | (?=[\])])", "", re.sub(r"\s+", " ", shorter)).strip()


def shown(notebook: Any) -> list[tuple[str, str]]:
    """Every output with the name of its cell: texts without numbers, of a picture its text.

    A table is taken from its HTML, as its text breaks lines where the numbers are wide.
    """
    found = []
    for cell in notebook.cells:
        streams = [out for out in cell.get("outputs", []) if out.output_type == "stream"]
        found += [(cell.id, without_numbers(out.text)) for out in streams]
        for out in cell.get("outputs", []):
            data = out.get("data", {})
            kind = next((kind for kind in KINDS if kind in data), "")
            if kind == "image/png":
                alt = without_numbers(out.metadata["image/png"]["alt"])
                found.append((cell.id, f"picture: {alt}"))
            elif kind:
                found.append((cell.id, without_numbers(data[kind])))
    return found


KINDS = ("image/png", "text/html", "text/markdown", "text/latex", "text/plain")
"""What an output is compared by: the first of these that it has."""

MAX_STORED_BYTES = 400_000
"""Of a notebook with its outputs; code hosts show larger files late or not at all."""

MAX_STORED_BYTES_OF_ALL = 1_500_000
"""Of all notebooks, which every clone of the repository holds."""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_stored_notebook_is_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    check_outputs(path, notebook)
    check_pictures(notebook)
    check_exercises(notebook)
    check_first_cell(notebook, monkeypatch)


def check_outputs(path: Path, notebook: Any) -> None:
    assert notebook.metadata.kernelspec.name == "python3"
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    check_shown(path, notebook)
    assert path.stat().st_size < MAX_STORED_BYTES


def test_notebooks_are_small() -> None:
    assert sum(path.stat().st_size for path in NOTEBOOKS) < MAX_STORED_BYTES_OF_ALL


def check_first_cell(notebook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file beside it is needed, and the first code cell says how to install the package."""
    codes = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    beside = {other.stem for other in FOLDER.iterdir()}
    imported = set(re.findall(r"^\s*(?:from|import) (\w+)", "\n".join(codes), re.MULTILINE))
    assert imported & beside == set()
    monkeypatch.setitem(sys.modules, "indefinite_opt", None)
    with pytest.raises(ImportError, match=r"checkout(.|\n)*pip install '\.\[test\]'(.|\n)*git\+"):
        exec(codes[0], {})


def check_pictures(notebook: Any) -> None:
    """They have alternative texts."""
    pictures = [out for out in outputs(notebook) if "image/png" in out.get("data", {})]
    texts = [out.metadata.get("image/png", {}).get("alt", "") for out in pictures]
    assert [text for text in texts if not text.endswith(".")] == []


def check_exercises(notebook: Any) -> None:
    """There are three, with hidden solutions."""
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    exercises = text.partition("## Exercises")[2]
    assert re.findall(r"^\*\*(\d)\.\*\*", exercises, re.MULTILINE) == ["1", "2", "3"]
    assert exercises.count("<details><summary>Solution</summary>") == 3
    assert len(solutions(notebook)) == 3


def test_handouts_have_the_exercises_without_their_solutions(tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / "execute.py"), "--handouts", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, timeout=HANGS)
    for path in NOTEBOOKS:
        kept, whole = (
            "".join(json.loads((folder / path.name).read_text("utf-8"))["cells"][-1]["source"])
            for folder in (tmp_path, FOLDER)
        )
        assert re.findall(r"^\*\*\d\.\*\*.*", kept, re.MULTILINE) == re.findall(
            r"^\*\*\d\.\*\*.*", whole, re.MULTILINE
        )
        assert "References" in kept or "References" not in whole
        assert "Solution" not in kept
        assert "details" not in kept


SHOWS: dict[str, tuple[int, tuple[str, ...]]] = {
    "01": (5, (
        r"\nLOCAL: the point is a local optimum",
        r"(?s)(\nGLOBAL: the point is a global optimum.*){2}",
        "no bound on the global optimum is known", r"\\tilde\{K\}", r"\\\|u\\\|_1",
        # Haasdonk's figure 3: 2 / ⟨v, v⟩ at the vertices v = (2, 1) and (2, -5/4), 2/3 and 32/39.
        r"random starts: 0\.666667", r"random starts: 0\.820513",
        # The edge from (2, 1) to (2, -5/4) is farthest from the origin at (2, 0): 2² = 4.
        "STATIONARY: the point is stationary", "objective        -4\n",
    )),
    "02": (2, (
        "LOCAL: the point is a local optimum",
        # On the axis of a₁: max a - 0.2 a² = 1.25. H = [[0.4, 1.2], [1.2, 0.6]] has the
        # eigenvalues 0.5 ± √1.45.
        r"two points \(n = 2\): 1\.25 ≤ optimal value ≤ 1\.25\n",
        r"minimum of the relaxation -1\.250000", r"f has the curvatures \[-0\.704  1\.704\]",
        # 0.2 a² - a and 0.3 b² - b have the minima -5/4 and -5/6.
        r"x₁x₂ alone +curvatures \[0\.4 0\.6\], minimum -2\.083, never above f",
        # With ½(0 + 3a + 3b - 9) for ab f is least at 0: -½ · 1.2 · 9. With the larger of both it
        # is least where a + b = 3, at (1.8, 1.2): 0.648 + 0.432 - 3.
        r"averaged planes +minimum -5\.400", r"McCormick's envelope +minimum -1\.920",
        r"by relaxation .* never above f",
        # Spoilt multipliers prove less, by a positive number.
        r"weaker by +(?!0\.0+\n)\d+\.\d+\n",
    )),
    "03": (3, (
        r"LOCAL: the point is a local optimum", "PROVED: optimal value >=",
        "GLOBAL: the point is a global optimum",
        r"the convex stand-in is worse than the best portfolio by (?!0\.00 )\d+\.\d+ percentage",
    )),
    "04": (5, (
        # 2 / ⟨v, v⟩ at the better vertex v = (2, -5/4) of Haasdonk's figure 3: 32/39.
        r"0\.8205128205 ≤ optimal value ≤ 0\.82051282", r"suitable +False",
        # By construction the machine is upside down in figure 2d.
        "the machine classifies 0% correctly",
    )),
    "05": (4, (
        # G = [[-1, 1.5], [1.5, -1/6]]: G (0.8, 1.2) = (1, 1).
        r"stationary point \[0\.8 1\.2\]",
        r"violation +\d\.\d+e-\d+\nholds +True",
        # Derived in `docs/theory/loosli.md`.
        r"α₊ = \[-0\.04  0\.08\], α₋ = \[-0\.24 -0\.12\]",
        r"largest violation of the bounds of \(19\): 0\.04",
    )),
    "06": (4, (r"\{'GLOBAL'\}", r"after \d+ cuts [\d.]+")),
    "07": (2, ()),
    "08": (4, (
        # A metric has no shorter way over a third word.
        r"\b0\.0% of the pairs are shorter", "suitable: True", "rows agree up to 1e-12: True",
        r"LOCAL: the point is a local optimum",
    )),
    "09": (2, (
        r"MISSED BY 0\.0\d", "OPTIMAL, PROVED", "PROVED: optimal value",
        r"(?s)\A(?!.*FALSE PROOF)",
    )),
    "10": (1, (
        r"eᵀα ≥ ν +\(total\)", r"0 ≤ α ≤ 1/n +\(lower, upper\)", r"\\alpha \\ge \\nu",
        "solved as   a quadratic program with 2 rows", "\nLOCAL: the point is a local optimum",
        r"\nGLOBAL: .*(?s:.*)ours (\d\.\d{4})\d+(e-\d+), cvxpy's \1\d+\2\n", "DCPError",
        r"relative gap +\d\.\d+e-0[6-9]",
        # Schölkopf et al. (2000) prove both for every point that meets the first-order conditions.
        "margin errors ≤ ν ≤ support vectors: True",
    )),
    "11": (5, (
        # 6 kernels, and for each 2 sizes of 2 data sets and 3 C.
        "72 problems, all optima proved", "LIBSVM, smo and dca fall short together on",
        # The larger of two planes is above their mean.
        r"median gap, separable +6\.\d\nmedian gap, envelope +4\.\d\n",
    )),
    "12": (6, (
        "LOCAL: the point is a local optimum",
        r"objective +0\.0000 .* FEASIBLE\n", r"e-0[5-9] +GLOBAL\n",
        # Shor's relaxation by Clarabel: 2904.7.
        r"lagrangian +2904\.71\d +gap 1\.2e-01", r"branch-and-bound +2602\.95\d",
        # The best of the seven corners, by enumeration: -1.2874099267.
        r"PROVED: optimal value >= -1\.28740993", "\nFAILED: ",
        "PROVED: the program is unbounded", "PROVED: the program is infeasible",
    )),
    "13": (1, (
        r"step +3000  objective +-\d\.?\d*e\+\d+", r"f = -3197\.37 t² \+ 65\.38 t",
        "The model is unbounded: ", r"hinge +price 0\.0: +-3301\.99 t²",
        r"logistic +price 0\.1: +-3301\.99 t²", "indefinite, primal  False",
        "indefinite, dual    True", "PROVED: the model is unbounded",
    )),
}  # fmt: skip
"""How many pictures each notebook has at least, and what it shows."""


def check_shown(path: Path, notebook: Any) -> None:
    """What it is there to show; an error in a display stops no cell, but leaves an output."""
    pictures, words = SHOWS[path.stem[:2]]
    assert [out for out in outputs(notebook) if out.output_type == "error"] == []
    assert printed(notebook, "stderr") == ""
    assert len(displayed(notebook, "image/png")) >= pictures
    kinds = ("text/latex", "text/markdown")
    text = "\n".join(
        [printed(notebook, "stdout"), *(t for k in kinds for t in displayed(notebook, k))]
    )
    assert [part for part in words if not re.search(part, text)] == []


def check_solved(path: Path, answers: list[str]) -> None:
    """Every solution prints what its text says."""
    checks = SOLVES[path.stem[:2]]
    for check, answer in zip(checks, answers, strict=True):
        assert check(answer, [float(one) for one in NUMBER_IN_TEXT.findall(answer)]), answer


def test_every_notebook_is_listed() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == list(SHOWS) == list(SOLVES)


# With its solutions each takes up to a minute.
@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_fresh_run_shows_what_is_stored(path: Path, tmp_path: Path) -> None:
    """In every cell the same texts, numbers apart, and pictures with the same texts."""
    fresh, answers = run(path, tmp_path)
    check_shown(path, fresh)
    check_solved(path, answers)
    assert shown(fresh) == shown(nbformat.read(path, as_version=4))


def test_only_numbers_are_left_out_of_the_comparison() -> None:
    text = "κ = [ 0.8 -1.20e-05]\n<td>3</td> l1-gaussian(gamma=2) figure4a  3 nodes, 0.3s: LOCAL"
    expected = "κ = [# #] <td>#</td> l1-gaussian(gamma=#) figure4a # node, #s: LOCAL"
    assert without_numbers(text) == expected
