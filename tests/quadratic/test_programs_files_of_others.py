"""Files as other programs write them: what HiGHS reads in them, or what was done by hand."""

from __future__ import annotations

import codecs
import gzip
import pickle
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import DataError, ParameterError


def read(path: Path, content: str | bytes, **options: Any) -> iopt.QuadraticProgram:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return iopt.QuadraticProgram.read(path, **options)


def by_highs(path: Path) -> Any:
    """The model that HiGHS reads in a file."""
    highspy = pytest.importorskip("highspy")
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    return highs.getModel()


def assert_same(qp: iopt.QuadraticProgram, theirs: Any) -> None:
    """Names, costs, bounds and rows are those of a program of HiGHS; free rows are left out."""
    names = list(theirs.col_names_)
    assert list(qp.names.variables) == names
    assert list(qp.sense * qp.q) == list(theirs.col_cost_)
    assert (list(qp.lb), list(qp.ub)) == (list(theirs.col_lower_), list(theirs.col_upper_))
    starts, rows = list(theirs.a_matrix_.start_), np.zeros((theirs.num_row_, len(names)))
    for j in range(len(names)):
        part = slice(starts[j], starts[j + 1])
        rows[list(theirs.a_matrix_.index_)[part], j] = list(theirs.a_matrix_.value_)[part]
    low, high = np.array(theirs.row_lower_), np.array(theirs.row_upper_)
    equal = low == high
    above, below = np.isfinite(high) & ~equal, np.isfinite(low) & ~equal
    one_sided = [*zip(rows[above], high[above], strict=True)]
    one_sided += zip(-rows[below], -low[below], strict=True)

    def listed(pairs: Any) -> list[tuple[list[float], float]]:
        return sorted(((row + 0.0).tolist(), float(side)) for row, side in pairs)

    assert listed(zip(qp.G, qp.h, strict=True)) == listed(one_sided)
    equations = zip(rows[equal], high[equal], strict=True)
    assert listed(zip(qp.A, qp.b, strict=True)) == listed(equations)


@pytest.mark.parametrize("suffix", [".lp", ".mps"])
@pytest.mark.parametrize("seed", range(3))
def test_highs_reads_the_numbers_that_are_written(seed: int, suffix: str, tmp_path: Path) -> None:
    """All 17 digits, and of a maximisation what is maximised."""
    g = np.random.default_rng(seed)
    P = g.standard_normal((4, 4)) * 10.0 ** g.integers(-5, 6, (4, 4))
    qp = iopt.QuadraticProgram(
        P + P.T, g.standard_normal(4), g.standard_normal((3, 4)), g.standard_normal(3),
        g.standard_normal((1, 4)), [0.1], [-np.inf, -1 / 3, 0.1, -np.inf],
        [np.inf, 2 / 3, 0.1, -1 / 7], constant=1 / 3, sense=-1, variables=list("abcd"),
    )  # fmt: skip
    model = by_highs(qp.write(tmp_path / f"a{suffix}"))
    assert model.lp_.sense_.name == "kMaximize"
    if suffix == ".lp":  # the constant is the coefficient of a fixed variable
        assert (model.lp_.offset_, model.lp_.col_names_[4]) == (0.0, "Constant")
        assert model.lp_.col_cost_[4] == -qp.constant
        assert model.lp_.col_lower_[4] == model.lp_.col_upper_[4] == 1.0
        assert list(model.lp_.a_matrix_.start_)[4:] == [model.lp_.a_matrix_.start_[4]] * 2
        qp_as_written = qp.write(tmp_path / "without.lp")
        text = qp_as_written.read_text().replace(" Constant = 1\n", "")
        qp_as_written.write_text(re.sub(r"[-+] \S+ Constant", "", text))
        assert_same(qp, by_highs(qp_as_written).lp_)
    else:
        assert model.lp_.offset_ == -qp.constant
        assert_same(qp, model.lp_)
    starts, triangle = list(model.hessian_.start_), np.zeros((4, 4))
    for j in range(4):
        part = slice(starts[j], starts[j + 1])
        triangle[list(model.hessian_.index_)[part], j] = list(model.hessian_.value_)[part]
    assert np.array_equal(triangle, np.tril(-qp.P))


# --- .lp -----------------------------------------------------------------------------------

