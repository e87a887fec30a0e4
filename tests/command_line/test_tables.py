"""Tables and matrices in .csv files: nothing is changed without a word."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import indefinite_opt as iopt
from helpers.commands import complaint, printed, run, said, strict

NUMBERS = np.round(np.random.default_rng(28).normal(size=(24, 2)), 3)
FRAME = pd.DataFrame(NUMBERS, columns=["depth", "width"]).assign(
    colour=["red", "green", "blue"] * 8, label=["a", "b"] * 12
)
WORDS = ["house", "mouse", "horse", "haus", "maus", "pferd"]
LANGUAGES = ["english"] * 3 + ["german"] * 3


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(frame: pd.DataFrame, name: str = "t.csv", **options: object) -> str:
    frame.to_csv(name, index=bool(options.pop("index", False)), **options)
    return name


def solved(name: str, *options: object) -> dict[str, object]:
    return strict(printed("solve", name, "UniformWeights", "--json", *options))


def test_what_was_used_of_a_table_is_said(folder: Path) -> None:
    frame = FRAME.copy()
    frame.loc[[4, 9], "width"] = np.nan
    name = written(frame)
    used = "24 rows, 2 of them dropped for empty cells (lines 6, 11); 5 features: depth, width, "
    used += "colour=blue, colour=green, colour=red; labels of column 'label'"
    for command in (["solve", name, "LPSVM"], ["diagnose", name], ["bound", name, "SVMDual"]):
        assert f"table of {used}" in said(*command)
    answer = solved(name)
    assert answer["n"] == 22
    assert answer["table"] == used
    assert solved(name, "--missing", "impute")["n"] == 24
    assert "2 empty cells filled" in printed("solve", name, "LPSVM", "--missing", "impute")
    told = complaint("solve", name, "LPSVM", "--missing", "refuse")
    assert "a value in every cell, got none in line 6" in told


def test_medians_stand_in_for_empty_cells_also_of_new_rows(folder: Path) -> None:
    frame = FRAME.copy()
    frame.loc[3, "width"] = np.nan
    frame.loc[5, "colour"] = np.nan
    name = written(frame)
    data = iopt.datasets.read(name, missing="impute")
    assert data.X[3, 1] == np.median(frame["width"].dropna())
    assert data.X[5, 2:].tolist() == [0.0, 1.0, 0.0]  # green and red are there once more than blue
    printed("solve", name, "UniformWeights", "--missing", "impute", "--save", "m.npz")
    new = written(frame.iloc[[3]], "new.csv")
    complete = written(frame.iloc[[3]].assign(width=data.X[3, 1]), "complete.csv")
    assert printed("predict", "m.npz", new) == printed("predict", "m.npz", complete)
    printed("solve", name, "UniformWeights", "--save", "m.npz")
    assert "a value in every cell of the column 'width'" in complaint("predict", "m.npz", new)


def test_features_stand_in_the_order_of_their_columns(folder: Path) -> None:
    """Indicators of categories, one of two and all of three, stay between numbers."""
    rows = "x,3,a,1.5,u\ny,4,b,2.5,u\nx,5,c,3.5,u\n" * 4
    Path("t.csv").write_text("sex,age,town,size,one,label\n" + rows.replace("u\n", "u,1\n"))
    data = iopt.datasets.read("t.csv", label="none")
    names = ("sex=y", "age", "town=a", "town=b", "town=c", "size", "one=u")
    assert data.feature_names == names
    expected = [[0, 3, 1, 0, 0, 1.5, 1], [1, 4, 0, 1, 0, 2.5, 1], [0, 5, 0, 0, 1, 3.5, 1]]
    assert data.X[:3].tolist() == expected
    problem = iopt.KernelProblem.from_dataset(data, "gaussian(gamma=1)")
    saved = iopt.solve(problem, "OneClassSVM").save("m.npz")
    with np.load(saved, allow_pickle=False) as arrays:
        assert {array.dtype.kind for array in arrays.values()} <= set("fiubU")
    loaded = iopt.load(saved).problem.table
    assert loaded.features == names
    new = pd.DataFrame({"town": ["c"], "size": [7], "sex": ["y"], "one": ["u"], "age": ["08"]})
    assert loaded.encode(new, "new").tolist() == [[1, 8, 0, 0, 1, 7, 1]]


BAD_TABLES = {
    "": "comma-separated table",
    "x\n1\n2\n": "a single column",
    "x,label\n": "comma-separated table",
    "x,label\n1,a\n2,\n3,b\n": "a label in every row",
    "x,label\n,a\n,b\n": "some rows without missing cells",
    "x,x,label\n1,2,a\n3,4,b\n": "two of them named 'x'",
    "x,label\n1,5,a\n2,5,b\n": "rows of 3 cells under a header of 2",
    "x,label\nNA,a\n1,b\n": "got 'NA' in line 2. A cell without",
    "x,label\n?,a\n1,b\n": "got '?' in line 2",
    "x;y;label\n1,0;2,5;a\n3,0;4,0;b\n": "separated by commas, not semicolons",
    "x,y,label\n" + "".join(f'"0,{k}",{k},{"ab"[k % 2]}\n' for k in range(24)):
        "numbers in the column 'x', got '0,0' in line 2",
    **{
        "x,label\n" + f'"{one}",a\n1,b\n' * 4: f"numbers in the column 'x', got '{one}' in line 2"
        for one in ("1.234,5", "1,234.5", "1,234,567", "-1,5e-3", ",5")
    },
    "id,y,label\n" + "".join(f"row {k},{k},{'ab'[k % 2]}\n" for k in range(24)):
        "24 different texts in 24 rows. Leave it out",
    **dict.fromkeys(
        ("0.5,1.5,a\n2.5,3.5,b\n1,2,a\n", "5,3,1\n4,2,1\n1,2,-1\n",
         "0,0,7,a\n1,2,3,b\n4,4,4,a\n", "-1,3,a\n4,2,b\n"),
        "a header with the names of the columns",
    ),
}  # fmt: skip


def test_tables_that_cannot_be_used(folder: Path) -> None:
    for text, expected in BAD_TABLES.items():
        Path("t.csv").write_text(text, encoding="utf-8")
        assert expected in complaint("solve", "t.csv", "LPSVM")


def test_columns_may_be_left_out(folder: Path) -> None:
    frame = FRAME.assign(id=[f"row {k}" for k in range(24)])[["id", *FRAME]]
    name = written(frame)
    assert "left out: id;" in printed("diagnose", name, "--ignore", "id")
    assert iopt.datasets.read(name, ignore=["id"]).X.shape == (24, 5)
    told = complaint("diagnose", name, "--ignore", "di")
    assert "ignore: expected one of colour, depth, id" in told
    # Names of rows without a name of their own are what pandas writes by default.
    name, plain = written(FRAME, index=True), written(FRAME, "plain.csv")
    np.testing.assert_array_equal(iopt.datasets.read(name).X, iopt.datasets.read(plain).X)
    assert "left out: row names" in printed("diagnose", name)


def test_new_rows_with_a_category_that_training_did_not_have(folder: Path) -> None:
    printed("solve", written(FRAME), "UniformWeights", "--save", "m.npz")
    new = written(FRAME.iloc[:2].assign(colour=["red", "pink"]), "new.csv")
    told = complaint("predict", "m.npz", new)
    assert "blue, green, red in the column 'colour', as in training, got 'pink' in line 3" in told
    new = written(FRAME.iloc[:2].assign(depth=["1.5", "deep"]), "new.csv")
    told = complaint("predict", "m.npz", new)
    assert "numbers in the column 'depth', got 'deep' in line 3" in told
    # Columns are found by name, in any order.
    expected = printed("predict", "m.npz", written(FRAME, "new.csv"))
    shuffled = written(FRAME[["colour", "width", "depth"]], "new.csv")
    assert printed("predict", "m.npz", shuffled) == expected
    judged = run("predict", "m.npz", "t.csv", "--label", "label")
    assert judged.stdout == expected
    assert re.search(r"\d % of 24 labels agree", judged.stderr)


def distances(words: list[str], others: list[str]) -> np.ndarray:
    """Numbers of letters in one word only."""
    return np.array([[len(set(a) ^ set(b)) for b in others] for a in words], float)


@pytest.mark.parametrize(
    ("names", "labels"),
    [(False, "file"), (True, "column"), (True, "named file")],
)
def test_matrices(names: bool, labels: str, folder: Path) -> None:
    D = distances(WORDS, WORDS)
    frame = pd.DataFrame(D, WORDS, WORDS)
    options: list[object] = ["--kind", "distances"]
    if names:  # columns in another order than the rows
        frame = frame[WORDS[::-1]]
    if labels == "column":
        frame["label"] = LANGUAGES
    elif labels == "file":
        Path("y.csv").write_text("\n".join(["language", *LANGUAGES]), encoding="utf-8")
        options += ["--labels", "y.csv"]
    else:
        rows = pd.Series(LANGUAGES, WORDS).sample(frac=1.0, random_state=0)
        rows.to_csv("y.csv", header=False)
        options += ["--labels", "y.csv"]
    name = written(frame, "D.csv", index=names, header=names)
    gamma = 1.0 / np.mean(D**2)
    expected = iopt.KernelProblem(np.exp(-gamma * D**2), LANGUAGES)
    answer = strict(printed("solve", name, "SVMDual", "--json", *options))
    assert answer["objective"] == pytest.approx(iopt.solve(expected, "SVMDual").objective)
    assert {answer["positive"], answer["negative"]} == {"english", "german"}
    given = None if labels == "column" else "y.csv"
    problem = iopt.KernelProblem.read(name, "distances", labels=given)
    np.testing.assert_allclose(problem.K, expected.K, rtol=1e-14)
    assert problem.labels.tolist() == LANGUAGES
    for command in (["diagnose", name], ["bound", name, "SVMDual"]):
        assert "D (n = 6" in printed(*command, *options)
    # New words, with their columns in a third order where these have names.
    printed("solve", name, "SVMDual", "--save", "m.npz", *options)
    new = pd.DataFrame(distances(["rouse", "pfau"], WORDS), ["rouse", "pfau"], WORDS)
    new = new[sorted(WORDS)] if names else new
    table = printed("predict", "m.npz", written(new, "new.csv", index=names, header=names))
    values = iopt.solve(problem, "SVMDual").classifier.decision_function(
        problem.kernel_with(distances(["rouse", "pfau"], WORDS))
    )
    rows = [line.split(",") for line in table.splitlines()[1:]]
    found = [float(row[-1]) for row in rows]
    assert found == pytest.approx(values.tolist(), rel=1e-6, abs=1e-9)
    assert [row[:-2] for row in rows] == ([["rouse"], ["pfau"]] if names else [[], []])


@pytest.mark.parametrize(("labels", "first"), [("column", 0), ("file", 1)])
def test_columns_of_a_matrix_may_be_counted(labels: str, first: int, folder: Path) -> None:
    """As pandas writes a matrix without names; a matrix that begins like that is none."""
    D = distances(WORDS, WORDS)
    frame = pd.DataFrame(D, columns=range(first, first + 6))
    Path("y.csv").write_text("\n".join(LANGUAGES), encoding="utf-8")
    if labels == "column":
        frame["label"] = LANGUAGES
    given = None if labels == "column" else "y.csv"
    data = iopt.datasets.read(written(frame, "D.csv"), "distances", labels=given)
    assert data.D.tolist() == D.tolist()
    assert data.y.tolist() == LANGUAGES
    line = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))  # its first row is 0, 1, ...
    name = written(pd.DataFrame(line.astype(int)), "line.csv", header=False)
    assert iopt.datasets.read(name, "distances", labels="y.csv").D.tolist() == line.tolist()


def test_matrices_that_are_none(folder: Path) -> None:
    frame = pd.DataFrame(distances(WORDS, WORDS), WORDS, WORDS)
    plain = written(frame, "D.csv", header=False)
    kind = ("--kind", "distances")
    assert "for SVMDual, got one with no labels" in complaint("solve", plain, "SVMDual", *kind)
    narrow = written(frame.iloc[:, :3].assign(label=LANGUAGES), "narrow.csv", index=True)
    told = complaint("diagnose", narrow, *kind)
    assert "a matrix with as many columns as rows, got 6 x 3" in told
    holes = frame.assign(label=LANGUAGES)
    holes.iloc[2, 3] = np.nan
    told = complaint("diagnose", written(holes, "holes.csv", index=True), *kind)
    assert "a finite number in every cell, got none in line 4" in told
    other = frame.rename(columns={"house": "home"}).assign(label=LANGUAGES)
    told = complaint("diagnose", written(other, "other.csv", index=True), *kind)
    assert "columns with the names of the rows, got home" in told
    Path("y.csv").write_text("a\nb\n", encoding="utf-8")
    told = complaint("diagnose", plain, *kind, "--labels", "y.csv")
    assert "6 labels, one in each line, or names and labels, got 2 lines" in told
    told = complaint("diagnose", written(FRAME), "--labels", "y.csv")
    assert "labels: expected none for a table of points" in told
    assert "--kind similarities" in told
    told = complaint("diagnose", plain, *kind, "--missing", "impute")
    assert "missing: expected none for distances" in told
    # A matrix in the place of points.
    D = distances(WORDS, WORDS)
    for matrix, looks in ((D, "distances"), (10.0 - D, "similarities")):
        frame = pd.DataFrame(matrix, columns=WORDS).assign(label=LANGUAGES)
        told = complaint("diagnose", written(frame))
        assert f"a symmetric 6 x 6 matrix, which looks like {looks}" in told
        assert "--kind" in told
        np.savez("X.npz", X=matrix, y=LANGUAGES)
        assert "Name the array K or D" in complaint("diagnose", "X.npz")


def test_a_cell_of_spaces_is_empty(folder: Path) -> None:
    """It is no category among numbers, and no class."""
    Path("t.csv").write_text('a, b, label\n1, 2, "x, 1"\n3,  , y\n4, 5, y\n', encoding="utf-8")
    data = iopt.datasets.read("t.csv")
    assert (data.X.tolist(), data.y.tolist()) == ([[1.0, 2.0], [4.0, 5.0]], ["x, 1", "y"])
    assert data.table.dropped == (3,)
    Path("t.csv").write_text("a,label\n1,x\n2, \n", encoding="utf-8")
    assert "a label in every row, got none in line 3" in complaint("diagnose", "t.csv")


def test_labels_of_a_matrix_are_not_missing(folder: Path) -> None:
    kind = ("--kind", "similarities")
    Path("K.csv").write_text("2,1,a\n1,2,\n", encoding="utf-8")
    assert "a label in every row, got none in line 2" in complaint("diagnose", "K.csv", *kind)
    Path("K.csv").write_text("p,q\n2,1\n1,2\n", encoding="utf-8")
    Path("y.csv").write_text("name,label\nq,\np,a\n", encoding="utf-8")
    told = complaint("diagnose", "K.csv", *kind, "--labels", "y.csv")
    assert "y.csv: expected a label in every row, got none in line 2" in told


def test_categories_labels_and_names_of_new_rows_are_read_as_they_are_written(folder: Path) -> None:
    """In a file without the texts of training, 007 and 1.0 would be the numbers 7 and 1."""
    codes = ["007", "7", "1", "1.0", "7A"]
    table = [f"{k % 5},{codes[k % 5]},{'01' if k % 5 in (0, 3) else '1x'}" for k in range(20)]
    Path("t.csv").write_text("\n".join(["a,code,label", *table]), encoding="utf-8")
    printed("solve", "t.csv", "LPSVM(C=100)", "--save", "m.npz")
    for k, code in ((0, "007"), (3, "1.0")):
        Path("new.csv").write_text(f",a,code,label\n08,{k},{code},01\n", encoding="utf-8")
        outcome = run("predict", "m.npz", "new.csv", "--label", "label")
        assert outcome.stdout.splitlines()[1].startswith("08,01,")
        assert "100.0 % of 1 labels agree" in outcome.stderr
    Path("new.csv").write_text("a,code,label\n0,007,01\n3,1.0,\n", encoding="utf-8")
    told = complaint("predict", "m.npz", "new.csv", "--label", "label")
    assert "a label in every row, got none in line 3" in told


def test_names_of_a_matrix_may_be_numbers(folder: Path) -> None:
    Path("D.csv").write_text(",007,1\n007,0,5\n1,5,0\n", encoding="utf-8")
    Path("y.csv").write_text("007,01\n1,1x\n", encoding="utf-8")
    data = iopt.datasets.read("D.csv", "distances", labels="y.csv")
    assert data.names == ("007", "1")
    printed(
        "solve", "D.csv", "SVMDual", "--kind", "distances", "--labels", "y.csv", "--save", "m.npz"
    )
    # The first row has the names of the columns, in another order, and is no new object.
    Path("new.csv").write_text("1,007,truth\n9,2,01\n", encoding="utf-8")
    outcome = run("predict", "m.npz", "new.csv", "--label", "truth")
    assert [line.partition(",")[0] for line in outcome.stdout.splitlines()] == ["label", "01"]
    assert "100.0 % of 1 labels agree" in outcome.stderr
    Path("new.csv").write_text("1,007\n9,2\n", encoding="utf-8")
    assert printed("predict", "m.npz", "new.csv") == outcome.stdout


@pytest.mark.parametrize(("labels", "positive"), [([0, 1], 0), ([1, 2], 2), ([-1, 1], -1)])
def test_true_labels_are_those_of_the_file_whichever_is_positive(
    labels: list[int], positive: int, folder: Path
) -> None:
    x = np.arange(-10.0, 10.0) + 0.5
    frame = pd.DataFrame({"x": x, "label": np.where(x > 0.0, labels[1], labels[0])})
    name = written(frame)
    printed("solve", name, "SVMDual", "--positive", positive, "--save", "m.npz")
    outcome = run("predict", "m.npz", name, "--label", "label")
    assert "100.0 % of 20 labels agree" in outcome.stderr


@pytest.mark.parametrize("name", ["label", "kind"])
def test_labels_of_a_matrix_may_stand_first(name: str, folder: Path) -> None:
    """They are no names of rows, even if they are texts or truth values."""
    for a, b in (("x", "y"), ("True", "False")):
        Path("K.csv").write_text(f"{name},p,q\n{a},2,1\n{b},1,3\n", encoding="utf-8")
        data = iopt.datasets.read("K.csv", "similarities", label=name)
        assert (data.K.tolist(), data.names) == ([[2.0, 1.0], [1.0, 3.0]], ("p", "q"))
        assert list(map(str, data.y)) == [a, b]


def test_names_that_occur_twice_say_nothing_about_an_order(folder: Path) -> None:
    kind = ("--kind", "similarities")
    Path("K.csv").write_text(",p,q,p\np,2,1,1\np,1,1,2\nq,1,3,1\n", encoding="utf-8")
    told = complaint("diagnose", "K.csv", *kind)
    assert "different names of rows, as their order is not that of the columns" in told
    Path("K.csv").write_text("p,p,q\n2,1,1\n1,2,1\n1,1,3\n", encoding="utf-8")
    Path("y.csv").write_text("p,a\nq,a\np,b\n", encoding="utf-8")
    told = complaint("diagnose", "K.csv", *kind, "--labels", "y.csv")
    assert "y.csv: expected different names of rows" in told
    Path("y.csv").write_text("p,a\np,b\nq,a\n", encoding="utf-8")
    assert iopt.datasets.read("K.csv", kind[1], labels="y.csv").y.tolist() == ["a", "b", "a"]


def test_targets_have_no_positive_class(folder: Path) -> None:
    """Two targets, 3 and 4, are not turned into -1 and 1."""
    Path("t.csv").write_text("x,label\n0,3\n1,4\n2,4\n", encoding="utf-8")
    told = complaint("solve", "t.csv", "EpsilonSVR", "--task", "regression", "--positive", 3)
    assert "positive: expected none for targets, got 3" in told
