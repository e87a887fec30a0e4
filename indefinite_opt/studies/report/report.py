"""A comparison for readers: terminal table, Markdown, and one self-contained HTML file."""

from __future__ import annotations

import html
import io
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from indefinite_opt.errors import DataError, IndefiniteOptError
from indefinite_opt.figures import (
    ComparisonLike,
    comparison_figure,
    regions_figure,
    spectrum_figure,
)
from indefinite_opt.modeling import Formulation
from indefinite_opt.modeling.display import latex_expression, mathml
from indefinite_opt.problem import KernelProblem
from indefinite_opt.theory import diagnose

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

__all__ = ["terminal_table", "to_html", "to_markdown"]

Row = Mapping[Any, Any]

CLAIM_MEANINGS = {
    "GLOBAL": "A global optimum: a duality gap or global bracket, computed without trusting the "
    "solver, is closed.",
    "LOCAL": "A local optimum: first-order conditions hold and the curvature is nonnegative on the "
    "free variables. Whether it is global is not known.",
    "STATIONARY": "First-order conditions hold, but the curvature is negative in some direction: "
    "possibly a saddle.",
    "FEASIBLE": "All constraints hold; optimality was not shown to the tolerance asked for.",
    "NONE": "Nothing was proved: a constraint is violated.",
}
MEASURE_MEANINGS = {
    "duality gap": "Distance of the objective from a rigorous bound on the optimum, relative to "
    "the size of the objective. No other point can gain more than that.",
    "global bracket": "Distance of the objective of a nonconvex problem from a rigorous bound by "
    "branch and bound, relative to the size of the objective.",
    "KKT residual": "Violation of the first-order conditions. It is no gap: it says nothing about "
    "the distance from the global optimum.",
}

_HEADS = ("formulation", "solver", "accuracy", "objective", "claim", "evidence", "SVs", "seconds")

_SHOWN_ERRORS = 3
"""Different error messages shown for one row; the per-fold table has all of them."""


# ------------------------------------------------------------------------------ numbers as text


def _records(table: Any) -> list[dict[Any, Any]]:
    return list(table.to_dict("records"))


def _number(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)


def _accuracy(row: Row) -> str:
    """95.4 ± 1.2 %; one cell alone has no spread."""
    if math.isnan(row["accuracy"]):
        return "–"
    several = row["cells"] - row["failed"] > 1
    spread = f" ± {100.0 * row['spread']:.1f}" if several else ""
    return f"{100.0 * row['accuracy']:.1f}{spread} %"


def _claim(row: Row) -> str:
    return "FAILED" if row["failed"] == row["cells"] else str(row["claim"])


def _gap(row: Row) -> tuple[str, str]:
    """The name of the number that supports the claim, and the number."""
    return (row["gap_kind"], f"{row['gap']:.2g}") if row["gap_kind"] else ("", "–")


def _failures(comparison: ComparisonLike, row: Row) -> str:
    """How many cells of a row failed, and in which words; empty if none did."""
    if not row["failed"]:
        return ""
    frame = comparison.frame
    mine = (frame["formulation"] == row["formulation"]) & (frame["solver"] == row["solver"])
    errors = Counter(" ".join(error.split()) for error in frame[mine]["error"] if error)
    words = [message for message, _ in errors.most_common(_SHOWN_ERRORS)]
    if len(errors) > _SHOWN_ERRORS:
        words.append(f"{len(errors) - _SHOWN_ERRORS} other messages")
    return f"{row['failed']} of {row['cells']} failed: {' | '.join(words)}"


# --------------------------------------------------------------------------- terminal, Markdown


def to_markdown(comparison: ComparisonLike) -> str:
    """The summary as a GitHub Markdown table, then one line for each row with failures.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
    """
    lines = [_markdown_row(_HEADS), "|---|---|---:|---:|---|---|---:|---:|"]
    failures = []
    for row in _records(comparison.summary):
        lines.append(_markdown_row([
            row["formulation"], row["solver"], _accuracy(row), _number(row["objective"], ".6g"),
            _claim(row), " ".join(_gap(row)).strip(), _number(row["support"], ".4g"),
            _number(row["seconds"], ".3g"),
        ]))  # fmt: skip
        failed = _failures(comparison, row)
        if failed:
            failures += ["", f"**{row['formulation']}** ({row['solver']}): {failed}"]
    return "\n".join([*lines, *failures, ""])


