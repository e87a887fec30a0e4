"""A comparison as one self-contained HTML page."""

from __future__ import annotations

import base64
import html
import io
import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.algebra import Variable, latex_expression, legend, mathml
from indefinite_opt.errors import IndefiniteOptError
from indefinite_opt.figures import (
    ComparisonLike,
    comparison_figure,
    records_of,
    regions_figure,
    spectrum_figure,
    without_solver,
)
from indefinite_opt.foundation import write_bytes
from indefinite_opt.modeling import Formulation, pair_problems
from indefinite_opt.problem import KernelProblem
from indefinite_opt.studies.data import training_problem
from indefinite_opt.studies.metrics import METRICS
from indefinite_opt.studies.report import over_data, tables
from indefinite_opt.studies.report.verdict import conclusions
from indefinite_opt.workflow import html_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TEMPLATE, _STUDY_TEMPLATE, _STYLE = (
    Path(__file__).with_name(f"page.{kind}") for kind in ("html", "study.html", "css")
)


def to_html(comparison: ComparisonLike, path: str | Path) -> Path:
    """Write one HTML file that contains everything: no fonts, no scripts, no network.

    Raises `DataError` if the path cannot be written.
    """
    settings = dict(comparison.settings)
    command = settings.pop("command", "")
    rows, count = records_of(comparison.summary), len(comparison.formulations)
    problem = comparison.problem
    score, titles = comparison.scores[0], tables.score_titles(comparison)
    measured = _capital(score.title)
    declared = training_problem(problem)
    if declared.classes.size > 2:
        declared = next(pair_problems(declared)).problem
    page = Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escaped(f"Indefinite kernels: {comparison.problem.name}"),
        style=_STYLE.read_text(encoding="utf-8"),
        name=escaped(comparison.problem.name),
        lead=escaped(
            f"{count} formulation{'s' * (count != 1)} of learning with a kernel, solved and "
            f"certified on the same {problem.n} points. {measured} is measured on points "
            f"left out of training: {settings['evaluation']}, seed {settings['seed']}."
        ),
        facts=_facts(comparison),
        measured=escaped(_measured(comparison)),
        score_heads="\n".join(
            f'<th scope="col" class="n">{escaped(_capital(title))}</th>' for title in titles
        ),
        results="\n".join(_result(comparison, row) for row in rows),
        figure=image(comparison_figure(comparison), f"{measured}, time and gaps"),
        regions=_regions(comparison),
        problems="\n".join(_card(f, declared) for f in comparison.formulations),
        spectrum=image(spectrum_figure(comparison.problem), "Spectrum of the kernel"),
        spectra=_spectra(comparison.problem),
        folds=_folds(comparison),
        settings=definitions(settings),
        conclusions="".join(f"<li>{_scripted(told)}</li>" for told in conclusions(comparison)),
        command=f"<pre><code>{escaped(command)}</code></pre>\n" if command else "",
    )
    write_bytes(Path(path), page.encode())
    return Path(path)


def study_to_html(outcome: Any, path: str | Path) -> Path:
    """Write a study over data sets as one HTML file, as `to_html` does of a comparison."""
    study, scores = outcome.study, over_data.Scores.of(outcome)
    table, best = over_data.cells(scores)
    kernels = outcome.kernels
    sizes = [_counted(study.sources, "data set"), _counted(study.grids, "method")]
    page = Template(_STUDY_TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escaped(", ".join(sizes)),
        style=_STYLE.read_text(encoding="utf-8"),
        lead=escaped(
            f"{_capital(scores.score.title)} is measured on points left out of training: "
            f"{study.plan.protocol}, solvers with seed {study.seed}."
        ),
        conclusions="".join(f"<li>{escaped(told)}</li>" for told in over_data.conclusions(outcome)),
        measured=escaped(_capital(scores.what)),
        heads="".join(
            f'<th scope="col"{" class=n" * (k > 0)}>{escaped(name)}</th>'
            for k, name in enumerate(table)
        ),
        rows="\n".join(map(_study_row, table.to_numpy(), best)),
        figure=_ranks(outcome),
        methods=definitions(study.grids),
        data=html_cells([
            {"Data": name, "Points": str(data.y.size), "Task": data.task,
             "Kernel": kernels[name]}
            for name, data in study.sources.items()
        ]),
        settings=definitions(outcome.settings),
        divisions=html_cells([_division(row, study.plan.metrics) for row in outcome.chosen_rows]),
    )  # fmt: skip
    write_bytes(Path(path), page.encode())
    return Path(path)


