"""The contributors' page is true: each of its examples runs as it stands, under its new name, in the estimators."""

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import evencut.cli
from evencut import KernelClustering, KernelKMeans
from evencut.affinity import DenseAffinity
from evencut.criteria import CRITERIA
from evencut.datasets import make_rings
from evencut.kernels import KERNELS, Gaussian
from evencut.solvers import SOLVERS

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"
POINTS = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0)


def example(heading):
    """The code below a heading of the page."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"^```python\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL)
    return compile(code, f"{PAGE} ({heading})", "exec")


@pytest.fixture
def run_example(monkeypatch):
    """Run an example in a module of its own; the tables it enters something in are as before afterwards."""
    for table in (KERNELS, CRITERIA, SOLVERS):
        for name in list(table):
            monkeypatch.setitem(table, name, table[name])
    before = {id(table): set(table) for table in (KERNELS, CRITERIA, SOLVERS)}

    def run(heading, name="contributed"):
        module = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(example(heading), vars(module))
        return module

    yield run
    for table in (KERNELS, CRITERIA, SOLVERS):
        for name in set(table) - before[id(table)]:
            del table[name]


def test_a_kernel(run_example):
    made = run_example("A kernel")
    X = np.array([[0.0], [1.0], [10.0]])
    kernel = made.Cauchy(scale=2.0)
    np.testing.assert_allclose(kernel.affinity(X)[0], [1, 1 / 1.25, 1 / 26])
    np.testing.assert_allclose(kernel.extend(X)(X), kernel.affinity(X))
    model = KernelClustering(2, kernel="cauchy", random_state=0).fit(POINTS)
    assert model.labels_.tolist() == [0] * 30 + [1] * 30
    np.testing.assert_array_equal(model.predict(POINTS[::-1] + 0.01), model.labels_[::-1])


def test_a_new_kernel_appears_in_the_command_and_on_the_page(run_example, tmp_path):
    from evencut.cli import main
    from evencut.studio.methods import Method, estimator, known_kernels

    made = run_example("A kernel")
    np.save(tmp_path / "points.npy", POINTS)
    words = ["cluster", str(tmp_path / "points.npy"), "-k", "2", "--kernel", "cauchy", "--parameter", "scale=3"]
    with pytest.raises(SystemExit) as left:
        main([*words, "-o", str(tmp_path / "labels.npy")])
    assert not left.value.code
    expected = KernelClustering(2, kernel=made.Cauchy(3.0), random_state=0).fit_predict(POINTS)
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy").ravel(), expected)
    assert known_kernels()["cauchy"].title == "Cauchy"
    method = Method(tool="kernel", kernel="cauchy", parameters={"scale": 3.0}, n_clusters=2)
    np.testing.assert_array_equal(estimator(method).fit_predict(POINTS), expected)
    with pytest.raises(ValueError, match="has no parameter 'bandwidth'"):
        Method(tool="kernel", kernel="cauchy", parameters={"bandwidth": 3.0})


@pytest.mark.parametrize("equalize", [None, "weights", "exact"])
def test_a_criterion(run_example, rng, equalize):
    run_example("A criterion")
    A = Gaussian(1.0).affinity(POINTS)
    labels = rng.integers(3, size=60)
    weight = np.sqrt(A.sum(axis=1))
    naive = -sum(A[np.ix_(labels == k, labels == k)].sum() / weight[labels == k].sum() for k in range(3))
    assert CRITERIA["root_degree_cut"](A).energy(labels) == pytest.approx(naive)
    model = KernelClustering(2, kernel="knn", criterion="root_degree_cut", equalize=equalize, random_state=0)
    assert adjusted_rand_score([0] * 30 + [1] * 30, model.fit(POINTS).labels_) == 1
    np.testing.assert_array_equal(model.predict(POINTS + 0.01), model.labels_)


def test_a_solver(run_example):
    run_example("A solver")
    model = KernelClustering(2, kernel="gaussian", solver="anywhere", random_state=0).fit(POINTS)
    assert model.labels_.tolist() == [0] * 30 + [1] * 30
    assert (np.diff(model.energy_trace_) <= 1e-12).all()
    again = KernelClustering(2, kernel="gaussian", solver="anywhere", random_state=0).fit(POINTS)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(model.predict(POINTS + 0.01), model.labels_)


def test_a_device(run_example, rng):
    made = run_example("A device")
    A = Gaussian(1.0).affinity(POINTS)
    scale, vectors = rng.uniform(0.5, 2, 60), rng.normal(size=(60, 3))
    there = made.GaussianOnDisk(1.0).affinity(POINTS).rescaled(scale)
    here = DenseAffinity(A).rescaled(scale)
    few = np.array([5, 1, 40])
    for one, other in ((there, here), (there.submatrix(few), here.submatrix(few))):
        right = vectors[: one.shape[0]]
        np.testing.assert_allclose(one @ right, other @ right)
        np.testing.assert_allclose(one @ right[:, 0], other @ right[:, 0])
        np.testing.assert_allclose(one.diagonal(), other.diagonal())
        np.testing.assert_allclose(one.block([2, 0], slice(1, 3)), other.block([2, 0], slice(1, 3)))
        np.testing.assert_allclose(one.degrees(), other.degrees())
    for equalize in (None, "exact"):
        model = KernelKMeans(2, kernel="gaussian_on_disk", equalize=equalize, random_state=0).fit(POINTS)
        usual = KernelKMeans(2, kernel="gaussian", equalize=equalize, random_state=0).fit(POINTS)
        np.testing.assert_array_equal(model.labels_, usual.labels_)
        assert model.energy_ == pytest.approx(usual.energy_)
        np.testing.assert_array_equal(model.predict(POINTS + 0.01), usual.predict(POINTS + 0.01))


def test_a_command(run_example, monkeypatch, capsys, tmp_path):
    run_example("A command", "evencut.cli.columns")
    monkeypatch.setitem(evencut.cli.COMMANDS, "columns", ("columns", "Name the columns of a table."))
    X, _ = make_rings(50, random_state=0)
    np.savetxt(tmp_path / "rings.csv", X, delimiter=",", header="x,y", comments="")

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            evencut.cli.main(["columns", *map(str, arguments)])
        return left.value.code, capsys.readouterr()

    code, printed = run(tmp_path / "rings.csv")
    assert code == 0
    assert printed.out == f"x\t{X[:, 0].mean():g}\ny\t{X[:, 1].mean():g}\n"
    code, printed = run(tmp_path / "rings.csv", "--most", 1)
    assert code == 2
    assert "has 2 columns, more than --most 1" in printed.err
    assert run(tmp_path / "absent.csv")[0] == 2
