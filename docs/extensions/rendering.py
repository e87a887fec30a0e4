"""Additions to Sphinx: formulas, docstrings, links of names, pictures, and four directives."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from api_pages import public_names, store
from docutils import nodes
from docutils.parsers.rst import directives
from latex2mathml.converter import convert
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from PIL import Image
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import stringify_annotation
from sphinx_gallery.scrapers import figure_rst

import indefinite_opt as iopt
from indefinite_opt.figures import StepByStep
from indefinite_opt.formulations import as_formulation
from indefinite_opt.foundation import Array

K = [[1.0, 0.5, -1.0], [0.5, -1.0, 0.0], [-1.0, 0.0, 1.0]]
EXAMPLES = {
    "classification": iopt.KernelProblem(K, [1, 1, -1]),
    "regression": iopt.KernelProblem(K, [0.5, 1.0, -1.0]),
    "one class": iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]]),  # these may be distances, too
    "clusters": iopt.KernelProblem(K),
}
"""A kernel of three points with a negative eigenvalue, so that formulas are the general ones."""

DISTANCES = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
LINE, SIGNS = np.exp(-DISTANCES), [1, -1, 1, 1, -1, -1]
DEFINITE = {
    "classification": iopt.KernelProblem(LINE, SIGNS),
    "regression": iopt.KernelProblem(LINE, [0.5, 1.0, -1.0, 0.0, 2.0, 1.5]),
    "one class": iopt.KernelProblem(LINE),
    "clusters": iopt.KernelProblem(LINE),
}
"""A positive definite kernel of six points, for formulations that need one."""

HYPERBOLIC = {"classification": iopt.KernelProblem(np.cosh(DISTANCES), SIGNS)}
"""The inner products of six points of a hyperboloid, for formulations in hyperbolic space."""

UNKNOWN = {
    r"\\(?:big|Big|bigg|Bigg)[lr]?(?=[^a-zA-Z])": "",
    r"\\tag\{([^}]*)\}": r"\\qquad (\1)",
    r"\\tfrac": r"\\frac",
    r"\\circ": "∘",
}
"""Commands that the converter of formulas does not know, and what stands in their place."""


DATA = {
    "classification": "two classes",
    "regression": "numbers to predict",
    "one class": "no labels",
    "clusters": "no labels",
}
"""What formulations need, by their task."""

MEANINGS = {"ratios": "ratio, larger is better", "exponents": "exponent of n, smaller is better"}


def visit_math(self: Any, node: nodes.Node) -> None:
    """A formula as MathML, which browsers draw by themselves, without a script."""
    latex, displayed = node.astext(), isinstance(node, nodes.math_block)
    for pattern, replacement in UNKNOWN.items():
        latex = re.sub(pattern, replacement, latex)
    if displayed:  # what is varied stands below, as in the formulas of declarations
        latex = re.sub(r"\\(max|min)_", r"\\\1\\limits_", latex)
    math = convert(latex.strip(), display="block" if displayed else "inline")
    self.body.append(f'<div class="math">{math}</div>' if displayed else math)
    raise nodes.SkipNode


def escape_bars(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Escape the bars of norms in docstrings, outside of examples and displayed formulas."""
    displayed = False
    for i, line in enumerate(lines):
        displayed = displayed and (not line or line.startswith(" "))
        displayed |= line.startswith((".. math::", ">>> ", "... ")) or line.endswith("::")
        lines[i] = line if displayed else line.replace("|", "\\|")