def _markdown_row(cells: Iterable[Any]) -> str:
    shown = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(shown)} |"


_TERMINAL_STYLES = {"GLOBAL": "green", "LOCAL": "cyan", "STATIONARY": "yellow"}


def terminal_table(comparison: ComparisonLike) -> Table:
    """The summary for a terminal of 80 columns or more; parameters stand below the name.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    rich.table.Table
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("formulation", overflow="fold", min_width=15)
    for name in _HEADS[1:]:
        numeric = name in ("accuracy", "objective", "SVs", "seconds")
        table.add_column(name, justify="right" if numeric else "left", no_wrap=True)
    for row in _records(comparison.summary):
        claim = _claim(row)
        table.add_row(
            _two_lines(row["formulation"]), Text(row["solver"]), _accuracy(row),
            _number(row["objective"], ".4g"), Text(claim, _TERMINAL_STYLES.get(claim, "red")),
            "\n".join(part for part in _gap(row) if part), _number(row["support"], ".4g"),
            _number(row["seconds"], ".2g"),
        )  # fmt: skip
    return table


def _two_lines(formulation: str) -> Any:
    from rich.text import Text

    name, _, rest = formulation.partition("(")
    parameters = rest.removesuffix(")")
    return Text(name).append(f"\n{parameters}" if parameters else "", "dim")


# ----------------------------------------------------------------------------------------- HTML


def to_html(comparison: ComparisonLike, path: str | Path) -> Path:
    """One HTML file with everything in it: no scripts, no fonts, nothing from a network.

    Parameters
    ----------
    comparison : Comparison
    path : str or Path
        Written in one step: a reader never sees half a report.

    Returns
    -------
    Path

    Raises
    ------
    DataError
        If the path cannot be written.
    """
    sentences = diagnose(comparison.problem).sentences
    page = Template(_PAGE).substitute(
        title=_text(f"Indefinite kernels: {comparison.problem.name}"),
        style=_STYLE,
        name=_text(comparison.problem.name),
        lead=_lead(comparison),
        facts=_facts(comparison),
        results=_results(comparison),
        claims=_definitions(
            (_badge(claim), _text(CLAIM_MEANINGS[claim])) for claim in CLAIM_MEANINGS
        ),
        measures=_definitions((_text(k), _text(v)) for k, v in MEASURE_MEANINGS.items()),
        figure=_svg(comparison_figure(comparison), "comparison", "Accuracy, time and gaps"),
        regions=_regions(comparison),
        problems="\n".join(_card(f, comparison.problem) for f in comparison.formulations),
        spectrum=_svg(spectrum_figure(comparison.problem), "spectrum", "Spectrum of the kernel"),
        sentences="".join(f"<li>{_scripted(s)}</li>" for s in sentences),
        spectra=_spectra(comparison.problem),
        folds=_folds(comparison),
        settings=_definitions((_text(k), _text(v)) for k, v in comparison.settings.items()),
    )
    return _write(Path(path), page)


def _regions(comparison: ComparisonLike) -> str:
    """Decision regions of every formulation trained on all the data, for points in the plane."""
    X = comparison.problem.X
    if X is None or X.shape[1] != 2:
        return ""
    if not comparison.fitted:
        return ""
    figure = regions_figure(comparison.problem, comparison.fitted)
    drawing = _svg(figure, "regions", "Decision regions")
    caption = "Decision functions after training on all points; support vectors are circled."
    return f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>\n"


def _write(path: Path, text: str) -> Path:
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise DataError(
            "path", "a file that can be written", f"{str(path)!r} ({error.strerror})"
        ) from None
    return path


def _text(value: Any) -> str:
    return html.escape(str(value))


def _scripted(value: str) -> str:
    """Escaped text in which K_ij has an index and R^(p,q) an exponent."""
    indexed = re.sub(r"(\w)_(\w+)", r"\1<sub>\2</sub>", _text(value))
    return re.sub(r"\^(\([\d,]+\))", r"<sup>\1</sup>", indexed)


def _definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Rows of a definition list; both sides are HTML already."""
    return "".join(f"<div><dt>{term}</dt><dd>{meaning}</dd></div>" for term, meaning in pairs)


def _badge(name: str) -> str:
    return f'<span class="badge {_text(name.lower())}">{_text(name)}</span>'


