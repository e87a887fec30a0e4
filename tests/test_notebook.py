"""Every notebook runs from top to bottom in a fresh kernel, and shows what it is there to show."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat, which reads notebooks, is missing")
nbclient = pytest.importorskip("nbclient", reason="nbclient, which runs notebooks, is missing")
pytest.importorskip("ipykernel", reason="ipykernel, in which notebooks run, is missing")

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

# The kernel's client runs in this process, and its libraries warn about each other's and Python's
# interfaces as those change; no test here is about that. Our own code runs in the kernel, where a
# warning goes to stderr: `test_runs` asserts that there is none.
_CLIENT = "(jupyter|nbclient|nbformat|tornado|traitlets|zmq)"
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{category}:{_CLIENT}")
    for category in ("DeprecationWarning", "PendingDeprecationWarning", "RuntimeWarning")
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A function that executes a notebook, once, with the interpreter of this process."""
    home = tmp_path_factory.mktemp("jupyter")
    # A python3 kernel of the user's may belong to any interpreter: this one cannot.
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "Python 3", "language": "python"}
    folder = home / "kernels" / "python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    done: dict[Path, Any] = {}

    def execute(path: Path) -> Any:
        if path not in done:
            notebook = nbformat.read(path, as_version=4)
            where = {"metadata": {"path": str(home)}}
            client = nbclient.NotebookClient(
                notebook, timeout=300, kernel_name="python3", resources=where
            )
            client.execute()
            done[path] = notebook
        return done[path]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(home))
        # Neither a startup file of the user's, nor a folder that cannot be written.
        patch.setenv("IPYTHONDIR", str(home / "ipython"))
        patch.setenv("JUPYTER_RUNTIME_DIR", str(home / "runtime"))
        yield execute


def outputs(notebook: Any) -> list[Any]:
    return [out for cell in notebook.cells for out in cell.get("outputs", [])]


def printed(notebook: Any, stream: str) -> str:
    shown = (
        out.text for out in outputs(notebook) if out.output_type == "stream" and out.name == stream
    )
    return "\n".join(shown)


def displayed(notebook: Any, kind: str) -> list[str]:
    return [out.data[kind] for out in outputs(notebook) if kind in out.get("data", {})]


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in cells] == [[]] * len(cells)
    assert {cell.execution_count for cell in cells} == {None}


# The second notebook proves a hundred brackets, and takes a minute; the third one takes half of it.
RUNS = [
    pytest.param(path, marks=[pytest.mark.slow] if path.stem[:2] in ("02", "03") else [])
    for path in NOTEBOOKS
]


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_runs(path: Path, run: Any) -> None:
    notebook = run(path)
    # An error while a value is displayed stops no cell, but it leaves an output.
    assert [out for out in outputs(notebook) if out.output_type == "error"] == []
    assert printed(notebook, "stderr") == ""


class TestTour:
    @pytest.fixture
    def tour(self, run: Any) -> Any:
        return run(FOLDER / "01-tour.ipynb")

    def test_shows_the_formulations_as_mathematics(self, tour: Any) -> None:
        programs = displayed(tour, "text/latex")
        assert [r"\max" in program for program in programs] == [True, True, False, True]
        assert [r"\min" in program for program in programs] == [False, False, True, False]
        assert r"\alpha^\top Q \alpha" in programs[0]
        assert r"\tilde{K}" in programs[1]
        assert r"\|u\|_1" in programs[2]

    def test_prints_what_each_certificate_proves(self, tour: Any) -> None:
        text = printed(tour, "stdout")
        assert "\nLOCAL: the point is a local optimum" in text
        assert text.count("\nGLOBAL: the point is a global optimum") == 2
        assert "duality gap" in text
        assert "no bound on the global optimum is known" in text

    def test_finds_both_optima_of_haasdonks_figure_3(self, tour: Any) -> None:
        # 2 / ⟨v, v⟩ at the vertices v = (2, 1) and (2, -5/4): 2/3 and 32/39.
        text = printed(tour, "stdout")
        assert text.count("random starts: 0.666667") == 1
        assert text.count("random starts: 0.820513") == 1

    def test_refuses_the_worst_point_and_the_wrong_solver(self, tour: Any) -> None:
        text = printed(tour, "stdout")
        # The edge from (2, 1) to (2, -5/4) is farthest from the origin at (2, 0): 2² = 4.
        assert "STATIONARY: the point is stationary" in text
        assert "objective        -4\n" in text
        assert "IncompatibleSolver: clarabel cannot solve SVMDual" in text

    def test_draws_its_figures(self, tour: Any) -> None:
        assert len(displayed(tour, "image/png")) >= 4


