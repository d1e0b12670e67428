"""What the front page shows is true: its code prints what it says, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def test_the_code_prints_what_the_page_says(capsys):
    text = README.read_text(encoding="utf-8")
    (code,), (printed,) = blocks(text, "python"), blocks(text, "text")
    exec(compile(code, str(README), "exec"), {})
    assert capsys.readouterr().out == printed
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 10


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_links_lead_to_files_that_exist(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert all((ROOT / link).exists() for link in links if not link.startswith("https://")), links