def _lead(comparison: ComparisonLike) -> str:
    problem, rows = comparison.problem, _records(comparison.summary)
    p, q = problem.signature
    nature = "indefinite" if q else "positive semidefinite"
    proved = sum(row["claim"] == "GLOBAL" for row in rows)
    count = len(comparison.formulations)
    sentences = [
        f"{count} formulation{'s' * (count != 1)} of learning with a kernel, solved and certified "
        f"on the same {problem.n} points.",
        "Accuracy is measured on points left out of training: "
        f"{_evaluation(comparison)}, seed {comparison.settings.get('seed', 'not recorded')}.",
        f"The centred kernel matrix has signature ({p}, {q}): it is {nature}.",
        f"{proved} of {len(rows)} rows are proved global optima in every fold.",
    ]
    return _text(" ".join(sentences))


def _evaluation(comparison: ComparisonLike) -> str:
    folds = comparison.frame["fold"].nunique()
    return str(comparison.settings.get("evaluation", f"{folds} folds"))


def _facts(comparison: ComparisonLike) -> str:
    problem, settings = comparison.problem, comparison.settings
    positive, negative = problem.class_sizes
    facts = {
        "points": problem.n,
        "classes": f"{problem.classes[0]} ({negative}), {problem.classes[1]} ({positive})",
        "kernel": settings.get("kernel", "precomputed"),
        "scaling": settings.get("scaling", "none"),
        "signature": "({}, {})".format(*problem.signature),
        "evaluation": _evaluation(comparison),
    }
    return _definitions((_text(k), _text(v)) for k, v in facts.items())


def _named(formulation: str) -> str:
    """The class in the text face, its parameters smaller below."""
    name, bracket, rest = formulation.partition("(")
    parameters = f"<small>{_text(rest.removesuffix(')'))}</small>" if bracket else ""
    return f"<strong>{_text(name)}</strong>{parameters}"


def _results(comparison: ComparisonLike) -> str:
    rows = _records(comparison.summary)
    best = max((r["accuracy"] for r in rows if not math.isnan(r["accuracy"])), default=math.nan)
    return "\n".join(_result(comparison, row, best) for row in rows)


def _result(comparison: ComparisonLike, row: Row, best: float) -> str:
    kind, gap = _gap(row)
    accuracy = _accuracy(row)
    # Equal up to the rounding that is printed.
    if abs(row["accuracy"] - best) < 5e-5:
        accuracy = f"<strong>{accuracy}</strong>"
    failed = _failures(comparison, row)
    cells = [
        f'<th scope="row">{_named(row["formulation"])}</th>',
        f"<td>{_text(row['solver'])}</td>",
        f'<td class="n">{accuracy}</td>',
        f'<td class="n">{_number(row["objective"], ".6g")}</td>',
        f"<td>{_badge(_claim(row))}</td>",
        f'<td class="measure"><small>{_text(kind)}</small>{gap}</td>',
        f'<td class="n">{_number(row["support"], ".4g")}</td>',
        f'<td class="n">{_number(row["seconds"], ".3g")}</td>',
    ]
    note = f'<tr class="error"><td colspan="8">{_text(failed)}</td></tr>' if failed else ""
    opening = '<tr class="noted">' if failed else "<tr>"
    return f"{opening}{''.join(cells)}</tr>{note}"


def _card(formulation: Formulation, problem: KernelProblem) -> str:
    head = f"<h3>{_named(str(formulation))}</h3>"
    reference = f'<p class="reference">{_text(formulation.reference)}</p>'
    try:
        program = formulation.declare(problem)
    except IndefiniteOptError as error:
        return f'<article>{head}<p class="error">{_text(error)}</p>{reference}</article>'
    legend = _definitions((_symbol(name), _scripted(m)) for name, m in program.legend().items())
    tags = f"{_badge(program.sense)} {_badge(program.curvature)}"
    return (
        f'<article>{head}<p>{tags} on this kernel</p><div class="scroll">'
        f'{_math(program.latex())}</div>{reference}<dl class="legend">{legend}</dl></article>'
    )


def _math(latex: str) -> str:
    return mathml(latex).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")


def _symbol(name: str) -> str:
    import cvxpy as cp

    # The vector of ones is a constant of the language, not a name like the others.
    latex = r"\mathbf{e}" if name == "e" else latex_expression(cp.Variable(name=name))
    return _math(latex).replace('display="block"', 'display="inline"')