BOUNDS = [
    ["0 <= x <= 4"], ["-inf <= x <= 5"], ["x >= 1"], ["x >= 1", "y <= 3"], ["x free", "y free"],
    ["0.5 <= x <= 3", "-0.25 <= y <= 0.25"], ["-inf <= x <= 5", "y >= -2", "y <= 7"],
    ["x <= 3", "-inf <= y"], ["x = 2", "1 <= y <= 1e30"], ["x >= -1e30", "x <= 2", "+1 <= y"],
    ["x <= 2", "-infinity <= y <= +inf"], ["y Free", "x <= 5", "x >= 2"], ["2 >= x", "y >= .5"],
]  # fmt: skip


@pytest.mark.parametrize("bounds", BOUNDS)
def test_bounds_that_follow_one_another(bounds: list[str], tmp_path: Path) -> None:
    """HiGHS, which wants a line for each, reads them one below the other."""
    before = "Minimize\n obj: x - y\nSubject To\n c: x + y >= -9\nBounds\n "
    read(tmp_path / "b.lp", before + "\n ".join(bounds) + "\nEnd\n")
    theirs = by_highs(tmp_path / "b.lp").lp_
    for blank in (" ", "\n", "\n\n  "):
        assert_same(read(tmp_path / "a.lp", f"{before}{blank.join(bounds)}\nEnd\n"), theirs)


def test_bounds_on_several_lines(tmp_path: Path) -> None:
    text = "min\n x + y\nbounds\n -1 <=\n x\n<= 2 y\n>= 1 3 >= y\nend\n"
    qp = read(tmp_path / "a.lp", text)
    assert (list(qp.lb), list(qp.ub)) == ([-1.0, 1.0], [2.0, 3.0])


def test_constraints_with_labels_that_follow_one_another(tmp_path: Path) -> None:
    rows = ["a: x + y >= 1", "b: x - y <= 2", "c: x = 3"]
    before, after = "min\n o: x + y\nst\n ", "\nbounds\n x <= 9\nend\n"
    qp = read(tmp_path / "a.lp", before + " ".join(rows) + after)
    read(tmp_path / "b.lp", before + "\n ".join(rows) + after)
    assert_same(qp, by_highs(tmp_path / "b.lp").lp_)
    assert (qp.names.inequalities, qp.names.equalities) == (("b", "a"), ("c",))