def _counted(things: Collection[Any], noun: str) -> str:
    return f"{len(things)} {noun}{'s' * (len(things) != 1)}"


def _study_row(cells: NDArray[Any], best: NDArray[np.bool_]) -> str:
    """A row of the table of a study, with its best cells in bold."""
    first, *others = map(escaped, cells)
    texts = ""
    for text, bold in zip(others, best[1:], strict=True):
        texts += f'<td class="n">{f"<strong>{text}</strong>" if bold else text}</td>'
    return f'<tr><th scope="row">{first}</th>{texts}</tr>'


def _ranks(outcome: Any) -> str:
    """The figure of the mean ranks, if there are several methods and data sets."""
    if len(outcome.study.grids) < 2 or len(outcome.study.sources) < 2:
        return ""
    drawing = image(outcome.plot(), "Mean ranks of the methods")
    caption = (
        "Mean ranks of the methods over the data sets, 1 for the best. Bars join methods whose "
        "ranks differ by less than the critical difference."
    )
    return f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>\n"


def _division(row: Mapping[str, Any], metrics: tuple[str, ...]) -> dict[str, Any]:
    """The cells of a division of a study."""
    told = {"Data": row["data"], "Method": row["method"], "Run": row["run"], "Fold": row["fold"]}
    told |= {"Chosen": row["chosen"], "Solver": row["solver"]}
    for name in metrics:
        score, value = METRICS[name].score, row[name]
        known = isinstance(value, str) or not math.isnan(value)
        written = value if isinstance(value, str) else score.number(value) if known else "–"
        told[_capital(score.head)] = written
    return told | {"Error": row["error"]}


def _capital(title: str) -> str:
    """A title at the beginning of a sentence or cell."""
    return title[:1].upper() + title[1:] if title != "ν" else title


def _measured(comparison: ComparisonLike) -> str:
    """What the table shows of the test points."""
    score = comparison.scores[0]
    told = f"{_capital(score.title)} on the points left out: mean ± standard deviation over "
    told += "the folds"
    if score.larger_is_better:
        told += ", the highest mean in bold"
    if comparison.problem.task == "one class":
        return f"{told}. Rejected: the share of the class that is described, to compare with ν."
    return f"{told}."


def _regions(comparison: ComparisonLike) -> str:
    """Decision regions of every formulation trained on all the data, for points in the plane."""
    X = comparison.problem.X
    if X is None or X.shape[1] != 2:
        return ""
    fitted = [result for result in comparison.fitted if result.has_classifier]
    if not fitted:
        return ""
    figure = regions_figure(training_problem(comparison.problem), fitted)
    drawing = image(figure, "Decision regions")
    caption = "Decision functions after training on all points; support vectors are circled."
    return f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>\n"


def _scripted(value: str) -> str:
    """Escaped text with the index of K_ij and the exponent of R^(p,q) set as such."""
    # A name such as relative_gamma has no index.
    indexed = re.sub(r"(?<!\w)(\w)_(\w+)", r"\1<sub>\2</sub>", escaped(value))
    return re.sub(r"\^(\([\d,]+\))", r"<sup>\1</sup>", indexed)


def _facts(comparison: ComparisonLike) -> str:
    problem, settings = comparison.problem, comparison.settings
    regression = problem.task == "regression"
    facts = {
        "points": problem.n,
        "targets" if regression else "classes": problem.labels_in_words.removeprefix("targets "),
        **({"table": settings["table"]} if "table" in settings else {}),
        "kernel": settings["kernel"],
        "scaling": settings["scaling"],
        "signature": "({}, {})".format(*problem.signature),
        "negative share": f"{100 * problem.negative_share:.3g} %",
        **({"zero eigenvalues": problem.counted_as_zero} if problem.counted_as_zero else {}),
        "evaluation": settings["evaluation"],
    }
    return definitions(facts)


def _named(formulation: str) -> str:
    """The class in the text face, its parameters smaller below."""
    name, bracket, rest = formulation.partition("(")
    parameters = f"<small>{escaped(rest.removesuffix(')'))}</small>" if bracket else ""
    return f"<strong>{escaped(name)}</strong>{parameters}"


