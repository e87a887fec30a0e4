"""Files of a release: they name the same dependencies, and cite what they list."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

CONDA_NAMES = {"cvxpy": "cvxpy-base", "matplotlib": "matplotlib-base"}
"""Packages whose part without a graphical interface or all solvers has its own name."""


def section(recipe: str, name: str) -> set[str]:
    """The entries of a list of the recipe, without the version of Python and pip."""
    found = re.search(rf"^  {name}:\n((?:    - .*\n)+)", recipe, re.MULTILINE)
    assert found is not None
    entries = {line.removeprefix("    - ") for line in found[1].splitlines()}
    return {entry for entry in entries if not re.match(r"python |pip$", entry)}


def test_the_conda_recipe_has_the_dependencies_of_the_project() -> None:
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    for name, listed in (
        ("run", PROJECT["project"]["dependencies"]), ("host", PROJECT["build-system"]["requires"])
    ):  # fmt: skip
        pairs = [requirement.partition(">=") for requirement in listed]
        expected = {f"{CONDA_NAMES.get(package, package)} >={low}" for package, _, low in pairs}
        assert section(recipe, name) == expected


def test_the_paper_cites_what_its_bibliography_lists() -> None:
    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    entries = (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")
    assert set(re.findall(r"@([a-z]+\d{4})", text)) == set(re.findall(r"\{([a-z]+\d{4}),", entries))
    assert 250 <= len(text.split()) <= 1000  # what the journal asks for


def test_the_paper_counts_studies_and_references() -> None:
    import indefinite_opt as iopt
    from reproduction.declaration import studies

    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    assert f"The {len(studies())} tables and figures" in text
    assert f"{len(iopt.reference_library.references())} problems" in " ".join(text.split())
