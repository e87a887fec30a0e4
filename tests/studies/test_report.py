"""Reports: the exact rows, one valid self-contained page, and nothing unescaped."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import binomtest

import indefinite_opt as iopt
from helpers.comparisons import hand_made
from indefinite_opt.studies import report
from indefinite_opt.studies.report.tables import failures_text
from indefinite_opt.studies.report.verdict import near_chance

VOID = {"meta", "br", "hr", "img", "link", "input"}
# The centred matrix has the eigenvalues 2, -9/4, 0 and 0: 2.25/4.25 is 52.9 %.
NEGATIVE = (
    "The negative eigenvalues are 52.9 % of the spectrum of the centred kernel matrix (of the sum "
    "of magnitudes), whose signature is (1, 1)."
)
EVIL = "<script>alert('x')</script> & \"co\" for $5, $title"


class Page(HTMLParser):
    """Elements and attributes of a page whose tags must be balanced."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.attributes if key == name]


def rows(text: str) -> list[list[str]]:
    """The cells of all table rows, without the tags in them."""
    found = re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.DOTALL)
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in found]
    return [[re.sub(r"<[^>]*>", "", cell).strip() for cell in row] for row in cells]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert report.to_html(hand_made(), path) == path
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_methods_at_the_level_of_the_largest_class() -> None:
    """The test is the exact one of scipy.stats."""
    y = np.repeat(["a", "b", "c"], [60, 40, 20])
    for right in range(121):
        p = binomtest(right, 120, 0.5, alternative="greater").pvalue
        assert near_chance(y, {"A": right / 120}) == (["A"] if p >= 0.05 else [])
    assert near_chance(y, {"A": 0.0, "B": float("nan"), "C": 0.55, "D": 0.9}) == ["A", "C"]


def test_a_comparison_names_methods_at_the_level_of_the_largest_class() -> None:
    g = np.random.default_rng(0)
    y = g.permutation(np.repeat([-1, 1], 40))
    X = np.column_stack([y + 0.1 * g.standard_normal(80), g.standard_normal(80)])
    problem = iopt.KernelProblem.from_data(X, y, "linear")
    told = " ".join(iopt.compare(problem, ["SVMDual", "KNN"], folds=4).conclusions)
    assert "largest class" not in told
    noise = iopt.KernelProblem.from_data(X[:, 1:], y, "linear")
    told = " ".join(iopt.compare(noise, ["SVMDual"], folds=4).conclusions)
    assert "SVMDual is not significantly more accurate than the prediction of the largest" in told
    assert "(binomial test of 80 points, 5 % level)" in told
    # Of a test set of its own the share of the largest class is not that of the training points.
    fixed = iopt.compare(noise, ["SVMDual"], test=(noise.kernel_with(X[:9, 1:]), y[:9]))
    assert "largest class" not in " ".join(fixed.conclusions)


def test_markdown_rows() -> None:
    svm, clip, flip, hull = map(str, hand_made().formulations)
    assert report.to_markdown(hand_made()).splitlines() == [
        "| formulation | solver | accuracy | objective | claim | proved within | evidence | SVs "
        "| seconds |",
        "| --- | --- | ---: | ---: | --- | ---: | --- | ---: | ---: |",
        f"| {svm} | smo | 87.5 ± 12.5 % | 3 | GLOBAL | 4e-9 | duality gap 3.1e-09 | 3.5 | 0.003 |",
        f"| {svm} | uno | 50.0 ± 0.0 % | 2.5 | LOCAL | – | KKT residual 8e-07 | 3 | 0.3 |",
        f"| {clip} | smo | 50.0 % | 1 | FEASIBLE | 2e-3 | duality gap 0.002 | 6 | 0.01 |",
        f"| {flip} | smo | 87.5 ± 0.0 % | 1 | STATIONARY | – | KKT residual 5e-07 | 6 | 0.02 |",
        f"| {hull} | smo | – | – | FAILED | – | – | – | – |",
        "",
        f"**{clip}** (smo): 1 of 2 failed: SolverFailed: rounding",
        "",
        f"**{hull}** (smo): 2 of 2 failed: InfeasibleProblem: mu < 1/3",
        "",
        "The best mean accuracy is 87.5 %, of SVMDual · smo, shared by SpectrumSVM(transform=flip)."
        " Differences cannot be tested with so few folds.",
        "",
        "SVMDual · smo, SVMDual · uno, SpectrumSVM(transform=clip) and SpectrumSVM(transform=flip)"
        " are not significantly more accurate than the prediction of the largest class for every"
        " point (binomial test of 4 points, 5 % level).",
        "",
        "1 of 4 solved problems are proved global optima in every fold; 1 is LOCAL, 1 is"
        " FEASIBLE and 1 is STATIONARY, where a better point may exist; 1 failed."
        " 2 of 7 fits are proved to be within 1e-4 of the global optimum, relative to its size.",
        "",
        NEGATIVE,
    ]


