"""How the documentation is built: `make docs`. What can be read off the package or the benchmarks is, in _ext/."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path[:0] = [str(HERE.parent / "src"), str(HERE.parent)]
# Examples must look the same whoever builds them.
os.environ.setdefault("MPLBACKEND", "agg")
# Times that the pages tell are those of one thread.
for library in ("OMP", "OPENBLAS"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import evencut

project = "evencut"
author = "the evencut developers"
copyright = author
version = release = evencut.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    # MathJax, with its fonts, is copied into the site: formulas need no network.
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "gallery_thumbnails",
    "drawn_pages",
    "notebooks",
    "command_page",
    "public_names",
    "measured_pages",
    "paper_page",
    "inner_links",
]

exclude_patterns = ["_build", "_static", "examples", "reproduced/body.md", "gallery/*.md5", "gallery/**/*.ipynb"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
default_role = "literal"
autosummary_generate = True
templates_path = ["_templates"]
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Two hyphens are an option of the command, not a dash.
smartquotes_action = "qe"
html_theme = "furo"
html_title = f"evencut {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    # What an expression returns is no part of an example; what it prints or draws is.
    "capture_repr": (),
    "reset_modules": ("picture_style.reset",),
    "image_srcset": ["2x"],
    "thumbnail_size": (720, 400),
    "min_reported_time": 3600,
}


def setup(app):
    """Forget gallery pages of examples that are gone: nothing would lead to them."""
    kept = {path.stem for path in (HERE / "examples").glob("plot_*.py")}
    for page in (HERE / "gallery").glob("plot_*"):
        if page.is_file() and page.name.split(".")[0] not in kept:
            page.unlink()