@pytest.mark.slow
class TestLocalSolutions:
    @pytest.fixture
    def study(self, run: Any) -> Any:
        return run(FOLDER / "02-how-good-are-local-solutions.ipynb")

    def test_proves_every_optimum_of_the_study(self, study: Any) -> None:
        # 6 kernels, and for each 2 sizes of 3 data sets and 3 C, and one of 1 and 2.
        assert "120 problems, all optima proved" in printed(study, "stdout")

    def test_explains_the_bound_on_a_problem_with_a_closed_form(self, study: Any) -> None:
        text = printed(study, "stdout")
        # On the axis of a₁: max a - 0.2 a² = 1.25. H = [[0.4, 1.2], [1.2, 0.6]] has the
        # eigenvalues 0.5 ± √1.45.
        assert "two points (n = 2): 1.25 ≤ optimal value ≤ 1.25\n" in text
        assert "f has the curvatures [-0.704  1.704]" in text
        assert "separable        [0.4 0.6], never above f, minimum about -5.400" in text

    def test_finds_a_certified_local_optimum_that_falls_short(self, study: Any) -> None:
        assert "LOCAL: the point is a local optimum (tol 1e-05)" in printed(study, "stdout")
        assert any("falls short of the proved one" in m for m in displayed(study, "text/markdown"))

    def test_checks_the_bound_again(self, study: Any) -> None:
        lines = printed(study, "stdout").splitlines()
        names = ("optimal value at least", "at most, by the search", "at most, checked again")
        ends = [
            float(line.removeprefix(name).split()[0])
            for name in names
            for line in lines
            if line.startswith(name)
        ]
        point, bound, checked = ends
        assert point <= checked <= bound * (1.0 + 1e-8)
        assert bound - point <= 1e-6 * point

    def test_checks_answers_to_an_instance_of_the_library(self, study: Any) -> None:
        text = printed(study, "stdout")
        assert "c10: feasible, and worse than the best-known objective" in text
        assert "c10: feasible, and as good as the best-known objective" in text
        assert "FALSE CERTIFICATE" not in text

    def test_draws_its_figures(self, study: Any) -> None:
        assert len(displayed(study, "image/png")) >= 8


@pytest.mark.slow
class TestAnyQuadraticProgram:
    @pytest.fixture
    def story(self, run: Any) -> Any:
        return run(FOLDER / "03-any-quadratic-program.ipynb")

    def test_shows_the_programs_as_mathematics(self, story: Any) -> None:
        programs = displayed(story, "text/latex")
        assert [r"\max" in program for program in programs] == [True, True, False]
        assert [r"G x \le h" in program for program in programs] == [False, False, True]
        assert [r"A x = b" in program for program in programs] == [False, True, True]

    def test_brackets_and_proves_all_three(self, story: Any) -> None:
        text = printed(story, "stdout")
        assert text.count("(PROVED, ") == 3
        # A(8, 4, 4) = 14, the table of Brouwer, Shearer, Sloane and Smith (1990).
        assert "\n14 ≤ ω ≤ 14." in text
        verdicts = displayed(story, "text/markdown")
        assert any("No code has more than **14** words" in verdict for verdict in verdicts)

    def test_claims_no_more_than_was_proved(self, story: Any) -> None:
        text = printed(story, "stdout")
        assert text.count("\nLOCAL: the point is a local optimum") == 2
        assert text.count("\nGLOBAL: the point is a global optimum") == 1
        assert "duality gap" in text
        assert any("falls short" in m or "finds it" in m for m in displayed(story, "text/markdown"))

    def test_draws_its_figures(self, story: Any) -> None:
        assert len(displayed(story, "image/png")) == 6