def _spectra(problem: KernelProblem) -> str:
    rows = []
    for name, spectrum in (("K", problem.spectrum), ("PKP", problem.centered_spectrum)):
        cells = [*spectrum.inertia, f"{spectrum.minimum:.4g}", f"{spectrum.maximum:.4g}"]
        numbers = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        rows.append(f'<tr><th scope="row">{name}</th>{numbers}</tr>')
    return "".join(rows)


def _folds(comparison: ComparisonLike) -> str:
    rows = []
    for row in _records(comparison.frame):
        cells = [
            row["formulation"], row["solver"], row["fold"],
            _number(100.0 * row["accuracy"], ".1f"), _number(row["objective"], ".8g"),
            row["claim"], " ".join(_gap(row)).strip(), row["support"],
            _number(row["seconds"], ".3g"), row["error"] or row["status"],
        ]  # fmt: skip
        rows.append(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}</tr>")
    return "\n".join(rows)


def _svg(figure: Figure, prefix: str, label: str) -> str:
    """A figure as an SVG element whose text is text and whose ids start with the prefix."""
    import matplotlib

    stream = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    # A fixed salt makes the ids, and so the file, the same on every run.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": prefix}):
        figure.savefig(stream, format="svg", metadata=nothing)
    drawing = stream.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{prefix}-", drawing)
    width, height = figure.get_size_inches()
    opening = (
        f'<svg role="img" aria-label="{_text(label)}" style="max-width: {96 * width:.0f}px" '
        f'viewBox="0 0 {72 * width:g} {72 * height:g}">'
    )
    return opening + drawing[drawing.index(">") + 1 :]


# ------------------------------------------------------------------------------------- template

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4;
  --page: #ffffff; --card: #f6f8fa; --accent: #0072b2;
  --green: #00664a; --green-bg: #d6f2e7; --blue: #0b5687; --blue-bg: #dceefa;
  --amber: #7a5200; --amber-bg: #fcecc6; --red: #9a3a00; --red-bg: #fde3d3;
  --violet: #86336a; --violet-bg: #f8e2ef; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b1; --line: #343b44;
  --page: #0f1318; --card: #181d24; --accent: #6cb6e8;
  --green: #6fdcb4; --green-bg: #0d3a2c; --blue: #8fcdf5; --blue-bg: #10344d;
  --amber: #f0c469; --amber-bg: #43310a; --red: #ffa873; --red-bg: #4a2410;
  --violet: #eba6cf; --violet-bg: #45203a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 2.5rem 1.5rem 4rem; color: var(--ink);
  background: var(--page); font: 1rem/1.55 system-ui, "Segoe UI", "Helvetica Neue", sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .75rem; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; margin: 3rem 0 .75rem; padding-bottom: .35rem;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0; }
.kicker { margin: 0 0 .25rem; color: var(--accent); font-weight: 600; font-size: .85rem; }
.lead { font-size: 1.1rem; max-width: 46rem; margin: 0 0 1.5rem; }
small, .note, .reference { color: var(--soft); font-size: .82rem; }
th small, td small, h3 small { display: block; font-weight: 400; line-height: 1.35; }
dl { margin: 0; } dd { margin: 0; } dt { color: var(--soft); font-size: .82rem; }
.facts, .settings { display: flex; flex-wrap: wrap; gap: .75rem 2.75rem; padding: 1rem 1.25rem;
  background: var(--card); border-radius: .6rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); font-size: .82rem; padding-bottom: .5rem; }
th, td { padding: .5rem .7rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 600; font-size: .82rem; vertical-align: bottom;
  border-bottom-width: 2px; }
th[scope=row] { font-weight: 400; } td.n, th.n { text-align: right; white-space: nowrap; }
tr.noted > * { border-bottom: 0; }
.error { color: var(--red); } tr.error td { font-size: .82rem; padding-top: 0; }
.badge { display: inline-block; padding: .08rem .5rem; border-radius: 1rem; font-size: .74rem;
  font-weight: 600; letter-spacing: .02em; color: var(--soft); background: var(--line); }