def test_markdown_cells_cannot_break_the_table() -> None:
    comparison = hand_made()
    comparison.summary["solver"] = "a|b\nc"
    assert "| a\\|b c |" in report.to_markdown(comparison)


def test_errors_that_differ_in_more_than_numbers_are_listed_and_counted() -> None:
    for errors, end in (
        ([f"error {x}" for x in "abcde"], "error a | error b | error c | 2 other messages"),
        (["mu: at least 0.25, got 1e-6", "mu: at least 3, got 2"],
         "2 of 2 failed: mu: at least 0.25, got 1e-6"),
    ):  # fmt: skip
        comparison = hand_made()
        comparison.chosen_rows = [{**comparison.chosen_rows[8], "error": told} for told in errors]
        assert failures_text(comparison, comparison.summary.loc[4]).endswith(end)


@pytest.mark.parametrize("width", [60, 100, 200])
def test_terminal_table_has_one_line_for_each_method(width: int) -> None:
    """Accuracies and claims are whole at every width; columns are left out as a whole."""
    comparison = hand_made()
    comparison.summary.loc[0, "method"] = "PseudoEuclideanPrimal(C=10)"
    comparison.summary.loc[1, "method"] = "Mine[red]"  # which is no markup
    comparison.summary["chosen"] = ["C=1000, rho=10000 (3), C=10, rho=100 (2)", *[""] * 4]
    console = Console(width=width, record=True, file=io.StringIO(), color_system=None)
    console.print(report.terminal_table(comparison, width))
    lines = [line.rstrip() for line in console.export_text().splitlines()]
    assert max(map(len, lines)) <= width
    shown = "\n".join(lines)
    assert "…" not in shown
    for word in (
        "PseudoEuclideanPrimal(C=10)", "Mine[red]", "ConvexHullDual", "87.5 ± 12.5 %",
        "SpectrumSVM(transform=flip)", "STATIONARY", "FAILED",
    ):  # fmt: skip
        assert word in shown
    columns = ("seconds", "objective", "SVs", "chosen", "solver", "evidence")
    told = " ".join(lines[7:])
    for name in columns:
        assert (name in lines[0].split()) != (name in told)
    assert bool(told) == (width < 200)
    assert "C=10, rho=100" not in shown


def test_page_is_one_valid_self_contained_document(text: str, page: Page) -> None:
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert '<meta name="viewport"' in text
    assert not {"link", "iframe", "object"} & set(page.tags)
    assert page.tags["script"] == 0
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.values("src"))
    assert all(f'<section id="{link.removeprefix("#")}">' in text for link in page.values("href"))
    # The name of a language is no address.
    assert set(page.values("xmlns")) == {"http://www.w3.org/1998/Math/MathML"}
    bare = re.sub(r'src="[^"]*"|xmlns="[^"]*"', "", text)
    assert not re.search("https?:", bare)
    assert "@import" not in text
    assert "<?xml" not in text
    assert text.count("<!DOCTYPE") == 1


def test_drawings_are_images_with_text_that_is_text(page: Page) -> None:
    comparison, spectrum = drawings(page)
    assert "test accuracy (%)" in comparison
    assert "rank" in spectrum
    assert page.values("alt") == ["Accuracy, time and gaps", "Spectrum of the kernel"]


def drawings(page: Page) -> list[str]:
    """The text of each image, which is well-formed XML."""
    sources = [source.partition(",")[2] for source in page.values("src")]
    trees = [ElementTree.fromstring(base64.b64decode(source)) for source in sources]
    return [" ".join(tree.itertext()) for tree in trees]


