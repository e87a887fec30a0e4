"""Programs from and to files: small files with known content, round trips, damaged files."""

from __future__ import annotations

import contextlib
import gzip
import random
import sys
from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import DataError, IndefiniteOptError, ProblemError
from indefinite_opt.modeling import write_model
from indefinite_opt.problem import programs
from indefinite_opt.problem.programs import QuadraticArrays, read_program, write_program

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


def same(first: QuadraticArrays, second: QuadraticArrays) -> bool:
    letters = ("P", "q", "G", "h", "A", "b", "lb", "ub", "constant", "sense")
    return all(np.array_equal(getattr(first, k), getattr(second, k)) for k in letters)


# --- known content -------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
def test_in_files_maximise_half_the_form_on_the_unit_box(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("tiny.in.gz" if packed else "tiny.in")
    program = read_program(stored(path, gzip.compress(BOX.encode()) if packed else BOX))
    assert (program.name, program.sense, program.n) == ("tiny", -1, 3)
    x = np.array([1.0, 0.5, 0.25])
    # ½ (2·4·½ + ... ): the terms 4 x1 x2, -3 x2², x2 x3, x3² and the linear part, by hand.
    value = 4 * 0.5 - 3 * 0.25 + 0.5 * 0.25 + 0.0625 + 1 - 1 + 0.75
    assert program.objective(x) == -value
    assert program.lb.tolist() == [0, 0, 0]
    assert program.ub.tolist() == [1, 1, 1]


def test_qplib_terms_are_those_of_a_triangle(tmp_path: Path) -> None:
    program = read_program(stored(tmp_path / "file.qplib", QPLIB))
    assert (program.name, program.sense) == ("SMALL", -1)
    assert program.variables == ("flow", "x2", "yield")
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
    program = read_program(stored(tmp_path / "box.qplib", text))
    assert program.P.tolist() == [[0, 1.5], [1.5, 0]]
    assert program.q.tolist() == [-1, 0]
    assert (program.lb.tolist(), program.ub.tolist()) == ([0, 0], [1, 1])
    unbounded = text.replace("1e30\n0\n0\n1\n0", "1.79769313486232E+308\n0\n0\n1\n1\n2 1.8E+308")
    program = read_program(stored(tmp_path / "box.qplib", unbounded))
    assert program.ub.tolist() == [1, np.inf]
    linear = "lin\nLCB\nminimize\n2\n1\n0\n0\n1e30\n0\n0\n1\n0\n0\n0\n0\n0\n0\n0\n"
    program = read_program(stored(tmp_path / "linear.qplib", linear))
    assert (program.P.any(), program.q.tolist()) == (False, [1, 1])


def test_lp_files(tmp_path: Path) -> None:
    program = read_program(stored(tmp_path / "small.lp", LP))
    assert (program.name, program.sense, program.variables) == ("small", -1, ("x", "y", "z"))
    x = np.array([1.0, 2.0, 3.0])
    assert program.objective(x) == -(3 + 4 - 3 + 7 + (2 - 8 + 9) / 2)
    assert program.G.tolist() == [[1, 1, 0], [-1, 0, 1]]
    assert program.h.tolist() == [4, 1]
    assert (program.A.tolist(), program.b.tolist()) == ([[1, 0, 1]], [2])
    assert program.lb.tolist() == [0, -3, -np.inf]
    assert program.ub.tolist() == [5, 8, np.inf]


def test_mps_files(tmp_path: Path) -> None:
    program = read_program(stored(tmp_path / "other.mps.gz", gzip.compress(MPS.encode())))
    assert (program.name, program.sense, program.variables) == ("other", 1, ("X", "Y"))
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
    program = read_program(path)
    assert (program.name, program.sense, program.constant) == ("letters", 1, 0.0)
    assert program.P.tolist() == [[1, 0], [0, -2]]
    assert (program.lb.tolist(), program.ub.tolist()) == ([0, 0], [3, 3])


def test_npz_files_that_the_package_exports(tmp_path: Path) -> None:
    """The objective is that of the formulation, at a point that is feasible."""
    X = np.random.default_rng(0).standard_normal((8, 2))
    problem = iopt.KernelProblem.from_data(X, np.repeat([-1, 1], 4), "sigmoid(a=1, r=-1)")
    structure = iopt.SVMDual(C=2.0).structure(problem)
    program = read_program(write_model(structure, tmp_path / "dual.npz"))
    x = np.full(8, 0.5)
    Q = problem.K * np.outer(problem.y, problem.y)
    assert program.sense == -1
    assert program.objective(x) == pytest.approx(0.5 * x @ Q @ x - x.sum(), rel=1e-14)
    assert program.A.tolist() == [problem.y.tolist()]
    assert (program.lb.tolist(), program.ub.tolist()) == ([0.0] * 8, [2.0] * 8)
    linear = read_program(
        write_model(iopt.LPSVM(C=2.0).structure(problem), tmp_path / "linear.npz")
    )
    assert not linear.P.any()
    for suffix in (".lp", ".mps"):
        again = read_program(write_model(structure, tmp_path / f"dual{suffix}"))
        assert again.sense == -1
        assert again.objective(x) == pytest.approx(program.objective(x), rel=1e-12)


# --- round trips ---------------------------------------------------------------------------

NAMES = (
    "boxqp-20-50-1", "stqp-8-50-1", "rowqp-10-3-2-50-1", "transportation-3-3-1",
    "portfolio-6-2-1", "blending-3-2-2-1", "spinglass-3-3-1", "clique-paley-3",
)  # fmt: skip


@pytest.mark.parametrize("suffix", [".npz", ".qplib", ".lp", ".mps", ".qplib.gz", ".mps.gz"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read(name: str, suffix: str, tmp_path: Path) -> None:
    program = programs.generate(name)
    path = write_program(program, tmp_path / f"file{suffix}")
    assert same(read_program(path), program)
    written = path.read_bytes()
    assert write_program(program, path).read_bytes() == written or suffix == ".npz"


@pytest.mark.parametrize("suffix", [".npz", ".qplib", ".lp", ".mps"])
def test_every_part_of_a_program_is_kept(suffix: str, tmp_path: Path) -> None:
    program = programs.quadratic_arrays(
        [[1.0, -2.5], [-2.5, 0.0]], [0.125, 0.0], [[1.0, 2.0], [0.0, -3.0]], [4.0, 5.0],
        [[1.0, 1.0]], [0.5], [-np.inf, -1.0], [np.inf, 2.0], constant=-3.5, sense=-1,
    )  # fmt: skip
    assert same(read_program(write_program(program, tmp_path / f"all{suffix}")), program)


@pytest.mark.parametrize("suffix", [".npz", ".qplib", ".lp"])
def test_every_bit_is_kept(suffix: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    # HiGHS refuses coefficients above 1e15 and drops those below 1e-12; above 1e150 all refuse.
    digits = (-5, 5) if suffix == ".lp" else (-300, 140)
    P = generator.standard_normal((5, 5)) * 10.0 ** generator.integers(*digits, (5, 5))
    program = programs.quadratic_arrays(
        P + P.T, generator.standard_normal(5), lb=-generator.random(5), name="bits"
    )
    again = read_program(write_program(program, tmp_path / f"file{suffix}"))
    assert same(again, program)
    assert again.name == ("file" if suffix == ".lp" else "bits")


def test_in_files_keep_box_programs(tmp_path: Path) -> None:
    program = programs.box_qp(15, 60, 4)
    again = read_program(write_program(program, tmp_path / "box.in"))
    assert np.array_equal(again.P, program.P)
    assert np.array_equal(again.q, program.q)
    with pytest.raises(DataError, match="got one with rows"):
        write_program(programs.standard_qp(5, 50, 1), tmp_path / "no.in")
    with pytest.raises(DataError, match="rows and other bounds"):
        write_program(programs.bilinear(3, 3, 2, 1), tmp_path / "no.in")


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
        ("f.qplib", changed(QPLIB, "2 1 -4.0", "4 1 2.0"), "from 1 to 3, got '4'"),
        ("f.qplib", QPLIB[:200], "end of the file"),
        ("f.qplib", QPLIB + "1 more\n", "the end of the file, got '1 more'"),
        ("f.lp", changed(LP, "end", "general\n x\nend"), "1 integer or semicontinuous"),
        ("f.lp", changed(LP, "x + y <= 4", "[ x ^2 ] <= 4"), "that HiGHS can read"),
        ("f.lp", "garbage", "a last line END, got 'garbage'. The file may be truncated"),
        ("f.lp", "min\nobj: x\nst\nend and more", "a last line END"),
        ("f.lp", "end\n", "no variables"),
        ("f.mps", MPS[:-7], "a last line ENDATA"),
        ("f.mps", changed(MPS, "C1", "C\0"), "a byte 0"),
        ("f.lp", changed(LP, "x + z = 2", "x + 1e-13 z = 2"), "ignored"),
        ("f.mps", changed(MPS, "ENDATA", "QCMATRIX C1\n X X 1.0\nENDATA"), "Quadratic rows"),
        ("f.mps", changed(MPS, " UP BND       X            4.0", " BV BND       X"), "1 integer"),
        ("f.txt", BOX, "a file name ending in .in"),
        ("f.npz.gz", BOX, "a file name ending in .in"),
        ("f.npz", "PK", "a readable .npz file"),
        ("f.in.gz", BOX, "a readable file"),
    ],
)  # fmt: skip
def test_bad_files_are_named(name: str, text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=words):
        read_program(stored(tmp_path / name, text))


@pytest.mark.skipif(sys.platform != "linux", reason="files are read in this process")
def test_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = changed(LP, "c1: x + y <= 4", "c1: b = 1 -> x + y <= 4")
    with pytest.raises(DataError, match="that HiGHS can read"):
        read_program(stored(tmp_path / "indicator.lp", text))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arrays", "error", "words"),
    [
        ({"P": np.eye(2)}, DataError, "the names P"),
        ({"P": np.eye(2), "q": np.ones(2), "Z": np.ones(2)}, DataError, "the names P, Z, q"),
        ({"P": np.eye(3), "q": np.ones(2)}, ProblemError, "q: expected"),
        ({"P": np.eye(2), "q": np.array(["a", "b"])}, ProblemError, "got text"),
        ({"P": np.eye(2), "q": np.ones(2), "sense": np.array(0)}, DataError, "1 or -1"),
        ({"P": np.eye(2), "q": np.ones(2), "name": np.ones(2)}, DataError, "a text name"),
        ({"P": np.eye(2), "q": np.ones(2), "constant": np.ones(2)}, DataError, "constant"),
    ],
)
def test_bad_arrays_are_named(
    arrays: dict[str, np.ndarray], error: type[Exception], words: str, tmp_path: Path
) -> None:
    np.savez(tmp_path / "file.npz", **arrays)
    with pytest.raises(error, match=words):
        read_program(tmp_path / "file.npz")


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a readable file"):
        read_program(tmp_path / "missing.in")
    with pytest.raises(DataError, match="at most 5 bytes"):
        read_program(stored(tmp_path / "long.in", BOX), max_bytes=5)
    with pytest.raises(DataError, match="a file that can be written"):
        write_program(programs.box_qp(2, 50, 1), tmp_path / "nowhere" / "file.in")
    with pytest.raises(DataError, match="a file name ending in"):
        write_program(programs.box_qp(2, 50, 1), tmp_path / "file.txt")


# --- damage --------------------------------------------------------------------------------

TOKENS = (
    *b"nan inf -inf -1 0 1e999 1e308 1e-320 2 9999 [ ] / * ^ : <= >= = # ! \\ free end".split(),
    b"\0", b"\n", b" ", b"\xff", b"9" * 400, b"-9223372036854775809", b"18446744073709551616",
    b"1_0", b"QCL", b"RANGES", b"QUADOBJ", b"ENDATA", b"MAX", b"st", b"bounds",
)  # fmt: skip


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content after one to four edits; each removes, repeats, changes or inserts."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at, length = chance.randint(0, len(data)), chance.choice((1, 1, 2, 5, 20, 200))
        match chance.randrange(5):
            case 0:
                del data[at : at + length]
            case 1:
                data[at:at] = data[at : at + length]
            case 2:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 3:
                data[at : at + length] = chance.choice(TOKENS)
            case _:
                data[at:at] = chance.choice(TOKENS)
    return bytes(data)


def attack(suffix: str, folder: Path, times: int) -> None:
    program = programs.generate("blending-3-2-2-1")
    samples = {
        ".in": [BOX.encode()],
        ".qplib": [QPLIB.encode()],
        ".lp": [LP.encode()],
        ".mps": [MPS.encode()],
        ".npz": [],
    }[suffix]
    if suffix != ".in":
        samples.append(write_program(program, folder / f"sample{suffix}").read_bytes())
    chance, path = random.Random(1), folder / f"file{suffix}"
    for k in range(times):
        with contextlib.suppress(IndefiniteOptError):
            read = read_program(stored(path, damaged(samples[k % len(samples)], chance)))
            assert np.isfinite(read.P).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", [".in", ".qplib", ".lp", ".mps", ".npz"])
def test_damaged_files_end_in_named_errors(suffix: str, tmp_path: Path) -> None:
    # HiGHS reads in a process of its own.
    attack(suffix, tmp_path, 20 if suffix in (".lp", ".mps") else 200)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", [".in", ".qplib", ".lp", ".mps", ".npz"])
def test_many_damaged_files(suffix: str, tmp_path: Path) -> None:
    attack(suffix, tmp_path, 300 if suffix in (".lp", ".mps") else 10_000)
