"""Formulas as MathML, translated while the site is built: browsers draw them by themselves, also without a network."""

import re
from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def setup(app):
    """Offer the renderer that conf.py names."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True}


def visit_inline(writer, node):
    """A formula in a line."""
    writer.body.append(translate(node, as_block=False))
    raise nodes.SkipNode


def visit_block(writer, node):
    """A formula on lines of its own."""
    writer.body.append(f'<div class="math" style="overflow-x: auto">{translate(node, as_block=True)}</div>')
    raise nodes.SkipNode


def translate(node, as_block):
    """MathML of a formula; one that cannot be translated is shown as it is written, and named in the log."""
    # Sizes of brackets are left to the browser.
    tex = re.sub(r"\\[bB]igg?[lr]?(?![a-zA-Z])", "", node.astext())
    try:
        return tex2mathml(tex, as_block=as_block)
    except MathError as error:
        logger.info("cannot draw the formula %s: %s", tex, error, location=node)
        return f"<code>{escape(tex)}</code>"
