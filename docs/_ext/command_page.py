"""Writes the page of the command line from the command itself: every command, argument and option, with its default."""

from pathlib import Path

from typer.main import get_command

from evencut.cli import COMMANDS, build_app

HEAD = """# The command line

`pip install "evencut[cli,plot]"` installs the command `evencut`. `evencut segment` needs the extra `vision`, `evencut
studio` the extra `studio`. This page is generated from the command and matches `--help`.

Data go to standard output, everything else to standard error. Exit codes: 0 for success; 2, with a one-line message,
for invalid input; 130 after an interruption; 1 from `evencut diagnose` if the clustering is biased, or its labels are
unrelated to the points.
"""


def setup(app):
    """Write the page before Sphinx reads the sources."""
    app.connect("config-inited", write_page)
    return {"parallel_read_safe": True}


def write_page(app, config):
    """Write api/command_line.md."""
    group = get_command(build_app())
    text = "\n".join([HEAD, *(section(name, group.commands[name]) for name in COMMANDS)])
    target = Path(app.srcdir) / "api" / "command_line.md"
    target.parent.mkdir(exist_ok=True)
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def section(name, command):
    """One command: what it does, how it is called, what it takes."""
    context = command.make_context(f"evencut {name}", [], resilient_parsing=True)
    usage = " ".join([f"evencut {name}", *command.collect_usage_pieces(context)])
    lines = [f"## evencut {name}", "", paragraphs(command.help), "", "```text", usage, "```", ""]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and "--help" not in parameter.opts:
            lines.append(entry(*record))
    return "\n".join(lines)


def entry(term, text):
    """A term and its explanation; what stands in brackets after it, such as the default, comes last."""
    text = " ".join(text.split())
    return f"`{' '.join(term.split())}`\n: {literal(text)}\n"


def paragraphs(text):
    """The help text, its paragraphs kept."""
    return "\n\n".join(" ".join(part.split()) for part in literal(text or "").split("\n\n"))


def literal(text):
    """Characters that Markdown would take for its own."""
    return text.replace("*", r"\*").replace("<", r"\<").replace("[", r"\[").replace("\b", "")
