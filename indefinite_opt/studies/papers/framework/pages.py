"""Reproductions as HTML pages, as Markdown tables, and as files from which an index is made."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Template
from typing import Any

from indefinite_opt.foundation import parsed_json
from indefinite_opt.studies.papers.framework.discovery import studies
from indefinite_opt.studies.papers.framework.reproduction import Reproduction, Tally
from indefinite_opt.studies.papers.framework.wording import (
    GRADES,
    duration,
    footnotes,
    grade,
    ours_text,
    statements_held,
    summary,
)
from indefinite_opt.studies.report.markup import (
    STYLE,
    definitions,
    escaped,
    image,
    svg,
    write_page,
)
from indefinite_opt.studies.study import Study

__all__ = ["write_index", "write_study"]

_FOLDER = Path(__file__).parent
"""Holds the templates study.html and index.html."""

MARKDOWN = "markdown"
"""Folder of the Markdown tables beside the pages."""


COUNTING = (
    "A number counts if it is run on the data of the paper and says something of it. Not counted "
    "are times; numbers by which a kernel, its parameters or a choice among the data was made "
    "here, as they agree by construction; numbers of a kernel or of data that could not be found, "
    "for which others stand in; and numbers that the paper shows twice, as it does where two "
    "methods are the same one or one data set has two names. A number is reproduced within two of "
    "the paper's standard deviations, or 3 points where it prints none. Every other one has a "
    "reason of its own, with the experiment that shows it. The statements are what the text of a "
    "paper says of its figures, judged by our numbers."
)
"""What the index of the studies counts."""


def write_study(reproduction: Reproduction, folder: Path) -> Path:
    """Write NAME.html, markdown/NAME.md with NAME.svg, and NAME.json for the index.

    Returns
    -------
    Path
        The page.
    """
    study, name = reproduction.study, reproduction.name
    (folder / MARKDOWN).mkdir(parents=True, exist_ok=True)
    facts = {
        "command": reproduction.command,
        "computing time": duration(reproduction.seconds),
        "extent": "quick" if reproduction.quick else "full",
    } | reproduction.versions
    page = _template("study.html").substitute(
        style=STYLE.read_text(encoding="utf-8"),
        title=escaped(_title(reproduction)),
        lead=escaped(_lead(reproduction)),
        facts=definitions((escaped(k), escaped(v)) for k, v in facts.items()),
        sections="\n".join(_sections(reproduction)),
        choices="".join(f"<li>{escaped(choice)}</li>" for choice in study.choices),
        settings=definitions((escaped(k), escaped(v)) for k, v in _settings(reproduction)),
    )
    verdicts = reproduction.verdicts
    entry = {
        "title": _title(reproduction),
        "shows": study.title,
        "quick": reproduction.quick,
        "seconds": reproduction.seconds,
        "tally": dataclasses.asdict(reproduction.tally),
        "statements": [sum(one.holds for one in verdicts.values()), len(verdicts)],
    }
    write_page(folder / f"{name}.json", json.dumps(entry))
    if reproduction.figure is not None:
        picture = svg(reproduction.figure, name, small=True)
        write_page(folder / MARKDOWN / f"{name}.svg", picture.decode("utf-8"))
    write_page(folder / MARKDOWN / f"{name}.md", _markdown(reproduction))
    return write_page(folder / f"{name}.html", page)


def write_index(folder: Path) -> Path:
    """Write index.html and markdown/README.md for all studies, whether the folder has them or not.

    Returns
    -------
    Path
        The page.
    """
    entries: dict[str, dict[str, Any]] = {}
    for name, study in studies().items():
        path = folder / f"{name}.json"
        made = {"title": f"{study.paper}, {study.item}", "shows": study.title}
        entries[name] = parsed_json(path.read_bytes()) if path.is_file() else made
    run = [entry for entry in entries.values() if "tally" in entry]
    held, said = (sum(entry["statements"][k] for entry in run) for k in (0, 1))
    total = sum((Tally(**entry["tally"]) for entry in run), Tally())
    lead = f"{summary(total)} {statements_held(held, said)}".strip()
    rows, lines = [], []
    for name, entry in entries.items():
        link, shows, counts = escaped(entry["title"]), escaped(entry["shows"]), _counts(entry)
        if "tally" in entry:
            link = f'<a href="{name}.html">{link}</a>'
        rows.append(f'<tr><th scope="row">{link}</th><td>{shows}</td>{_number_cells(counts)}</tr>')
        title = f"[{entry['title']}]({name}.md)" if "tally" in entry else entry["title"]
        lines.append(f"| {title} | {entry['shows']} | {' | '.join(counts)} |")
    page = _template("index.html").substitute(
        style=STYLE.read_text(encoding="utf-8"), lead=escaped(lead), rows="\n".join(rows)
    )
    heads = [
        "study", "shows", "numbers", "run", "within 1 sd", "within 2 sd", "explained",
        "not counted", "statements", "time",
    ]  # fmt: skip
    table = [f"| {' | '.join(heads)} |", f"|---|---|{'---:|' * (len(heads) - 2)}", *lines]
    (folder / MARKDOWN).mkdir(parents=True, exist_ok=True)
    text = ["# The papers, reproduced", "", lead, "", COUNTING, "", *table, ""]
    write_page(folder / MARKDOWN / "README.md", "\n".join(text))
    return write_page(folder / "index.html", page)


def _template(name: str) -> Template:
    return Template((_FOLDER / name).read_text(encoding="utf-8"))


def _title(reproduction: Reproduction) -> str:
    return f"{reproduction.study.paper}, {reproduction.study.item}"


def _lead(reproduction: Reproduction) -> str:
    study = reproduction.study
    verdicts = reproduction.verdicts.values()
    parts = [
        f"{study.title} ({study.place}).",
        summary(reproduction.tally) if study.numbers is not None else "",
        statements_held(sum(one.holds for one in verdicts), len(verdicts)),
    ]
    return " ".join(filter(None, parts))


def _counts(entry: Mapping[str, Any]) -> list[str]:
    """The numbers of a study in the index."""
    if "tally" not in entry:
        return ["–"] * 7 + ["not run"]
    numbers = dataclasses.astuple(Tally(**entry["tally"]))
    held, said = entry["statements"]
    return [
        *(map(str, numbers) if any(numbers) else ["–"] * len(numbers)),
        f"{held} of {said}" if said else "–",
        duration(entry["seconds"]) + (" (quick)" if entry["quick"] else ""),
    ]


def _number_cells(texts: Iterable[str]) -> str:
    return "".join(f'<td class="n">{escaped(text)}</td>' for text in texts)


def _sections(reproduction: Reproduction) -> list[str]:
    parts = []
    if reproduction.compared:
        notes, marks = footnotes(reproduction)
        legend = {grade(one) for one in reproduction.compared.values()}
        parts.append(
            "<section><h2>Our numbers above, the paper's below</h2>"
            f'<div class="scroll">{_table(reproduction, marks)}</div>'
            f'<div class="scroll"><table><tbody>{_legend(legend)}</tbody></table></div>'
            + (f'<ol class="notes">{"".join(_items(notes))}</ol>' if notes else "")
            + "</section>"
        )
    figure = reproduction.figure
    if figure is not None:
        caption = f"{reproduction.study.title}; in the layout of the paper."
        parts.append(
            f"<section><h2>Figure</h2><figure>{image(figure, _title(reproduction))}"
            f"<figcaption>{escaped(caption)}</figcaption></figure></section>"
        )
    if reproduction.verdicts:
        rows = "".join(
            f'<tr><th scope="row">{escaped(sentence)}</th><td>{escaped(one.measured)}</td>'
            f'<td class="{"close" if one.holds else "outside"}">{_yes(one.holds)}</td></tr>'
            for sentence, one in reproduction.verdicts.items()
        )
        heads = "".join(f'<th scope="col">{head}</th>' for head in VERDICT_HEADS)
        parts.append(
            "<section><h2>What the paper says of it</h2>"
            f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div></section>"
        )
    return parts


VERDICT_HEADS = ("the paper", "here", "holds")


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _table(reproduction: Reproduction, marks: Mapping[tuple[str, str], int]) -> str:
    rows, columns = reproduction.places
    heads = "".join(f'<th scope="col" class="n">{escaped(column)}</th>' for column in columns)
    lines = []
    for row in rows:
        cells = []
        for column in columns:
            one = reproduction.compared.get((row, column))
            if one is None:
                cells.append("<td></td>")
                continue
            mark = marks.get((row, column))
            raised = f'<sup><a href="#note-{mark}">{mark}</a></sup>' if mark else ""
            cells.append(
                f'<td class="n {grade(one)}">{escaped(ours_text(one))}{raised}'
                f"<small>{escaped(one.fact)}</small></td>"
            )
        lines.append(f'<tr><th scope="row">{escaped(row)}</th>{"".join(cells)}</tr>')
    return (
        f'<table><thead><tr><th scope="col"></th>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _legend(used: set[str]) -> str:
    rows = (
        f'<tr><td class="{name}">{escaped(meaning)}</td></tr>'
        for name, meaning in GRADES.items()
        if name in used
    )
    return "".join(rows)


def _items(notes: Iterable[str]) -> Iterable[str]:
    return (f'<li id="note-{k}">{escaped(note)}</li>' for k, note in enumerate(notes, 1))


def _settings(reproduction: Reproduction) -> list[tuple[str, str]]:
    """The protocols and methods of the experiments."""
    found = []
    for label, experiment in reproduction.experiments.items():
        if isinstance(experiment, Study):
            found.append((f"{label}: protocol", str(experiment.plan.protocol)))
            found += [(f"{label}: {name}", str(grid)) for name, grid in experiment.grids.items()]
        else:
            found.append((f"{label}: settings", ", ".join(experiment.settings)))
    return found


def _markdown(reproduction: Reproduction) -> str:
    """Table, picture and statements as GitHub shows them."""
    lines = [f"# {_title(reproduction)}", "", _lead(reproduction), ""]
    if reproduction.figure is not None:
        lines += [f"![{reproduction.study.title}]({reproduction.name}.svg)", ""]
    if reproduction.verdicts:
        lines += [f"| {' | '.join(VERDICT_HEADS)} |", "|---|---|---|"]
        lines += [
            f"| {sentence} | {one.measured} | {'yes' if one.holds else '**no**'} |"
            for sentence, one in reproduction.verdicts.items()
        ]
        lines += [""]
    if reproduction.compared:
        notes, marks = footnotes(reproduction)
        rows, columns = reproduction.places
        lines += [
            "Each entry is our number / the paper's; bold where they differ by more than two of "
            "the paper's standard deviations, or by more than 3 points where none is printed.",
            "",
        ]
        lines += [f"|  | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
        for row in rows:
            cells = []
            for column in columns:
                one = reproduction.compared.get((row, column))
                if one is None:
                    cells.append("")
                    continue
                mark = marks.get((row, column))
                ours = ours_text(one)
                bold = f"**{ours}**" if grade(one) in ("outside", "far") else ours
                cells.append(f"{bold} / {one.fact}{f' ({mark})' if mark else ''}")
            lines.append(f"| {row} | {' | '.join(cells)} |")
        lines += ["", *(f"({k}) {note}\n" for k, note in enumerate(notes, 1))]
    lines += [f"- {choice}" for choice in reproduction.study.choices]
    versions = ", ".join(f"{name} {version}" for name, version in reproduction.versions.items())
    return "\n".join(
        [
            *lines, "", f"`{reproduction.command}`, {duration(reproduction.seconds)} of computing "
            f"time, with {versions}.", "",
        ]
    )  # fmt: skip