def _result(comparison: ComparisonLike, row: tables.Row) -> str:
    kind, gap = tables.gap_text(row)
    texts = [escaped(text) for text in tables.score_texts(row, comparison).values()]
    if tables.is_best(row, comparison):
        texts[0] = f"<strong>{texts[0]}</strong>"
    failed = tables.failures_text(comparison, row)
    chosen = f"<small>{escaped(row['chosen'])}</small>" if row["chosen"] else ""
    numbers = [
        tables.number_text(row[name], form)
        for name, form in (("objective", ".6g"), ("support", ".4g"), ("seconds", ".3g"))
    ]
    objective, support, seconds = (f'<td class="n">{text}</td>' for text in numbers)
    cells = [
        f'<th scope="row">{_named(without_solver(row))}{chosen}</th>',
        f"<td>{escaped(row['solver'])}</td>",
        *(f'<td class="n">{text}</td>' for text in texts),
        objective,
        f"<td>{badge(tables.claim_text(row))}</td>",
        f'<td class="n">{escaped(tables.proved_text(row))}</td>',
        f'<td class="measure"><small>{escaped(kind)}</small>{gap}</td>',
        support,
        seconds,
    ]
    span = 8 + len(texts)
    note = f'<tr class="error"><td colspan="{span}">{escaped(failed)}</td></tr>' if failed else ""
    opening = '<tr class="noted">' if failed else "<tr>"
    return f"{opening}{''.join(cells)}</tr>{note}"


def _card(formulation: Formulation, problem: KernelProblem) -> str:
    head = f"<h3>{_named(str(formulation))}</h3>"
    reference = f'<p class="reference">{escaped(formulation.reference)}</p>'
    try:
        program = formulation.declare(problem)
    except IndefiniteOptError as error:
        return f'<article>{head}<p class="error">{escaped(error)}</p>{reference}</article>'
    meanings = ""
    for name, meaning in legend(program).items():
        # The vector of ones is a constant of the notation, not a variable.
        is_ones = (name, meaning) == ("e", "vector of ones")
        symbol = r"\mathbf{e}" if is_ones else latex_expression(Variable(name=name))
        term = mathml(symbol, "inline")
        meanings += f"<div><dt>{term}</dt><dd>{_scripted(meaning)}</dd></div>"
    tags = f"{badge(program.sense)} {badge(program.curvature)}"
    return (
        f'<article>{head}<p>{tags} on this kernel</p><div class="scroll">'
        f'{mathml(program.latex())}</div>{reference}<dl class="legend">{meanings}</dl></article>'
    )


def _spectra(problem: KernelProblem) -> str:
    rows = []
    for name, spectrum in (("K", problem.spectrum), ("PKP", problem.centered_spectrum)):
        cells = [
            *spectrum.inertia, f"{spectrum.minimum:.4g}", f"{spectrum.maximum:.4g}",
            f"{100 * spectrum.negative_share:.3g} %",
        ]  # fmt: skip
        numbers = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        rows.append(f'<tr><th scope="row">{name}</th>{numbers}</tr>')
    return "".join(rows)


def _folds(comparison: ComparisonLike) -> str:
    rows = []
    for row in comparison.chosen_rows:
        cells = {"Formulation": without_solver(row), "Solver": row["solver"], "Fold": row["fold"]}
        for each in comparison.scores:
            value = row[each.name]
            cells[_capital(each.head)] = "–" if math.isnan(value) else each.number(value)
        rows.append(cells | {
            "Objective": tables.number_text(row["objective"], ".8g"), "Claim": row["claim"],
            "Proved within": tables.within_text(row["proved_within"]),
            "Evidence": " ".join(tables.gap_text(row)).strip(), "SVs": row["support"],
            "Seconds": tables.number_text(row["seconds"], ".3g"),
            "Status": row["error"] or row["status"],
        })  # fmt: skip
    return html_cells(rows)


def escaped(value: Any) -> str:
    """The text of a value, in HTML."""
    return html.escape(str(value))


def definitions(meanings: Mapping[str, Any]) -> str:
    """Rows of a definition list, from terms and what they mean."""
    return "".join(
        f"<div><dt>{escaped(term)}</dt><dd>{escaped(meaning)}</dd></div>"
        for term, meaning in meanings.items()
    )


def badge(name: str) -> str:
    """A name in a box, whose colour is that of its class in the style sheet."""
    return f'<span class="badge {escaped(name.lower())}">{escaped(name)}</span>'


def image(figure: Figure, label: str) -> str:
    """A figure as an embedded SVG image, with the same bytes on every run."""
    import matplotlib

    stream = io.BytesIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": label}):
        figure.savefig(stream, format="svg", metadata=nothing, transparent=True)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    width = 96 * figure.get_size_inches()[0]
    return (
        f'<img alt="{escaped(label)}" style="max-width: {width:.0f}px" '
        f'src="data:image/svg+xml;base64,{data}">'
    )
