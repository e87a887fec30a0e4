"""How Sphinx builds the site: `sphinx-build -W docs docs/_build/html`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "extensions")]

import api_pages  # noqa: E402
import rendering  # noqa: E402
import typer.main  # noqa: E402
from typer.cli import get_docs_for_click  # noqa: E402

import indefinite_opt  # noqa: E402
from indefinite_opt.command_line.app import app  # noqa: E402

# Namespaces that are no folders of the package, under the names that users write.
for namespace in api_pages.NAMESPACES:
    sys.modules.setdefault(namespace, api_pages.module_of(namespace))

project = "indefinite_opt"
author = "The indefinite_opt authors"
copyright = "2026, The indefinite_opt authors"
version = release = indefinite_opt.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "numpydoc",
    "rendering",
    "myst_nb",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "extensions",
    "gallery_scripts",
    "reproduction/atlas-summary.md",
    "gallery/**/*.ipynb",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
default_role = "py:obj"  # names between single backticks in docstrings

# Pages that are made from the package and from the notebooks before Sphinx reads anything.
api_pages.write(DOCS / "api")
rendering.copy_notebooks(DOCS.parent / "notebooks", DOCS / "notebooks")
commands = typer.main.get_command(app)
context = typer.Context(commands, info_name="indefinite-opt")
help_of_all = get_docs_for_click(obj=commands, ctx=context, name="indefinite-opt", title="Commands")
api_pages.store(DOCS / "commands" / "index.md", help_of_all)

# Docstrings are those of numpydoc; every class has its members on its own page.
autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "signature"
templates_path = ["templates"]
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
python_display_short_literal_types = True
toc_object_entries = False

# Markdown, with formulas between dollars; notebooks show the outputs they are stored with, and the
# tests execute them.
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
nb_execution_mode = "off"
# The configuration holds functions, which cannot be stored; and the module of kernels has a list of
# papers of which each docstring cites its own.
suppress_warnings = ["config.cache", "ref.citation"]

sphinx_gallery_conf = {
    "examples_dirs": str(DOCS / "gallery_scripts"),
    "gallery_dirs": "gallery",
    "subsection_order": [
        f"gallery_scripts/{group}" for group in ("geometry", "problems", "solvers", "proofs")
    ],
    "filename_pattern": r".*\.py",
    "thumbnail_size": (640, 480),
    "image_scrapers": ("rendering.scraper",),
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 60,
    "remove_config_comments": True,
    "write_computation_times": False,
    "plot_gallery": os.environ.get("DOCS_WITHOUT_GALLERY") is None,
}

# Commands stand in running text, where two dashes are no long one.
smartquotes = False
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "indefinite_opt"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 10,
    # Pages of the theory and the gallery need the place of the table of contents for themselves.
    "secondary_sidebar_items": {"[!gt]*": ["page-toc"], "guide/*": ["page-toc"]},
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
html_sidebars = {"index": [], "start": []}
