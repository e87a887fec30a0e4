"""Every notebook runs from top to bottom in a fresh kernel, and shows what it is there to show."""

from __future__ import annotations

import json
import re
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
    """A function that executes a notebook and the solutions of its exercises, once.

    It returns the notebook without the solutions. The interpreter is that of this process.
    """
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
            count = len(notebook.cells)
            for solution in solutions(notebook):
                notebook.cells.append(nbformat.v4.new_code_cell(solution))
            where = {"metadata": {"path": str(FOLDER)}}
            client = nbclient.NotebookClient(
                notebook, timeout=300, kernel_name="python3", resources=where
            )
            client.execute()
            del notebook.cells[count:]
            done[path] = notebook
        return done[path]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(home))
        # Neither a startup file of the user's, nor a folder that cannot be written.
        patch.setenv("IPYTHONDIR", str(home / "ipython"))
        patch.setenv("JUPYTER_RUNTIME_DIR", str(home / "runtime"))
        yield execute


def solutions(notebook: Any) -> list[str]:
    """The code of the solutions, which are hidden in `details` elements."""
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    hidden = re.findall(r"<details>.*?</details>", "\n".join(cells), re.DOTALL)
    return [code for text in hidden for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]


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


MAX_STORED_BYTES = 700_000
"""Of a notebook with its outputs; code hosts show larger files late or not at all."""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_stored_with_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert [out for out in outputs(notebook) if out.output_type == "error"] == []
    assert printed(notebook, "stderr") == ""
    assert len(displayed(notebook, "image/png")) >= 2
    assert path.stat().st_size < MAX_STORED_BYTES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pictures_have_alternative_texts(path: Path) -> None:
    shown = outputs(nbformat.read(path, as_version=4))
    pictures = [out for out in shown if "image/png" in out.get("data", {})]
    texts = [out.metadata.get("image/png", {}).get("alt", "") for out in pictures]
    assert [text for text in texts if not text.endswith(".")] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_has_three_exercises_with_hidden_solutions(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    exercises = text.partition("## Exercises")[2]
    assert re.findall(r"^\*\*(\d)\.\*\*", exercises, re.MULTILINE) == ["1", "2", "3"]
    assert exercises.count("<details><summary>Solution</summary>") == 3
    assert len(solutions(notebook)) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_has_no_assertions_between_the_lines(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert [line for source in sources for line in source.split("\n") if "assert " in line] == []


# With its solutions each takes up to a minute.
@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path: Path, run: Any) -> None:
    notebook = run(path)
    # An error while a value is displayed stops no cell, but it leaves an output.
    assert [out for out in outputs(notebook) if out.output_type == "error"] == []
    assert printed(notebook, "stderr") == ""


@pytest.mark.slow
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
        # 6 kernels, and for each 2 sizes of 2 data sets and 3 C.
        assert "72 problems, all optima proved" in printed(study, "stdout")

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

    def test_draws_its_figures(self, study: Any) -> None:
        assert len(displayed(study, "image/png")) >= 7


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


@pytest.mark.slow
class TestLightCone:
    @pytest.fixture
    def lesson(self, run: Any) -> Any:
        return run(FOLDER / "04-light-cone.ipynb")

    def test_proves_the_optimum_of_haasdonks_figure_3(self, lesson: Any) -> None:
        # 2 / ⟨v, v⟩ at the better vertex v = (2, -5/4): 32/39.
        text = printed(lesson, "stdout")
        assert "0.8205128205 ≤ optimal value ≤ 0.82051282" in text

    def test_says_that_figure_2d_is_unsuitable(self, lesson: Any) -> None:
        text = printed(lesson, "stdout")
        assert "wᵀMw < 0 for every solution; unsuitable" in text
        # By construction the machine is upside down there.
        assert "the machine classifies 0% correctly" in text


@pytest.mark.slow
class TestKreinSpaces:
    @pytest.fixture
    def lesson(self, run: Any) -> Any:
        return run(FOLDER / "05-krein-spaces.ipynb")

    def test_finds_the_stationary_point(self, lesson: Any) -> None:
        # G = [[-1, 1.5], [1.5, -1/6]]: G (0.8, 1.2) = (1, 1).
        assert "stationary point [0.8 1.2]" in printed(lesson, "stdout")

    def test_certifies_esvm_and_refutes_the_dual_problem(self, lesson: Any) -> None:
        text = printed(lesson, "stdout")
        assert "STABILISED: the conditions hold with the original kernel" in text
        # Derived in the docstring of `dual_stabilisation`.
        assert "α₊ = [-0.04  0.08], α₋ = [-0.24 -0.12]" in text
        assert "is NOT feasible for (19) and (20)" in text


@pytest.mark.slow
class TestProxyKernels:
    def test_the_methods_agree_and_all_are_proved(self, run: Any) -> None:
        lesson = run(FOLDER / "06-proxy-kernels.ipynb")
        text = printed(lesson, "stdout")
        assert "{'GLOBAL'}" in text
        after, optimum = (
            float(re.search(pattern, text)[1])  # type: ignore[index]
            for pattern in (r"after 9 cuts ([\d.]+)", r"optimum ([\d.]+)")
        )
        assert 0.0 <= optimum - after < 0.01 * optimum


@pytest.mark.slow
class TestProximityData:
    def test_says_which_data_it_ran_on(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Any
    ) -> None:
        """It runs without the file, too: once more where the file is at hand."""
        lesson = run(FOLDER / "08-proximity-data.ipynb")
        assert "rows agree up to 0e+00" in printed(lesson, "stdout")
        if printed(lesson, "stdout").startswith("213 proteins;"):
            monkeypatch.setenv("INDEFINITE_OPT_DATA", str(tmp_path))
            client = nbclient.NotebookClient(
                lesson, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
            )
            client.execute()
        text = printed(lesson, "stdout")
        assert text.startswith("a stand-in: edit distances of 80 words")
        assert "The Gaussian kernel is" in text


@pytest.mark.slow
class TestCheckYourOwnSolver:
    def test_compares_with_the_library_and_proves_it_again(self, run: Any) -> None:
        text = printed(run(FOLDER / "09-check-your-own-solver.ipynb"), "stdout")
        assert "epanechnikov-060-c10: feasible, and worse than the best-known objective" in text
        assert "FALSE CERTIFICATE" not in text
        assert "PROVED" in text