@pytest.mark.parametrize(
    "bounds", ["x <= 3 <= y", "0 <= x <= 4 5", "x free <= 3", "x <= 3 y", "x freed", "x <= 3y"]
)
def test_bounds_that_are_none(bounds: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a bound such as 0 <= x <= 1, got"):
        read(tmp_path / "a.lp", f"min\n x + y\nbounds\n {bounds}\nend\n")


@pytest.mark.parametrize("row", ["x >= 1e30", "x <= -inf", "x = inf", "-inf >= x"])
def test_rows_that_no_number_satisfies(row: str, tmp_path: Path) -> None:
    text = "min\n x\nst\n y <= 1\n {}\nend\n"
    with pytest.raises(DataError, match=r"the row cap with numbers between, got -?inf to -?inf"):
        read(tmp_path / "a.lp", text.format(f"cap: {row}"))
    with pytest.raises(DataError, match="the row number 2 with"):
        read(tmp_path / "a.lp", text.format(row))
    free = read(tmp_path / "a.lp", text.format("cap: x >= -1e30"))
    assert free.h.tolist() == [1.0]


# --- encodings and endings -----------------------------------------------------------------

# The least value of 0.5 (2 x² - 6 x y + 4 y²) - x - 2 y on the unit box is -3, at (1, 1), and its
# largest one is 0, at the other three corners: along every edge the function is convex.
BOX = "2\n-1 -2\n2 -3\n-3 4\n"
SMALL = {
    ".in": BOX,
    ".lp": "min\n x + [ 2 x ^2 ] / 2\nst\n c: x >= 1\nend\n",
    ".mps": "NAME\nROWS\n N o\n G c\nCOLUMNS\n x o 1 c 1\nRHS\n r c 1\nQUADOBJ\n x x 2\nENDATA\n",
    ".qplib": "p\nQCL\nminimize\n1\n1\n1\n1 1 2\n1\n0\n0\n1\n1 1 1\n1e20\n1\n0\n1e20\n0\n0\n0\n"
    "1e20\n0\n0\n0\n0\n0\n0\n0\n0\n0\n",
}  # fmt: skip
SMALL[".qps"] = SMALL[".mps"]


@pytest.mark.parametrize("packed", ["", ".gz", ".GZ"])
@pytest.mark.parametrize("suffix", SMALL)
def test_endings_and_byte_order_marks(suffix: str, packed: str, tmp_path: Path) -> None:
    """The program x + x² with x ≥ 1, and the one on the unit box."""
    mark = b"\xef\xbb\xbf"
    for number, (ending, start) in enumerate([(suffix.upper(), b""), (suffix.title(), mark)]):
        content = start + SMALL[suffix].encode()
        path = tmp_path / f"a{number}{ending}{packed}"
        qp = read(path, gzip.compress(content) if packed else content)
        assert qp.name == ("p" if suffix == ".qplib" else f"a{number}")
        if suffix == ".in":
            assert (qp.P.tolist(), qp.q.tolist()) == ([[-2.0, 3.0], [3.0, -4.0]], [1.0, 2.0])
        else:
            assert (qp.P.tolist(), qp.q.tolist()) == ([[2.0]], [1.0])
            assert (qp.G.tolist(), qp.h.tolist()) == ([[-1.0]], [-1.0])
        again = iopt.QuadraticProgram.read(qp.write(tmp_path / f"b{number}{ending}{packed}"))
        assert np.array_equal(again.P, qp.P)


def test_npz_in_capitals(tmp_path: Path) -> None:
    path = iopt.QuadraticProgram([[2.0]], [1.0]).write(tmp_path / "a.NPZ")
    assert iopt.QuadraticProgram.read(path).P.tolist() == [[2.0]]


def test_packed_files_in_capitals_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a readable file"):
        read(tmp_path / "a.in.GZ", BOX)
    for name, content, most in (("b.in.gz", BOX, 12), ("b.in.GZ", " " * 1000 + BOX, 500)):
        with pytest.raises(DataError, match=f"at most {most} bytes, unpacked, got more"):
            read(tmp_path / name, gzip.compress(content.encode()), max_bytes=most)


@pytest.mark.parametrize("suffix", SMALL)
def test_other_encodings_are_named(suffix: str, tmp_path: Path) -> None:
    for name, mark in (("utf-16", codecs.BOM_UTF16_BE), ("utf-32", codecs.BOM_UTF32_BE)):
        words = f"a text file in UTF-8, got one in {name.upper()}. Save it as UTF-8"
        for content in (SMALL[suffix].encode(name), mark + SMALL[suffix].encode(f"{name}-be")):
            with pytest.raises(DataError, match=words):
                read(tmp_path / f"a{suffix}", content)


# --- the sense of .in files ----------------------------------------------------------------


@pytest.mark.parametrize(("sense", "value"), [(None, 0.0), ("max", 0.0), ("min", -3.0)])
def test_in_files_of_both_senses(sense: str | None, value: float, tmp_path: Path) -> None:
    qp = read(tmp_path / "a.in", BOX, sense=sense)
    assert iopt.solve(qp, solver="global").objective == pytest.approx(value, abs=1e-9)
    words = "" if sense else "maximised, as the library's readme says"
    for program in (qp, pickle.loads(pickle.dumps(qp))):
        assert program.assumed == words
        assert words in repr(program)
        assert words in str(program)
    again = iopt.QuadraticProgram.read(qp.write(tmp_path / "b.in"))
    assert np.array_equal(again.P, qp.P)
    assert np.array_equal(again.q, qp.q)


@pytest.mark.parametrize("suffix", [".lp", ".mps", ".qps", ".qplib"])
def test_other_files_tell_their_sense(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=f"sense for .in files only, got 'min'. A {suffix}"):
        read(tmp_path / f"a{suffix}", SMALL[suffix], sense="min")
    assert read(tmp_path / f"a{suffix}", SMALL[suffix]).assumed == ""


def test_senses_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="sense: expected 'max' or 'min', got 'least'"):
        read(tmp_path / "a.in", BOX, sense="least")
    with pytest.raises(ParameterError, match="A generated program has one"):
        iopt.QuadraticProgram.read("clique-paley-3", sense="max")


# --- .mps ----------------------------------------------------------------------------------

