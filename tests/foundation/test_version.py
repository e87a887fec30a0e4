"""Versions by which stored results are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from indefinite_opt.foundation import version_of


def test_files_that_were_not_installed_have_a_version_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It changes with Python and C++, on which results depend, and with nothing else."""
    package = tmp_path / "package_beside"
    (package / "core").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path)
    names = ("__init__.py", "core/loop.cpp", "core/views.h", "core/generic.core", "notes.md")
    for name in names:
        (package / name).write_text("")
    found = [version_of.__wrapped__(package.name)]
    for name in names:
        (package / name).write_text("# changed")
        found.append(version_of.__wrapped__(package.name))
    assert len(set(found[:4])) == 4
    assert set(found[4:]) == {found[3]}
    assert found[0].startswith("0+not.installed.")
