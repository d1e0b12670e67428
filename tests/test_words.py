"""The words of CONTRIBUTING: phrases that it puts in quotes are in no comment, docstring or message of the package."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

import evencut

PACKAGE = Path(evencut.__file__).parent
GUIDE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
TABLE = GUIDE.split("## Words")[1].split("\n## ")[0]
BANNED = [phrase for row in TABLE.splitlines() if row.startswith("| ") for phrase in re.findall(r'"([^"]+)"', row)]


def prose(text):
    """Comments and strings of more than one word, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def banned_in(text):
    """Lines with a banned phrase; after `is no` and `are no` any noun is meant."""
    any_noun = r"(?<!there )\1 no (?!more|less|longer|shorter|thicker)[a-z]+"
    patterns = [re.sub(r"^(is|are) no .*", any_noun, phrase) for phrase in BANNED]
    found = re.compile(r"\b(" + "|".join(patterns) + r")", re.IGNORECASE)
    return [f"line {line}: {hit[0]}" for line, words in prose(text) for hit in found.finditer(" ".join(words.split()))]


def test_the_table_has_phrases_to_check():
    assert len(BANNED) >= 15
    assert banned_in("# A tree is no forest.\n") == ["line 1: is no forest"]
    assert banned_in("# Labels depend on the seed.\n") == []


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_banned_phrase(path):
    assert not banned_in(path.read_text(encoding="utf-8"))
