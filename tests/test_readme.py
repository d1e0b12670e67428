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


def test_the_example_kernel_of_the_contributors_page_works():
    import numpy as np

    import evencut.kernels as kernels
    from evencut import KernelClustering
    from evencut.affinity import squared_distances

    (code,) = blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), "python")
    names = {**vars(kernels), "squared_distances": squared_distances}
    exec(code, names)
    X = np.array([[0.0], [1.0], [10.0]])
    kernel = names["Cauchy"](scale=2.0)
    np.testing.assert_allclose(kernel.affinity(X)[0], [1, 1 / 1.25, 1 / 26])
    np.testing.assert_allclose(kernel.extend(X)(X), kernel.affinity(X))
    assert KernelClustering(2, kernel=kernel, random_state=0).fit_predict(X).tolist() == [0, 0, 1]