def test_every_claim_is_a_badge_with_a_meaning_and_every_fold_is_there(text: str) -> None:
    badges = re.findall(r'class="badge [^>]*>([^<]*)<', text)
    assert badges[:5] == ["GLOBAL", "LOCAL", "FEASIBLE", "STATIONARY", "FAILED"]
    explained = set(re.findall(r'<dt><span class="badge \w+">(\w+)</span></dt><dd>\w', text))
    assert explained == {claim.name for claim in iopt.Claim}
    # Eigenvalues 2, 0, 0 and -3.
    assert ["K", "1", "1", "2", "-3", "2", "60 %"] in rows(text)
    assert sum(len(row) == 11 for row in rows(text)) == 1 + len(hand_made().chosen_rows)
    for key, value in hand_made().settings.items():
        assert f"<dt>{key}</dt><dd>{value}</dd>" in text


def test_each_problem_is_a_card_with_its_mathematics(text: str, page: Page) -> None:
    cards = re.findall(r"<article>.*?</article>", text, re.DOTALL)
    comparison = hand_made()
    for card, formulation in zip(cards, comparison.formulations, strict=True):
        assert type(formulation).__name__ in card
    # mu = 1/8 is infeasible with a class of one point: the card says so instead.
    *declared, failed = cards
    for card, formulation in zip(declared, comparison.formulations, strict=False):
        program = formulation.declare(comparison.problem)
        assert card.count("<math") == 1 + len(program.legend())
        assert f">{program.sense}</span>" in card
        assert f">{program.curvature}</span>" in card
    assert ">nonconvex</span>" in declared[0]
    assert ">convex</span>" in declared[1]
    assert "<math" not in failed
    assert "mu: expected at least" in failed


def test_everything_is_escaped(tmp_path: Path) -> None:
    comparison = hand_made(name=EVIL)
    comparison.settings |= {EVIL: EVIL} | dict.fromkeys(("kernel", "evaluation", "seed"), EVIL)
    comparison.summary["solver"] = EVIL
    comparison.chosen_rows = [{**row, "solver": EVIL} for row in comparison.chosen_rows]
    comparison.chosen_rows[8]["error"] = EVIL
    comparison.chosen_rows[9]["error"] = "a long story, " * 9
    text = report.to_html(comparison, tmp_path / "evil.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.tags["script"] == text.count("<script") == 0
    (heading,) = re.findall(r"<h1[^>]*>(.*?)</h1>", text)
    assert unescape(heading) == EVIL


def test_unwritable_path_is_named_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report.page, "image", lambda figure, label: label)  # takes most of the time
    (tmp_path / "taken").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for target in ("missing/report.html", "taken"):
        with pytest.raises(iopt.errors.DataError, match=re.escape(str(tmp_path / target))):
            report.to_html(hand_made(), tmp_path / target)
    assert sorted(tmp_path.rglob("*")) == before


def test_points_in_the_plane_bring_decision_regions(tmp_path: Path) -> None:
    """One panel for each formulation, titled with it."""
    data = iopt.datasets.load("checkerboard(n=24, cells=2)")
    problem = iopt.KernelProblem.from_dataset(data, "gaussian")
    comparison = iopt.compare(problem, ["SVMDual", "LPSVM(C=2)"], folds=2)
    page = Page(comparison.to_html(tmp_path / "report.html").read_text(encoding="utf-8"))
    drawing = drawings(page)[page.values("alt").index("Decision regions")]
    assert drawing.count("decision function f(x)") == 1  # both panels have one scale
    assert "SVMDual" in drawing
    assert "LPSVM(C=2)" in drawing
    assert len(comparison.fitted) == 2


def test_a_printed_comparison_is_as_wide_as_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    g = np.random.default_rng(0)
    y = g.permutation(np.repeat([-1, 1], 20))
    X = np.column_stack([y + 0.5 * g.standard_normal(40), g.standard_normal(40)])
    problem = iopt.KernelProblem.from_data(X, y, "linear")
    comparison = iopt.compare(problem, ["SVMDual", "ConvexHullDual", "KNN"], folds=2)
    for said, most in (("", 100), ("80", 80), ("60", 60), ("wide", 100), ("7", 100)):
        monkeypatch.setenv("COLUMNS", said)
        widths = [len(line) for line in str(comparison).splitlines()]
        assert 0.8 * most < max(widths) <= most


def test_only_single_letters_have_an_index() -> None:
    told = report.page._scripted("relative_gamma=0.1 of LussDual(new_points=joint), K_ij")
    assert told == "relative_gamma=0.1 of LussDual(new_points=joint), K<sub>ij</sub>"
