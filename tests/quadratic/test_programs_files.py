"""Programs from and to files: small files with known content, round trips, damaged files."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers import damage
from indefinite_opt.errors import DataError, ProblemError
from indefinite_opt.foundation import is_sparse
from indefinite_opt.quadratic import QuadraticProgram
from indefinite_opt.quadratic.data.arrays import quadratic_arrays
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.files.reading import write_program

BOX = """3
 1 -2 3
 0 4 0
 4 -6 1
 0 1 2
"""

QPLIB = """! a comment
SMALL # problem name
QCL # type
Maximize
3 # variables
2 constraints, a comment without a sign
3 # quadratic terms in the objective
1 1 2.0
2 1 -4.0
3 3 6.0D0
% another comment
1.0 # default linear coefficient
1 # others
2 -5.0
7.5 # constant
4 # linear terms
1 1 1.0
1 2 1.0
2 2 1.0
2 3 -1.0
1e20 # infinity
-1e20 # left-hand sides
1
2 0.5
1e20 # right-hand sides
2
1 1.5
2 3
0.0 # lower bounds
1
3 -1e+20
1E20 # upper bounds
2
1 3.0
2 3.0
0.0
0
0.0
0
0.0
1
2 1.0
2
1 flow
3 yield
1
2 demand
"""

LP = """\\ a comment
maximize
 obj: 3 x + 2 y - z + 7 + [ 2 x ^2 - 4 x * y + z ^2 ] / 2
subject to
 c1: x + y <= 4
 c2: x - z >= -1
 c3: x + z = 2
bounds
 x <= 5
 -3 <= y <= 8
 z free
end \\ of the program
\\ a comment
"""

MPS = """NAME          SMALL
ROWS
 N  COST
 G  C1
 E  C2
 L  C3
COLUMNS
    X         COST         1.0   C1           1.0
    X         C2           2.0
    Y         COST         2.0   C1           1.0
    Y         C3           1.0
RHS
    RHS       C1           2.0   C2           3.0
    RHS       C3           4.0   COST        -5.0
RANGES
    RNG       C1           2.5
BOUNDS
 UP BND       X            4.0
 FR BND       Y
QUADOBJ
    X         X            8.0
    Y         X            2.0
