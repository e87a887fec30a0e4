"""The report in a real browser: no error, no request, nothing cut, and a table that sorts.

Chromium is that of Playwright or of the system; without either these tests are skipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import indefinite_opt as iopt
from helpers.comparisons import hand_made
from helpers.processes import HANGS
from indefinite_opt.studies import report

playwright = pytest.importorskip("playwright.sync_api", reason="needs pip install playwright")

WIDTHS = (360, 768, 1400)
A4 = {"width": 718, "height": 1047}
"""CSS pixels of an A4 page without margins of 1 cm: 19 cm × 27.7 cm at 96 pixels per inch."""

CONTRAST = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const [R, G, B] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92
                                     : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * R + 0.7152 * G + 0.0722 * B;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const weak = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || element.closest("script, style")) continue;
    if (!element.getClientRects().length) continue;
    const [a, b] = [parse(getComputedStyle(element).color), behind(element)].map(light);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) weak.push([element.outerHTML.slice(0, 80), ratio]);
  }
  return weak;
}"""
"""Texts with a contrast below 4.5:1, the AA level of the Web Content Accessibility Guidelines."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        found = shutil.which("chromium") or shutil.which("chromium-browser")
        own = Path(running.chromium.executable_path)
        if not own.exists() and found is None:
            pytest.skip("no Chromium: playwright install chromium, or apt-get install chromium")
        chosen = {} if own.exists() else {"executable_path": found}
        # Containers run as root, for which Chromium has no sandbox; the page is our own.
        chromium = running.chromium.launch(args=["--no-sandbox"], **chosen)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with the widest formulas there are."""
    comparison = hand_made()
    wide = ["LussDual(C=1, rho=100)", "LussBall", "GuoSchuurmansLP", "SeparabilitySVM", "LPSVM"]
    comparison.formulations += [
        iopt.formulations.as_formulation(name) for name in wide
    ]  # fmt: skip
    return report.to_html(comparison, tmp_path_factory.mktemp("browser") / "report.html")


@pytest.fixture
def visit(browser: Any, path: Path) -> Iterator[Any]:
    """A function that opens the report, and afterwards that nothing went wrong on it."""
    contexts, wrong = [], []

    def opened(width: int, scheme: str = "light") -> Any:
        contexts.append(
            browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        )
        contexts[-1].set_default_timeout(1000.0 * HANGS)
        page = contexts[-1].new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("data:", "file:"))
                or wrong.append(f"request of {request.url}")
            ),
        )
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def cut_formulas(page: Any) -> list[str]:
    """Formulas of the cards that reach beyond their card."""
    cut: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("article .scroll")]
          .filter((box) => box.scrollWidth > box.clientWidth + 1)
          .map((box) => box.parentElement.querySelector("h3").textContent)"""
    )
    return cut


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut(visit: Any, width: int) -> None:
    page = visit(width)
    assert page.locator("article math[display=block]").count() >= 7
    assert cut_formulas(page) == []
    sizes = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert sizes[0] <= sizes[1]
    table = page.evaluate(
        "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])"
        "(document.getElementById('results-table').parentElement)"
    )
    assert table[0] <= table[1]


def test_nothing_is_cut_on_paper(visit: Any) -> None:
    page = visit(A4["width"])
    page.emulate_media(media="print")
    assert cut_formulas(page) == []
    table = page.locator("#results-table")
    heads = table.locator("thead th")
    assert heads.count() == 8
    for k in range(8):
        box = heads.nth(k).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= A4["width"]
    assert not page.locator("#tools").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def first_column(page: Any) -> list[str]:
    cells = page.locator("#results-table tbody th[scope=row]:visible strong")
    return [text.strip() for text in cells.all_text_contents()]


def test_the_table_sorts_and_filters(visit: Any) -> None:
    page = visit(1400)
    assert page.locator("th[aria-sort=descending]").text_content() == "Accuracy"
    assert first_column(page)[-1] == "ConvexHullDual"  # it has no accuracy
    page.get_by_role("button", name="Seconds").click()
    shown = page.locator("#results-table td[data-name=Seconds]").all_text_contents()
    assert shown == ["0.003", "0.01", "0.02", "0.3", "–"]
    page.get_by_role("button", name="Seconds").click()
    shown = page.locator("#results-table td[data-name=Seconds]").all_text_contents()
    assert shown == ["0.3", "0.02", "0.01", "0.003", "–"]
    page.get_by_role("button", name="Formulation").click()
    assert first_column(page) == sorted(first_column(page), key=str.lower)
    # What failed stays below its row.
    rows = page.locator("#results-table tbody tr").all_text_contents()
    assert "2 of 2 failed" in rows[1]
    page.get_by_label("Filter").fill("spectrum")
    assert first_column(page) == ["SpectrumSVM", "SpectrumSVM"]
    assert page.locator("#count").text_content() == "2 of 5 rows"
    page.get_by_label("Filter").fill("")
    assert len(first_column(page)) == 5


def test_a_narrow_table_names_its_numbers_and_sorts(visit: Any) -> None:
    page = visit(360)
    page.get_by_label("Sort by").select_option("7 ascending")
    assert first_column(page)[0] == "SVMDual"
    label = page.evaluate(
        "getComputedStyle(document.querySelector('td[data-name=Accuracy]'), '::before').content"
    )
    assert label == '"Accuracy"'


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(visit: Any, scheme: str) -> None:
    page = visit(1400, scheme)
    page.locator("details").evaluate("(box) => { box.open = true; }")
    assert page.evaluate(CONTRAST) == []
    filters = page.evaluate(
        "[...document.querySelectorAll('figure img')].map((i) => getComputedStyle(i).filter)"
    )
    assert all(("invert" in used) == (scheme == "dark") for used in filters)


def test_the_links_of_the_page(visit: Any, path: Path) -> None:
    page = visit(1400)
    page.get_by_role("link", name="Run it again").click()
    assert page.url.endswith("#again")
    with page.expect_download() as download:
        page.get_by_role("link", name="Every fold as a table").click()
    content = Path(download.value.path()).read_text(encoding="utf-8")
    assert content.startswith("formulation,solver,fold,accuracy")
    assert len(content.splitlines()) == 1 + len(hand_made().frame)