.badge.global, .badge.convex { color: var(--green); background: var(--green-bg); }
.badge.local { color: var(--blue); background: var(--blue-bg); }
.badge.stationary, .badge.nonconvex { color: var(--amber); background: var(--amber-bg); }
.badge.feasible, .badge.failed { color: var(--red); background: var(--red-bg); }
.badge.none { color: var(--violet); background: var(--violet-bg); }
.meanings { display: grid; gap: 0 3rem; margin-top: 1.25rem;
  grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
.meanings dl > div { display: grid; grid-template-columns: 7rem 1fr; gap: .75rem;
  padding: .3rem 0; font-size: .86rem; }
.meanings dt { color: var(--ink); } sub, sup { line-height: 0; }
figure { margin: 1rem 0 0; padding: 1rem; overflow-x: auto; color: #222222; background: #ffffff;
  border: 1px solid var(--line); border-radius: .6rem; }
figure svg { display: block; width: 100%; min-width: 42rem; height: auto; margin: 0 auto; }
figcaption { color: #57606a; font-size: .82rem; margin-top: .75rem; }
.cards { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); }
article { padding: 1.1rem 1.25rem; background: var(--card); border-radius: .6rem;
  break-inside: avoid; }
article p { margin: .5rem 0; font-size: .86rem; }
math { font-size: 1.08rem; } math[display=block] { margin: .7rem 0; text-align: left; }
mtd { padding: .2em .25em; text-align: left; } mtd:first-child { text-align: right; }
mtd mtd { text-align: center; } .measure { white-space: nowrap; }
.legend > div { display: grid; grid-template-columns: 2.5rem 1fr; font-size: .82rem; }
.legend dt { color: var(--ink); } .legend math { font-size: .92rem; }
.legend dd { color: var(--soft); }
details { margin-top: 2.5rem; } summary { cursor: pointer; font-weight: 600; }
details table { font-size: .78rem; margin-top: .75rem; } details td { padding: .25rem .5rem; }
@media print { :root { color-scheme: light; } body { max-width: none; padding: 0; font-size: 10pt; }
  h2 { break-after: avoid; } tr, figure, .facts { break-inside: avoid; }
  .badge, .facts, article { border: 1px solid #cccccc; } figure svg { min-width: 0; } }
"""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>$style</style>
</head>
<body>
<header>
<p class="kicker">Learning with indefinite kernels</p>
<h1>$name</h1>
<p class="lead">$lead</p>
<dl class="facts">$facts</dl>
</header>
<main>
<section>
<h2>Results</h2>
<p class="note" id="how">Accuracy on the points left out: mean ± standard deviation over the folds,
the highest mean in bold. Claim: the weakest of all folds; evidence: the worst. Objective, support
vectors and seconds: means. Objectives of different formulations cannot be compared.</p>
<div class="scroll"><table aria-describedby="how">
<thead><tr><th scope="col">Formulation</th><th scope="col">Solver</th>
<th scope="col" class="n">Accuracy</th><th scope="col" class="n">Objective</th>
<th scope="col">Claim</th><th scope="col">Evidence</th><th scope="col" class="n">SVs</th>
<th scope="col" class="n">Seconds</th></tr></thead>
<tbody>
$results
</tbody></table></div>
<div class="meanings"><dl>$claims</dl><dl>$measures</dl></div>
<figure>$figure<figcaption>Labels name only the parameters that tell formulations apart. Duality
gaps and KKT residuals are different quantities and have axes of their own; the colour is the
claim that holds in every fold.</figcaption></figure>
$regions</section>
<section>
<h2>The problems, as declared</h2>
<div class="cards">
$problems
</div>
</section>
<section>
<h2>The kernel</h2>
<ul>$sentences</ul>
<div class="scroll"><table>
<caption>Inertia of the kernel matrix K and of PKP, P = I − eeᵀ/n</caption>
<thead><tr><th scope="col">Matrix</th><th scope="col" class="n">Positive</th>
<th scope="col" class="n">Negative</th><th scope="col" class="n">Zero</th>
<th scope="col" class="n">Smallest eigenvalue</th>
<th scope="col" class="n">Largest</th></tr></thead>
<tbody>$spectra</tbody></table></div>
<figure>$spectrum<figcaption>Eigenvalues by rank among those of their sign; both axes are
logarithmic, the vertical one through zero.</figcaption></figure>
</section>
<section>
<h2>To run it again</h2>
<dl class="settings">$settings</dl>
<details><summary>Every fold</summary>
<div class="scroll"><table>
<thead><tr><th scope="col">Formulation</th><th scope="col">Solver</th><th scope="col">Fold</th>
<th scope="col">Accuracy (%)</th><th scope="col">Objective</th><th scope="col">Claim</th>
<th scope="col">Evidence</th><th scope="col">SVs</th><th scope="col">Seconds</th>
<th scope="col">Status</th></tr></thead>
<tbody>
$folds
</tbody></table></div>
</details>
</section>
</main>
</body>
</html>
"""