# Names of the kind that forplan has, in the columns of the fixed form; the vectors have no names
# or some with blanks, and X 1 2 might be a variable X and a row 1 with the number 2 in free form.
BLANKS = """NAME          FOR PLAN
ROWS
 N  COST A
 G  ROW A 1
 L  ROW A 2
 E  DEDO3 11
 L  1
COLUMNS
    X 1       COST A             1.0   ROW A 1            1.0
    X 1       ROW A 2            2.0
    X 1 2     COST A            -3.0   DEDO3 11           1.5
    Y         ROW A 1            1.0   DEDO3 11          -1.0
    Y         1                  4.0
RHS
              ROW A 1            2.0   DEDO3 11           0.5
              1                  7.0
RANGES
    RNG 1     ROW A 1            5.0
BOUNDS
 UP BND 1     X 1                4.0
 MI           Y
 UP           Y                  9.0
 FR BND 1     X 1 2
ENDATA
"""


def test_names_with_blanks_in_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.mps"
    qp = read(path, BLANKS)
    assert qp.names.variables == ("X 1", "X 1 2", "Y")
    assert_same(qp, by_highs(path).lp_)
    # Numbers of the lines in columns 73 to 80, which many old files have.
    lines = enumerate(BLANKS.splitlines())
    text = "\n".join(f"{line:<72}{k:>8}" if line[0] == " " else line for k, line in lines)
    again = read(tmp_path / "b.mps", text)
    assert_same(again, by_highs(path).lp_)


def test_names_with_blanks_between_two_blanks(tmp_path: Path) -> None:
    """The rows begin in column 38, where HiGHS leaves them out; it reads them in column 40."""
    aside = BLANKS.replace("   ROW A 1            1.0", "  ROW A 1  1.0").replace(
        "   DEDO3 11", "\tDEDO3 11"
    )
    assert aside.count("\t") == 3
    qp = read(tmp_path / "a.mps", aside)
    read(tmp_path / "b.mps", BLANKS)
    assert_same(qp, by_highs(tmp_path / "b.mps").lp_)


