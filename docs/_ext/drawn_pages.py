"""Pages show what their code makes: the code in a comment `<!-- drawn: ... -->` is run after the
python blocks above it, and its picture is shown.

A comment, so that a plain Markdown view shows no code of pictures. It begins with their description: the text for those
who cannot see it. Its last line may be something that shows itself as HTML, such as a report; it is then shown as a
notebook would.
"""

import ast
import contextlib
import hashlib
import io
import re
import warnings
from pathlib import Path

import picture_style

#: Any other fenced block is matched too, so that what it contains is not taken for code.
BLOCK = re.compile(
    r"^```(?P<kind>[^\n`]*)\n(?P<code>.*?)^```$|^<!-- drawn: (?P<text>[^\n]*)\n(?P<drawing>.*?)^-->$", re.M | re.S
)
FOLDER = "made"


def setup(app):
    """Draw while the sources are read."""
    app.connect("config-inited", lambda app, config: (Path(app.srcdir) / FOLDER).mkdir(exist_ok=True))
    app.connect("source-read", draw_page)
    return {"parallel_read_safe": True}


def draw_page(app, docname, source):
    """Run a page that has something to draw, and put pictures where its comments are."""
    if "<!-- drawn: " not in source[0]:
        return
    names = {"__name__": "__main__"}
    pictures = Path(app.srcdir) / FOLDER

    def shown(block):
        text, code = block["text"], block["drawing"]
        if text is None:
            if block["kind"].strip() == "python":
                run(block["code"], names)
            return block[0]
        value = run(code, names)
        # Figures have this method, too, and answer None outside a notebook.
        if shown_as := getattr(value, "_repr_html_", lambda: None)():
            return f'```{{raw}} html\n<div class="shown-report">{shown_as}</div>\n```'
        name = f"{docname.replace('/', '_')}_{hashlib.sha256((text + code).encode()).hexdigest()[:8]}.png"
        save_figure(pictures / name)
        return f"![{text}](/{FOLDER}/{name})"

    picture_style.reset(None, docname)
    source[0] = BLOCK.sub(shown, source[0])


def run(code, names):
    """Run a block as a reader would, and give the value of its last line, as a notebook does."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(tree, "<page>", "exec"), names)
        return eval(compile(ast.Expression(last.value), "<page>", "eval"), names) if last is not None else None


def save_figure(path):
    """Keep the figure drawn last, and close all."""
    import matplotlib.pyplot as plt

    plt.gcf().savefig(path, dpi=150)
    plt.close("all")
