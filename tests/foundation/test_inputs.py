"""Texts and files that cannot be used: one sentence that names the argument and what came."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import MAX_SHOWN, DataError, ParameterError, shown
from indefinite_opt.foundation.files import read_bytes, read_json
from indefinite_opt.foundation.naming import parse_call
from indefinite_opt.problem import kernels

PLAIN = iopt.KernelProblem(np.eye(4), [1, 1, -1, -1])


TEXTS = {
    "400 digits": ("SVMDual(C=" + "9" * 400 + ")", "C: expected numbers up to 1.8e+308, or inf"),
    "an infinity by accident": ("SVMDual(C=1e999)", "C: expected numbers up to 1.8e+308, or inf"),
    "5000 digits": ("SVMDual(C=" + "9" * 5000 + ")", "formulation: expected NAME or NAME(key=valu"),
    "signs": ("SVMDual(C=" + "-" * 10**5 + "1)", "formulation: expected NAME or NAME(key=value"),
    "brackets": ("SVMDual(C=" + "(" * 300 + "1" + ")" * 300 + ")", "formulation: expected NAME or"),
    "a list for a key": ("SVMDual(C={[]: 1})", "formulation: expected NAME or NAME(key=value"),
    "a set of sets": ("SVMDual(C={{}})", "formulation: expected NAME or NAME(key=value"),
    "NUL": ("SVMDual(C=1\0)", "formulation: expected NAME or NAME(key=value"),
    **{
        text: (text, "formulation: expected NAME or NAME(key=value")
        for text in (
            "", "3", "SVMDual)", "SVMDual(1)", "SVMDual(C=1", "SVMDual(C=)", "SVMDual(C=-inf)",
            "SVMDual(C=1)(2)", "SVMDual(C=1).x(C=2)", "SVMDual(**parameters)", "l1-x(a=1",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize(("text", "start"), TEXTS.values(), ids=TEXTS)
def test_formulations_that_cannot_be_read(text: str, start: str) -> None:
    with pytest.raises(ParameterError, match=f"^{re.escape(start)}") as caught:
        iopt.solve(PLAIN, text)
    assert len(str(caught.value)) < MAX_SHOWN + 100
    with pytest.raises(iopt.IndefiniteOptError):
        kernels.get(text.replace("SVMDual(C", "gaussian(gamma"))
    with pytest.raises(iopt.IndefiniteOptError):
        iopt.solve(PLAIN, "SVMDual", solver=text.replace("SVMDual(C", "multistart(starts"))


def test_infinity_is_written_inf_and_what_came_at_a_readable_length() -> None:
    assert parse_call("SVMDual(C=inf, b=1e308)") == ("SVMDual", {"C": np.inf, "b": 1e308})
    assert shown(1.5) == "1.5"
    assert shown(10**5000) == "an integer of more than 4300 digits"
    error = ParameterError("name", "a short one", "x" * 10**5)
    assert str(error) == f"name: expected a short one, got {'x' * MAX_SHOWN}..."
    assert len(error.got) == 10**5


def test_a_table_that_inflates(tmp_path: Path) -> None:
    path = tmp_path / "zeros.csv.gz"
    path.write_bytes(gzip.compress(b"0," * 10**6))
    with pytest.raises(DataError, match="expected at most 1999999 bytes, unpacked, got more"):
        read_bytes(path, max_bytes=1_999_999)
    assert len(read_bytes(path, max_bytes=2_000_000)) == 2_000_000
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "mine.csv").write_text("a,label\n1,1\n2,-1\n")
    assert iopt.datasets.load("mine", tmp_path, max_bytes=17).n == 2
    with pytest.raises(DataError, match="expected at most 16 bytes"):
        iopt.datasets.load("mine", tmp_path, max_bytes=16)
    with pytest.raises(ParameterError, match="max_bytes: expected a positive integer"):
        iopt.datasets.load("mine", tmp_path, max_bytes=0)


def test_json_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "values.json"
    for content, reason in (
        (b"[" * 200_000, "nested too deeply"), (b'{"alpha": ' + b"9" * 5000 + b"}", "4300"),
        (b"\xff", "utf-8"), (b"", "Expecting value"),
        (b'{"alpha": [0.0], "alpha": [1.0]}', "a key occurs twice"),
    ):  # fmt: skip
        path.write_bytes(content)
        with pytest.raises(DataError, match=f"values: expected a readable JSON file.*{reason}"):
            read_json(path, "values")
