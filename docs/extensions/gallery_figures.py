"""Finds the pictures of the gallery: figures of this package are not managed by pyplot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

PICTURE_DOTS_PER_INCH = 110
"""Sharp at the width of the page, and about 50 kB a picture."""


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the variable `figure` after each block in which it is new, with `alt` as its text."""
    variables = block_vars["example_globals"]
    figure = variables.pop("figure", None)
    if not isinstance(figure, Figure):
        return ""
    path = Path(next(block_vars["image_path_iterator"]))
    figure.savefig(path, dpi=PICTURE_DOTS_PER_INCH)
    return str(figure_rst([str(path)], gallery_conf["src_dir"], variables["alt"]))
