"""What the front page shows is true: its code, its scores, its picture and its links."""

import re
from pathlib import Path

import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from evencut import EvenCut

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


@pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="the benchmarks are not part of this copy")
def test_the_scores_are_those_of_the_records(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import front_page

    table = front_page.front_scores()
    assert table in README.read_text(encoding="utf-8"), "records are newer: python -m benchmarks.front_page"
    assert "number not given" in table
    # A lead is where its interval is, and the mean of a peer below ours wherever the whole interval is above zero.
    for ours, others in re.findall(r"^\| \[.*\) \| ([\d.]+) \(.*?\) \| (.*) \|$", table, re.M):
        for mean, low, high in re.findall(r"(-?\d\.\d+) \(([-+][\d.]+) to ([-+][\d.]+)\)", others):
            assert float(low) - 0.011 <= float(ours) - float(mean) <= float(high) + 0.011


def test_what_the_picture_leaves_out_is_said():
    X, y = load_wine(return_X_y=True)
    scaled = StandardScaler().fit_transform(X)
    plain = adjusted_rand_score(y, KMeans(3, n_init=10, random_state=0).fit_predict(scaled))
    assert f"once they are standardised, k-means reaches {plain:.2f}" in README.read_text(encoding="utf-8")
    assert adjusted_rand_score(y, EvenCut(3, random_state=0).fit_predict(scaled)) < plain + 0.01


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_links_lead_to_files_that_exist(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert all((ROOT / link).exists() for link in links if not link.startswith("https://")), links


def test_pages_of_the_front_page_show_no_code_of_the_site_in_a_plain_view():
    """But for the paper, whose page is made from the reproduction when the site is built."""
    linked = set(re.findall(r"\]\((docs/[^)#]+\.md)", README.read_text(encoding="utf-8"))) - {"docs/paper.md"}
    assert len(linked) > 20
    for page in linked:
        assert not re.search(r"^(```|:::+)\{", (ROOT / page).read_text(encoding="utf-8"), re.M), page