ENDATA
"""


def stored(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def same(first: QuadraticProgram, second: QuadraticProgram) -> bool:
    letters = ("P", "q", "G", "h", "A", "b", "lb", "ub", "constant", "sense")
    pairs = [(np.array(getattr(first, k)), np.array(getattr(second, k))) for k in letters]
    return all(np.array_equal(a, b) and a.tobytes() == b.tobytes() for a, b in pairs)


# --- known content -------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
def test_in_files_maximise_half_the_form_on_the_unit_box(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("tiny.in.gz" if packed else "tiny.in")
    program = QuadraticProgram.read(stored(path, gzip.compress(BOX.encode()) if packed else BOX))
    assert (program.name, program.sense, program.n) == ("tiny", -1, 3)
    x = np.array([1.0, 0.5, 0.25])
    # ½ (2·4·½ + ... ): the terms 4 x1 x2, -3 x2², x2 x3, x3² and the linear part, by hand.
    value = 4 * 0.5 - 3 * 0.25 + 0.5 * 0.25 + 0.0625 + 1 - 1 + 0.75
    assert program.objective(x) == -value
    assert program.lb.tolist() == [0, 0, 0]
    assert program.ub.tolist() == [1, 1, 1]


def test_qplib_terms_are_those_of_a_triangle(tmp_path: Path) -> None:
    program = QuadraticProgram.read(stored(tmp_path / "file.qplib", QPLIB))
    assert (program.name, program.sense) == ("SMALL", -1)
    assert program.names.variables == ("flow", "x2", "yield")
    x = np.array([1.0, 2.0, 3.0])
    # ½ (2·1 - 4·2·1 + 6·9) + (1 - 10 + 3) + 7.5
    assert program.objective(x) == -(24.0 - 6.0 + 7.5)
    assert program.G.tolist() == [[1, 1, 0], [0, 1, -1], [0, -1, 1]]
    assert program.h.tolist() == [1.5, 3.0, -0.5]
    assert program.lb.tolist() == [0, 0, -np.inf]
    assert program.ub.tolist() == [3, 3, np.inf]
    assert program.A.shape == (0, 3)


def test_qplib_without_constraints_and_without_quadratic_terms(tmp_path: Path) -> None:
    text = "box\nQCB\nminimize\n2\n1\n2 1 3\n0\n1\n1 -1\n0\n1e30\n0\n0\n1\n0\n0\n0\n0\n0\n0\n0\n"
    program = QuadraticProgram.read(stored(tmp_path / "box.qplib", text))
    assert program.P.tolist() == [[0, 1.5], [1.5, 0]]
    assert program.q.tolist() == [-1, 0]
    assert (program.lb.tolist(), program.ub.tolist()) == ([0, 0], [1, 1])
    unbounded = text.replace("1e30\n0\n0\n1\n0", "1.79769313486232E+308\n0\n0\n1\n1\n2 1.8E+308")
    program = QuadraticProgram.read(stored(tmp_path / "box.qplib", unbounded))
    assert program.ub.tolist() == [1, np.inf]
    linear = "lin\nLCB\nminimize\n2\n1\n0\n0\n1e30\n0\n0\n1\n0\n0\n0\n0\n0\n0\n0\n"
    program = QuadraticProgram.read(stored(tmp_path / "linear.qplib", linear))
    assert (program.P.any(), program.q.tolist()) == (False, [1, 1])


def test_lp_files(tmp_path: Path) -> None:
    program = QuadraticProgram.read(stored(tmp_path / "small.lp", LP))
    assert (program.name, program.sense, program.names.variables) == ("small", -1, ("x", "y", "z"))
    x = np.array([1.0, 2.0, 3.0])
    assert program.objective(x) == -(3 + 4 - 3 + 7 + (2 - 8 + 9) / 2)
    assert program.G.tolist() == [[1, 1, 0], [-1, 0, 1]]
    assert program.h.tolist() == [4, 1]
    assert (program.A.tolist(), program.b.tolist()) == ([[1, 0, 1]], [2])
    assert program.lb.tolist() == [0, -3, -np.inf]
    assert program.ub.tolist() == [5, 8, np.inf]


def test_mps_files(tmp_path: Path) -> None:
    program = QuadraticProgram.read(stored(tmp_path / "other.mps.gz", gzip.compress(MPS.encode())))
    assert (program.name, program.sense, program.names.variables) == ("other", 1, ("X", "Y"))
    x = np.array([1.0, 3.0])
    assert program.objective(x) == 1 + 6 + 5 + 0.5 * (8 + 2 * 2 * 3)
    # The row C1 has the range 2 to 4.5.
    assert program.G.tolist() == [[1, 1], [0, 1], [-1, -1]]
    assert program.h.tolist() == [4.5, 4, -2]
    assert (program.A.tolist(), program.b.tolist()) == ([[2, 0]], [3])
    assert program.lb.tolist() == [0, -np.inf]
    assert program.ub.tolist() == [4, np.inf]


def test_npz_files_of_letters(tmp_path: Path) -> None:
    path = tmp_path / "letters.npz"
    np.savez(path, P=np.diag([1.0, -2.0]), q=np.array([1, 2]), lb=np.zeros(2), ub=np.array(3.0))
    program = QuadraticProgram.read(path)
    assert (program.name, program.sense, program.constant) == ("letters", 1, 0.0)
    assert program.P.tolist() == [[1, 0], [0, -2]]
    assert (program.lb.tolist(), program.ub.tolist()) == ([0, 0], [3, 3])


def test_npz_files_that_the_package_exports(tmp_path: Path) -> None:
    """The objective is that of the formulation, at a point that is feasible."""
    X = np.random.default_rng(0).standard_normal((8, 2))
    problem = iopt.KernelProblem.from_data(X, np.repeat([-1, 1], 4), "sigmoid(a=1, r=-1)")
    program = iopt.SVMDual(C=2.0).program(problem)
    declared = QuadraticProgram.read(program.export(tmp_path / "dual.npz"))
    x = np.full(8, 0.5)
    Q = problem.K * np.outer(problem.y, problem.y)
    assert declared.sense == -1
    assert declared.objective(x) == pytest.approx(0.5 * x @ Q @ x - x.sum(), rel=1e-14)
    assert declared.A.tolist() == [problem.y.tolist()]
    assert (declared.lb.tolist(), declared.ub.tolist()) == ([0.0] * 8, [2.0] * 8)
    linear = QuadraticProgram.read(
        iopt.LPSVM(C=2.0).program(problem).export(tmp_path / "linear.npz")
    )
    assert not linear.P.any()
    for suffix in (".lp", ".mps"):
        again = QuadraticProgram.read(program.export(tmp_path / f"dual{suffix}"))
        assert again.sense == -1
        assert again.objective(x) == pytest.approx(declared.objective(x), rel=1e-12)


# --- round trips ---------------------------------------------------------------------------

FLOATS = np.array([0.0, 5e-324, 1e-310, 2.0**-1022, 1e-13, 1 / 3, 1e16 / 3, 1e22, 1e100])


def drawn(generator: np.random.Generator) -> QuadraticProgram:
    """A program with entries of every size, signs of zero, rows of zeros and bounds that agree."""

    def numbers(*shape: int) -> np.ndarray:
        values = generator.standard_normal(shape) * 10.0 ** generator.integers(-300, 100, shape)
        special = generator.random(shape) < 0.5
        values[special] = generator.choice(FLOATS, shape)[special]
        return values * generator.choice([-1.0, 1.0], shape)

    def sides(count: int) -> np.ndarray:
        return np.clip(numbers(count), -9e19, 9e19)

    n = int(generator.integers(1, 5))
    m, k = generator.integers(0, 4, 2)
    P = np.tril(numbers(n, n))
    low, high = np.sort([sides(n), sides(n)], axis=0)
    low[generator.random(n) < 0.3] = -np.inf
    high[generator.random(n) < 0.3] = np.inf
    fixed = np.isfinite(low) & (generator.random(n) < 0.2)
    arrays = quadratic_arrays(
        P + np.tril(P, -1).T, numbers(n), numbers(m, n), sides(m), numbers(k, n), sides(k),
        low, np.where(fixed, low, high), constant=float(numbers(1)[0]),
        sense=int(generator.choice([-1, 1])),
    )  # fmt: skip
    return QuadraticProgram.from_arrays(arrays)


@pytest.mark.parametrize("suffix", [".npz", ".qplib", ".lp", ".mps", ".mps.gz"])
def test_every_bit_is_kept(suffix: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    path = tmp_path / f"file{suffix}"
    for _ in range(20):
        program = drawn(generator)
        assert same(QuadraticProgram.read(program.write(path)), program)
        written = path.read_bytes()
        assert program.write(path).read_bytes() == written or suffix == ".npz"


def test_what_a_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    program = QuadraticProgram(np.eye(2), [1.0, -1.0], ub=[1.0, 1e20])
    free, none = np.full(2, np.inf), np.zeros(0)
    state = StandardForm(1, np.zeros(2), -free, free, none, none, np.zeros((0, 2)), np.eye(2))
    large = state._replace(hessian=np.full((2, 2), 9.1e307))
    vast = state._replace(lower=np.array([-sys.float_info.max, 0.0]))
    assert same(QuadraticProgram.read(program.write(tmp_path / "a.npz")), program)
    for refused, suffix, words in (
        (state._replace(upper=program.ub), ".lp", "below 1e.20"), (program, ".lp", "below 1e.20"),
        (program, ".mps", "below 1e.20"), (large, ".lp", "doubled without overflow"),
        (large, ".qplib", "doubled without overflow"), (vast, ".qplib", "or infinite ones"),
    ):  # fmt: skip
        path = stored(tmp_path / f"file{suffix}", "what was there")
        with pytest.raises(DataError, match=words):
            refused.write(path) if refused is program else write_program(refused, path)
        assert path.read_text() == "what was there"


def test_a_file_is_replaced_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, path = QuadraticProgram.read("boxqp-3-50-1"), tmp_path / "file.lp"
    content = program.write(path).read_bytes()

    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(DataError, match="No space left"):
        QuadraticProgram.read("boxqp-4-50-1").write(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_matrix_that_was_not_symmetric_is_noted(tmp_path: Path) -> None:
    """Triangles in .lp, .mps and .qplib files state a symmetric matrix; a whole matrix does not."""
    assert QuadraticProgram.read(stored(tmp_path / "a.in", "2  0 0  1 2 0 1")).symmetrised
    assert not QuadraticProgram.read(stored(tmp_path / "b.in", "2  0 0  1 2 2 1")).symmetrised
    assert not QuadraticProgram.read(stored(tmp_path / "c.lp", LP)).symmetrised


def test_in_files_keep_box_programs(tmp_path: Path) -> None:
    program = QuadraticProgram.read("boxqp-15-60-4")
    again = QuadraticProgram.read(program.write(tmp_path / "box.in"))
    assert np.array_equal(again.P, program.P)
    assert np.array_equal(again.q, program.q)
    with pytest.raises(DataError, match="got one with rows"):
        QuadraticProgram.read("stqp-5-50-1").write(tmp_path / "no.in")
    with pytest.raises(DataError, match="rows and other bounds"):
        QuadraticProgram.read("bilinear-3-3-2-1").write(tmp_path / "no.in")


# --- refusals ------------------------------------------------------------------------------


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("f.in", "", "an empty file"),
        ("f.in", "3\n1 2 3", "13 numbers for n = 3, got 4"),
        ("f.in", changed(BOX, "4", "four"), "finite numbers, got 'four'"),
        ("f.in", changed(BOX, "4", "nan"), "finite numbers, got 'nan'"),
        ("f.in", changed(BOX, "3\n", "2.5\n"), "variables first, got 2.5"),
        ("f.in", "1000000", "variables first, got 1e"),
        ("f.qplib", changed(QPLIB, "QCL", "QBL"), "got binary variables"),
        ("f.qplib", changed(QPLIB, "QCL", "LGL"), "got integer variables"),
        ("f.qplib", changed(QPLIB, "QCL", "LCQ"), "got quadratic constraints"),
        ("f.qplib", changed(QPLIB, "QCL", "XYZ"), "a type of the problem"),
        ("f.qplib", changed(QPLIB, "Maximize", "max"), "minimize or maximize in the third line"),
        ("f.qplib", changed(QPLIB, "3 # variables", "0"), "the number of variables"),
        ("f.qplib", changed(QPLIB, "2 1 -4.0", "2 1"), "3 words in a line, got '2 1'"),
        ("f.qplib", changed(QPLIB, "2 1 -4.0", "1 1 2.0"), r"once, got \(0, 0\) twice"),
        ("f.qplib", changed(QPLIB, "2 3\n", "1 3\n"), "right-hand sides once"),
        ("f.qplib", changed(QPLIB, "2 1 -4.0", "4 1 2.0"), "from 1 to 3, got '4'"),
        ("f.qplib", QPLIB[:200], "end of the file"),
        ("f.qplib", QPLIB + "1 more\n", "the end of the file, got '1 more'"),
        ("f.lp", changed(LP, "end", "general\n x\nend"), "a section general"),
        ("f.lp", changed(LP, "x + y <= 4", "[ x ^2 ] <= 4"), "linear constraint such as"),
        ("f.lp", "garbage", "a last line END, got 'garbage'. The file may be truncated"),
        ("f.lp", "min\nobj: x\nst\nend and more", "a last line END"),
        ("f.lp", "end\n", "no variables"),
        ("f.mps", MPS[:-7], "a last line ENDATA"),
        ("f.mps", changed(MPS, "C1", "C\0"), "a byte 0"),
        ("f.lp", changed(LP, "x + z = 2", "x + z = 2 y"), "the end of the line.*, got ' y'"),
        ("f.lp", changed(LP, "x + z = 2", "x + z + 1 = 2"), "constants on the right"),
        ("f.lp", changed(LP, "- 4 x * y", "- 1e5 * y"), "products of two variables"),
        ("f.lp", changed(LP, "z ^2 ] / 2", "z ^2 ]"), "products of two variables, or"),
        ("f.lp", changed(LP, "x <= 5", "max\n x <= 5"), "one objective, got another one, 'max'"),
        ("f.lp", changed(LP, "maximize", "best"), "minimize or maximize first"),
        ("f.lp", "min\n 2 [ x^2 ] / 2\nend", r"before a bracket, got ' \['"),
        ("f.lp", "min\n x\nst\n c: 1 >= x <= 5\nend", "two sides with .*, got '1 >= x <= 5'"),
        ("f.lp", "min\n x\nst\n 3 <= x = 2\nend", "two sides with .*, got '3 <= x = 2'"),
        ("f.lp", "min\n x\nbounds\n 2 = x = 2\nend", "two sides with .*, got '2 = x = 2'"),
        ("f.mps", changed(MPS, "C3           4.0", "C1           4.0"), "every number once"),
        ("f.mps", changed(MPS, "C3           4.0", "C4           4.0"), "a row of the section"),
        ("f.mps", changed(MPS, "QUADOBJ", "QMATRIX"), "a symmetric matrix"),
        ("f.mps", changed(MPS, "QUADOBJ", "QSECTION C1"), "of the objective only"),
        ("f.mps", changed(MPS, "    X         C2", "    M 'MARKER'"), "continuous variables"),
        ("f.mps", changed(MPS, "RANGES", "SOS"), "sections, each once"),
        ("f.mps", changed(MPS, "ENDATA", "QCMATRIX C1\n X X 1.0\nENDATA"), "sections, each once"),
        ("f.mps", changed(MPS, " UP BND       X            4.0", " BV BND       X"), "continuous"),
        ("f.mps", changed(MPS, "    RHS       C3", "    B         C3"), r"one vector \(in RHS"),
        ("f.mps", changed(MPS, " FR BND       Y", " FR B         Y"), r"one vector \(in BOUNDS"),
        ("f.txt", BOX, "a file name ending in .in"),
        ("f.npz.gz", BOX, "a file name ending in .in"),
        ("f.npz", "PK", "a readable .npz file"),
        ("f.in.gz", BOX, "a readable file"),
    ],
)  # fmt: skip
def test_bad_files_are_named(name: str, text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=words):
        QuadraticProgram.read(stored(tmp_path / name, text))


@pytest.mark.parametrize(
    ("arrays", "error", "words"),
    [
        ({"P": np.eye(2)}, DataError, "the names P"),
        ({"P": np.eye(2), "q": np.ones(2), "Z": np.ones(2)}, DataError, "the names P, Z, q"),
        ({"P": np.eye(3), "q": np.ones(2)}, ProblemError, "q: expected"),
        ({"P": np.eye(2), "q": np.array(["a", "b"])}, ProblemError, "got text"),
        ({"P": np.eye(2), "q": np.ones(2), "sense": np.array(0)}, DataError, "1 or -1"),
        ({"P": np.eye(2), "q": np.ones(2), "sense": np.array(-1.5)}, DataError, "got -1.5"),
        ({"P": np.eye(2), "q": np.ones(2), "name": np.ones(2)}, DataError, "a text name"),
        ({"P": np.eye(2), "q": np.ones(2), "constant": np.ones(2)}, DataError, "constant"),
    ],
)
def test_bad_arrays_are_named(
    arrays: dict[str, np.ndarray], error: type[Exception], words: str, tmp_path: Path
) -> None:
    np.savez(tmp_path / "file.npz", **arrays)
    with pytest.raises(error, match=words):
        QuadraticProgram.read(tmp_path / "file.npz")


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a readable file"):
        QuadraticProgram.read(tmp_path / "missing.in")
    with pytest.raises(DataError, match="at most 5 bytes"):
        QuadraticProgram.read(stored(tmp_path / "long.in", BOX), max_bytes=5)
    with pytest.raises(DataError, match="a file that can be written"):
        QuadraticProgram.read("boxqp-2-50-1").write(tmp_path / "nowhere" / "file.in")
    with pytest.raises(DataError, match="a file name ending in"):
        QuadraticProgram.read("boxqp-2-50-1").write(tmp_path / "file.txt")


# --- damage --------------------------------------------------------------------------------

TOKENS = (
    *damage.TOKENS,
    *b"1e-320 2 9999 / * ^ <= >= ! free end QCL RANGES QUADOBJ ENDATA MAX st bounds".split(),
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("times", [40, pytest.param(600, marks=pytest.mark.slow)])
@pytest.mark.parametrize("suffix", [".in", ".qplib", ".lp", ".mps", ".npz"])
def test_damaged_files_are_read_as_some_program_or_refused(
    suffix: str, times: int, tmp_path: Path
) -> None:
    """What is read is a program of numbers, and the same one after it was written and read."""
    samples = {".in": BOX, ".qplib": QPLIB, ".lp": LP, ".mps": MPS}
    contents = [samples[suffix].encode()] if suffix in samples else []
    if suffix != ".in":
        path = QuadraticProgram.read("blending-3-2-2-1").write(tmp_path / f"sample{suffix}")
        contents.append(path.read_bytes())

    def read(content: bytes) -> None:
        program = QuadraticProgram.read(stored(tmp_path / f"file{suffix}", content))
        if is_sparse(program.P):  # of a size that came by damage
            return
        assert np.isfinite(program.P).all()
        again = QuadraticProgram.read(program.write(tmp_path / "again.npz"))
        for part in ("P", "q", "G", "h", "A", "b", "lb", "ub"):
            np.testing.assert_array_equal(getattr(again, part), getattr(program, part))

    assert damage.attack(contents, read, times, TOKENS) >= 1