def show_model(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Append the source of its `model`, and links to the theory, to the page of a formulation."""
    if what != "class" or not issubclass(obj, iopt.Formulation) or inspect.isabstract(obj):
        return
    source = textwrap.dedent(inspect.getsource(obj.model)).splitlines()
    lines += ["", ".. rubric:: Source of the model", "", ".. code-block:: python", ""]
    lines += [*(f"   {line}" for line in source), ""]
    links = [f":doc:`/theory/{page}`" for page in theory_pages(Path(app.srcdir), obj.__name__)]
    if links:
        lines += [".. rubric:: Theory", "", ", ".join(links), ""]


def theory_pages(docs: Path, name: str) -> list[str]:
    """The pages of the theory that show a formulation as it is declared."""
    pages = sorted((docs / "theory").glob("*.md"))
    return [page.stem for page in pages if f"{{declared}} {name}(" in page.read_text("utf-8")]


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Link classes and names such as `iopt.solve`, where pages have them as code, to the API.

    Other names, such as `bound`, may also be options and commands, and are no links.
    """
    known = {f"{one.module}.{one.name}" for one in public_names()}
    classes = {
        one.name: f"{one.module}.{one.name}"
        for one in reversed(public_names())  # the first namespace counts
        if inspect.isclass(one.thing)
    }
    for literal in list(doctree.findall(nodes.literal)):
        called = re.fullmatch(r"(iopt\.)?([\w.]+)(\(.*\))?", literal.astext())
        if called is None or isinstance(
            literal.parent, nodes.reference | pending_xref | nodes.title
        ):
            continue
        target = f"indefinite_opt.{called[2]}" if called[1] else classes.get(called[2], "")
        if (
            target in known or target.rpartition(".")[0] in classes.values()
        ):  # or one of its methods
            reference = pending_xref(
                "", reftype="obj", refdomain="py", reftarget=target, refdoc=app.env.docname
            )
            literal.replace_self(reference)
            reference += literal


def short_types(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: Any
) -> tuple[str | None, Any]:
    """Write ArrayLike and Array in signatures, not the types of numpy that they stand for."""
    for alias, kind in {"ArrayLike": ArrayLike, "Array": Array}.items():
        for mode in ("smart", "fully-qualified-except-typing"):
            long = stringify_annotation(kind, mode)
            signature, returned = (
                text and text.replace(long, alias) for text in (signature, returned)
            )
    return signature, returned


def skip_requests(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what scikit-learn adds to every estimator, as `set_fit_request`."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the variable `figure` of the gallery where it is new, or a frame of a `StepByStep`.

    The latter shows itself, with its slider, on the page. The text of a picture is the first
    sentence below it in the script, which says what to see. Of a picture that is higher than wide
    the upper part is one of its own, for a thumbnail. Figures of this package are not managed by
    pyplot.
    """
    figure = block_vars["example_globals"].pop("figure", None)
    slider = isinstance(figure, StepByStep)
    if slider:
        figure = figure.frames[len(figure.frames) // 5]
    if not isinstance(figure, Figure):
        return ""
    path = Path(next(block_vars["image_path_iterator"]))
    figure.savefig(path, dpi=110)  # sharp at the width of the page, and about 50 kB
    with Image.open(path) as picture:
        if picture.height > picture.width:
            upper = picture.crop((0, 0, picture.width, 3 * picture.width // 4))
            upper.save(next(block_vars["image_path_iterator"]))
    if slider:
        return ""
    below = Path(block_vars["src_file"]).read_text(encoding="utf-8").rpartition("# %%\n")[2]
    seen = " ".join(line.lstrip("# ") for line in below.splitlines())
    alt = re.split(r"(?<=\.) ", seen, maxsplit=1)[0]
    return str(figure_rst([str(path)], gallery_conf["src_dir"], alt))


def copy_notebooks(source: Path, target: Path) -> None:
    """Copy every notebook with the alternative texts of its pictures.

    Jupyter reads the text of a picture from the metadata of its output, MyST from its cell's.
    """
    for path in sorted(source.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            outputs = cell.get("outputs", [])
            alts = [out.get("metadata", {}).get("image/png", {}).get("alt") for out in outputs]
            if alt := next(filter(None, alts), None):
                cell["metadata"]["mystnb"] = {"image": {"alt": alt}}
        store(target / path.name, json.dumps(notebook, ensure_ascii=False))


class Declared(SphinxDirective):
    """`declared`: the mathematics of a formulation, given by a call such as `SVMDual(C=10)`."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        # The argument stands in a page of this repository, which is code as much as this file is.
        formulation = eval(self.arguments[0], {}, vars(iopt))
        latex = formulation.declare(EXAMPLES[formulation.task]).latex()
        return [nodes.math_block(latex, latex, nowrap=False, number=None, label=None)]


class Card(SphinxDirective):
    """`formulation`: a card about a formulation, given by a call, with a sentence about it."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"convex": directives.unchanged, "picture": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        call = self.arguments[0]
        formulation = eval(call, {}, vars(iopt))  # of this repository, as in `Declared`
        kind, name = type(formulation), type(formulation).__name__
        fields = [
            field.name if field.default is None else f"{field.name}={field.default}"
            for field in dataclasses.fields(kind)
        ]
        convex = self.options.get("convex", "for every kernel" if kind.convex else "")
        if not convex:
            raise self.error(f"{name}: say when it is convex")
        pages = theory_pages(Path(self.env.srcdir), name)
        links = [f"[API and source](/api/generated/indefinite_opt.{name}.rst)"]
        links += [f"[](/theory/{page}.md)" for page in pages]
        if "picture" in self.options:
            links.append(f"[](/gallery/{self.options['picture']}.rst)")
        legend = formulation.declare(EXAMPLES[formulation.task]).legend()
        letters = "".join(f"- {letter}: {told}\n" for letter, told in legend.items())
        facts = {
            "Paper": formulation.reference,
            "Convex": convex,
            "Takes": f"{DATA[formulation.task]}; {', '.join(f'`{field}`' for field in fields)}",
            "More": " · ".join(links),
        }
        text = "\n".join(f"**{head}** {told}\\" for head, told in facts.items()).rstrip("\\")
        text = f"```{{declared}} {call}\n```\n\n" + "\n".join([*self.content, "", text])
        text += f"\n\n:::{{dropdown}} Letters\n{letters}:::\n"
        return self.parse_text_to_nodes(f"::::{{card}} {name}\n{text}\n::::\n")


class Written(SphinxDirective):
    """`written`: a formulation in a file beside the page, by FILE:CLASS: mathematics and code."""

    required_arguments = 1
    option_spec: ClassVar = {"hyperbolic": directives.flag}

    def run(self) -> list[nodes.Node]:
        file, name = self.arguments[0].split(":")
        examples = HYPERBOLIC if "hyperbolic" in self.options else DEFINITE
        path = Path(self.env.doc2path(self.env.docname)).parent / file
        formulation = as_formulation(f"{path}:{name}")
        latex = formulation.declare(examples[formulation.task]).latex()
        shown = f"```{{literalinclude}} {file}\n:pyobject: {name}\n:language: python\n```\n"
        formula = nodes.math_block(latex, latex, nowrap=False, number=None, label=None)
        return [formula, *self.parse_text_to_nodes(shown)]


class Benchmarks(SphinxDirective):
    """`benchmarks`: the docstrings of the commands in a folder, and their last short numbers."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.doc2path(self.env.docname)).parent / self.arguments[0]
        tables: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for line in map(json.loads, (folder / "history.jsonl").read_text("utf-8").splitlines()):
            for name, kinds in {} if line["full"] else line["benchmarks"].items():
                for kind, numbers in kinds.items():
                    for row, number in numbers.items():
                        cells = f"| {row} | {MEANINGS[kind]} | {number:.3g} | {line['commit']} |"
                        tables[name][row] = cells
        text = ""
        for path in sorted(folder.glob("*.py")):
            source = path.read_text("utf-8")
            if "__main__" in source:  # others are helpers
                text += f"## {path.name}\n\n{ast.get_docstring(ast.parse(source))}\n\n"
            if path.stem in tables:
                rows = "\n".join(tables[path.stem].values())
                text += f"| what | kind | number | commit |\n|---|---|---|---|\n{rows}\n\n"
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
    app.connect("autodoc-process-docstring", escape_bars, priority=600)  # after numpydoc, at 500
    app.connect("autodoc-process-docstring", show_model, priority=700)
    app.connect("autodoc-process-signature", short_types)
    app.connect("autodoc-skip-member", skip_requests)
    app.connect("doctree-read", link_names)
    app.add_directive("declared", Declared)
    app.add_directive("formulation", Card)
    app.add_directive("written", Written)
    app.add_directive("benchmarks", Benchmarks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