def test_quadratic_terms_of_names_with_blanks(tmp_path: Path) -> None:
    """By hand, in fixed columns: x² of X 1, and 2 xy, half of which is on either side."""
    quadratic = "QSECTION      COST A\n    X 1       X 1                2.0\n"
    quadratic += "    Y         X 1                1.0\nENDATA\n"
    qp = read(tmp_path / "a.qps", BLANKS.replace("ENDATA\n", quadratic))
    assert qp.P.tolist() == [[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]


MARKER = "    M 1       'MARKER'                 'INTORG'"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ROW A 2            2.0", "ROW A 3            2.0", "a row of"),
        (" G  ROW A 1", " Q  ROW A 1", "N, L, G or E and the name of a new row"),
        (" N  COST A", " N COST  A", "N, L, G or E and the name of a new row.*Names contain"),
        ("    X 1       ROW A 2 ", "    X 1 ROW A 2       ", "fields in the columns of the"),
        ("    Y         1                  4.0", MARKER, "continuous variables"),
    ],
)
def test_names_with_blanks_that_are_wrong(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert old in BLANKS
    with pytest.raises(DataError, match=words):
        read(tmp_path / "a.mps", BLANKS.replace(old, new))
    another = BLANKS.replace("    Y         1      ", "    Y 1       1      ")
    assert read(tmp_path / "b.mps", another).names.variables == ("X 1", "X 1 2", "Y", "Y 1")


INFINITE = """NAME
ROWS
 N o
 {} c
 G d
COLUMNS
 x o -1 c 1
 x d 1
 y o 2 c 1
RHS
 r c {}
 r d -9
RANGES
{}BOUNDS
 UP b x 3
ENDATA
"""


@pytest.mark.parametrize("width", ["", "2", "1e30", "-Infinity"])
@pytest.mark.parametrize("side", ["3", "1e30", "-1e30", "-inf", "Infinity"])
@pytest.mark.parametrize("kind", ["L", "G", "E"])
def test_infinite_sides_and_ranges(kind: str, side: str, width: str, tmp_path: Path) -> None:
    """By HiGHS, but for sides and ranges that are both infinite, of which it takes differences."""
    path = tmp_path / "a.mps"
    text = INFINITE.format(kind, side, f" g c {width}\n" if width else "")
    both = side != "3" and width not in ("", "2")
    if side == "3" or (kind != "E" and (side[0] == "-") == (kind == "G") and width != "2"):
        qp = read(path, text)
        if both:
            path.write_text(INFINITE.format(kind, side, ""))
        assert_same(qp, by_highs(path).lp_)
        assert iopt.QuadraticProgram.read(qp.write(tmp_path / "b.mps")).h.tolist() == qp.h.tolist()
    else:
        words = f"a finite right-hand side of the row c of kind {kind}, got -?inf"
        with pytest.raises(DataError, match=words):
            read(path, text)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("r d -9", "r o inf", "finite numbers, got 'inf'"),
        ("r d -9", "r d nan", "numbers, got 'nan'"),
        ("x d 1", "x d inf", "finite numbers, got 'inf'"),
        ("UP b x 3", "LO b x 1e30", "lb of x = inf"),
        ("UP b x 3", "UP b x -inf", "lb of x = -inf"),
        ("UP b x 3", "FX b x inf", "lb of x = inf"),
    ],
)
def test_infinite_numbers_that_nothing_satisfies(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    text = INFINITE.format("L", "3", "").replace(old, new)
    with pytest.raises(iopt.errors.IndefiniteOptError, match=words):
        read(tmp_path / "a.mps", text)


def solved(path: Path, content: str) -> float:
    return iopt.solve(read(path, content)).objective


def test_several_brackets_of_one_objective(tmp_path: Path) -> None:
    """min x² + x + y² - 3y on 0 ≤ x, y ≤ 5 is -9/4 at (0, 3/2), wherever the squares stand."""
    rest = "\nSubject To\n c: x + y <= 9\nBounds\n x <= 5\n y <= 5\nEnd\n"
    for objective in (
        "x - 3 y + [ 2 x^2 + 2 y^2 ] / 2",
        "[ 2 x^2 ] / 2 + x - 3 y + [ 2 y^2 ] / 2",
        "[ 2 x^2 ] / 2 + [ 2 y^2 ] / 2 + x - 3 y",
        "x - [ - 2 x^2 ] / 2 + [ x^2 + 2 y^2 ] / 2 - 3 y - [ x^2 ] / 2",
    ):
        content = f"Minimize\n obj: {objective}{rest}"
        program = read(tmp_path / "a.lp", content)
        assert program.P.tolist() == [[2, 0], [0, 2]]
        assert program.q.tolist() == [1, -3]
        assert_same(program, by_highs(tmp_path / "a.lp").lp_)
        assert iopt.solve(program).objective == pytest.approx(-2.25, abs=1e-6)
    for wrong in ("[ x^2 ] / 2 [ y^2 ] / 2", "x + [ x^2 ] / 2 y"):
        with pytest.raises(DataError):
            read(tmp_path / "a.lp", f"Minimize\n obj: {wrong}{rest}")


def test_sections_that_come_several_times(tmp_path: Path) -> None:
    """min 2a + t with a + t ≥ 2 and t ≤ 1 is 3; HiGHS reads the same program in each."""
    rows, bounds = "Subject To\n c: a + t >= 2\n", "Bounds\n t <= 1\n"
    for body in (
        rows + bounds,
        "Subject To\n" + rows + bounds,
        "Subject To\n d: a <= 9\n" + rows + bounds,
        rows + "Bounds\n a <= 7\n" + bounds,
        "Bounds\n a <= 7\n" + rows + bounds,
    ):
        content = f"Minimize\n obj: 2 a + t\n{body}End\n"
        assert solved(tmp_path / "a.lp", content) == pytest.approx(3.0, abs=1e-9)
        assert_same(read(tmp_path / "a.lp", content), by_highs(tmp_path / "a.lp").lp_)


def optimum_of(name: str, path: Path) -> float:
    """The optimal value that another program finds for a file, with two variables or with more."""
    module = pytest.importorskip({"gurobi": "gurobipy", "scip": "pyscipopt"}.get(name, "highspy"))
    if name == "gurobi":
        model = module.read(str(path), env=module.Env(params={"OutputFlag": 0}))
        model.optimize()
        return float(model.ObjVal)
    if name == "scip":
        model = module.Model()
        model.hideOutput()
        model.readProblem(str(path))
        model.optimize()
        return float(model.getObjVal())
    highs = module.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(path)) == module.HighsStatus.kOk
    highs.run()
    return float(highs.getInfo().objective_function_value)


