"""What a report of a bug says of the machine."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.processes import fresh
from indefinite_opt.core import library


def test_versions_name_what_results_depend_on(capsys: pytest.CaptureFixture[str]) -> None:
    iopt.show_versions()
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["indefinite_opt"] == iopt.__version__
    assert lines["numpy"] == np.__version__
    assert lines["Python"].startswith(platform.python_version())
    assert lines["core"].startswith(library.build)
    assert lines["BLAS"].endswith("threads")


@pytest.mark.parametrize("build", ["", library.GENERIC])
def test_versions_say_why_a_build_is_used(build: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.VARIABLE, build)
    printed = fresh("import indefinite_opt as iopt\niopt.show_versions()").splitlines()
    reason = f"{library.VARIABLE} names it" if build else "this processor"
    assert f", because {reason}" in printed[1]
    assert printed[1].startswith(f"core            {build}")
