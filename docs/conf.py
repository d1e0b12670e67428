"""How the documentation is built: `make docs`. What can be read off the package or the benchmarks is, in _ext/."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path.insert(0, str(HERE.parent / "src"))
# Examples must look the same whoever builds them.
os.environ.setdefault("MPLBACKEND", "agg")

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
    "built_in_math",
    "public_names",
    "measured_pages",
    "paper_page",
    "inner_links",
]

exclude_patterns = ["_build", "examples", "reproduced", "gallery/*.md5", "gallery/**/*.ipynb"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
default_role = "literal"
autosummary_generate = True
templates_path = ["_templates"]
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"evencut {release}"
html_static_path = []
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
}