@pytest.mark.parametrize("program", ["gurobi", "scip", "highs"])
@pytest.mark.parametrize("sense", [1, -1])
@pytest.mark.parametrize("constant", [1.5, -2.5e6])
def test_others_read_the_constant_of_an_objective(
    program: str, sense: int, constant: float, tmp_path: Path
) -> None:
    """min (x - 1)² + y over 0 ≤ x ≤ 3 and 1 ≤ y ≤ 2 is 1 at (1, 1)."""
    qp = iopt.QuadraticProgram(
        sense * np.diag([2.0, 0.0]), sense * np.array([-2.0, 1.0]), lb=[0.0, 1.0], ub=[3.0, 2.0],
        constant=sense * (constant + 1.0), sense=sense, variables=["x", "y"],
    )  # fmt: skip
    path = qp.write(tmp_path / "a.lp")
    # SCIP's tolerance is 1e-6; without its constant the optimum would be off by 1.5 and more.
    assert optimum_of(program, path) == pytest.approx(sense * (1.0 + constant), abs=1e-2)
    again = iopt.QuadraticProgram.read(path)
    assert (again.constant, again.names.variables) == (qp.constant, ("x", "y"))


def test_variables_that_are_called_constant(tmp_path: Path) -> None:
    """Fixed at 1 and in the objective alone it is the constant, as Gurobi writes it."""
    rest = "Subject To\n c: x + y >= 1\nBounds\n Constant = 1\nEnd\n"
    program = read(tmp_path / "a.lp", f"Minimize\n 2 Constant + x + [ y^2 ] / 2 + 1\n{rest}")
    assert (program.constant, program.names.variables) == (3.0, ("x", "y"))
    assert (program.q.tolist(), program.P.tolist()) == ([1, 0], [[0, 0], [0, 1]])
    for other in (
        f"Minimize\n 2 Constant + x\n{rest}".replace("x + y", "Constant + x"),
        f"Minimize\n 2 Constant + x + [ y * Constant ] / 2\n{rest}",
        f"Minimize\n 2 Constant + x\n{rest}".replace("= 1\nEnd", "= 2\nEnd"),
        f"Minimize\n 2 constant + x\n{rest}".replace("Constant", "constant"),
        "Minimize\n 2 Constant\nBounds\n Constant = 1\nEnd\n",
    ):
        program = read(tmp_path / "a.lp", other)
        assert program.constant == 0.0
        assert {"constant", "Constant"} & set(program.names.variables)
    # Written once more, such a variable has another name.
    again = iopt.QuadraticProgram.read(program.write(tmp_path / "b.lp"))
    assert (again.n, again.constant, again.names.variables) == (1, 0.0, ("x1",))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_entries_that_are_none(protocol: int, tmp_path: Path) -> None:
    """min ½(x² + y²) - x - 2y over x, y ≥ 0 is -5/2 at (1, 2); what is None is not given."""
    none = np.array(None)
    given = {"P": np.eye(2), "q": np.array([-1.0, -2.0]), "lb": np.zeros(2)}
    missing = {"G": none, "h": none, "A": none, "b": none, "ub": none}
    np.savez(tmp_path / "a.npz", **given, **missing)  # type: ignore[arg-type]
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (), }".ljust(117) + b"\n"
    pickled = pickle.dumps(none, protocol)
    old = pickled.replace(b"numpy._core.multiarray _", b"numpy.core.multiarray _")
    for k, content in enumerate((pickled, old)):
        with zipfile.ZipFile(tmp_path / f"{k}.npz", "w") as archive:
            for name, array in given.items():
                with archive.open(f"{name}.npy", "w") as file:
                    np.lib.format.write_array(file, array)
            archive.writestr("G.npy", b"\x93NUMPY\x01\x00v\x00" + header + content)
    for name in ("a", "0", "1"):
        program = iopt.QuadraticProgram.read(tmp_path / f"{name}.npz")
        result = iopt.solve(program)
        assert result.objective == pytest.approx(-2.5, abs=1e-9)
        assert program.G.shape == (0, 2)


class Harm:
    """What would be called if it were unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("unpickled",)


@pytest.mark.parametrize(
    "content", [Harm(), [None], 3, [1, [2]], {"a": None}, "text", np.array([None, Harm()])]
)
def test_no_other_object_is_read(content: Any, tmp_path: Path) -> None:
    array = np.empty((), dtype=object)
    array[()] = content
    for held in (array, np.array([content, None], dtype=object), np.array([None])):
        np.savez(tmp_path / "a.npz", P=np.eye(2), q=np.zeros(2), ub=held)
        with pytest.raises(DataError, match="Object arrays cannot be loaded"):
            iopt.QuadraticProgram.read(tmp_path / "a.npz")
