"""What the site adds to Sphinx: formulas, links, and the sources of models on their pages."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import indefinite_opt as iopt

REASON = "Sphinx and its extensions are missing: pip install '.[docs]'"
for module in ("sphinx", "sphinx_gallery", "latex2mathml"):
    pytest.importorskip(module, reason=REASON)

DOCS = Path(__file__).parents[1] / "docs"
sys.path.append(str(DOCS / "extensions"))

import rendering  # noqa: E402
from docutils import nodes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from PIL import Image  # noqa: E402

APP: Any = SimpleNamespace(srcdir=DOCS, env=SimpleNamespace(docname="guide/choosing"))


def test_pages_of_formulations_show_their_model_and_their_theory() -> None:
    lines: list[str] = []
    rendering.show_model(APP, "class", "SVMDual", iopt.SVMDual, None, lines)
    page = "\n".join(lines)
    assert "   def model(self, problem: KernelProblem) -> Model:" in page
    assert "cp.quad_form(alpha, Q)" in page
    assert ":doc:`/theory/haasdonk`, :doc:`/theory/lin-lin`" in page
    rendering.show_model(APP, "class", "Formulation", iopt.Formulation, None, lines)
    assert lines == page.split("\n")


def test_variables_stand_below_the_operator() -> None:
    writer = SimpleNamespace(body=[])
    for latex in (r"\max_\alpha\ f", r"\min\limits_{w, b} f"):
        with pytest.raises(nodes.SkipNode):
            rendering.visit_math(writer, nodes.math_block(latex, latex))
    assert [text.count("<munder>") for text in writer.body] == [1, 1]


def test_formulas_begin_at_their_beginning_and_columns_are_aligned() -> None:
    style = (DOCS / "static" / "site.css").read_text(encoding="utf-8")
    rules = style.partition("div.math {")[2].partition("}")[0]
    assert "flex-direction: row;" in rules
    assert 'mtd[columnalign="left"] { text-align: left; }' in style


def test_names_of_the_package_are_links() -> None:
    method = "iopt.KernelProblem.read"
    codes = ("SVMDual(C=10)", "iopt.solve(...)", "bound", "SolverFailed", method, "sklearn.svm.SVC")
    paragraph = nodes.paragraph("", "", *(nodes.literal(code, code) for code in codes))
    page = nodes.section("", paragraph)
    rendering.link_names(APP, page)
    targets = [one.get("reftarget") for one in paragraph.children]
    found = ["SVMDual", "solve", None, "errors.SolverFailed", "KernelProblem.read", None]
    assert targets == [name and f"indefinite_opt.{name}" for name in found]


def test_signatures_name_types_shortly() -> None:
    text = rendering.stringify_annotation(rendering.ArrayLike, "smart")
    found = rendering.short_types(APP, "function", "f", None, None, f"(K: {text})", None)
    assert found == ("(K: ArrayLike)", None)


@pytest.mark.parametrize(("size", "thumbnail"), [((4.0, 2.0), None), ((2.0, 4.0), (220, 165))])
def test_a_thumbnail_is_the_picture_or_the_upper_part_of_a_high_one(
    size: tuple[float, float], thumbnail: tuple[int, int] | None, tmp_path: Path
) -> None:
    script = tmp_path / "plot_one.py"
    script.write_text("# %%\n# A line falls. It ends.\n", encoding="utf-8")
    paths = [tmp_path / f"{k}.png" for k in (1, 2)]
    block = {
        "example_globals": {"figure": Figure(size)}, "image_path_iterator": map(str, paths),
        "src_file": str(script),
    }  # fmt: skip
    shown = rendering.scraper(None, block, {"src_dir": str(tmp_path)})
    assert "1.png" in shown
    assert ":alt: A line falls." in shown
    assert paths[1].exists() == (thumbnail is not None)
    if thumbnail is not None:
        with Image.open(paths[1]) as picture:
            assert picture.size == thumbnail
