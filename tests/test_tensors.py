"""Tensors in, tensors out: the dispatch, with a light stand-in for torch, which the test extra does not install."""

import ast
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import evencut
from evencut import EvenCut, KernelClustering, KernelKMeans, LandmarkClustering, NormalizedCut, diagnose
from evencut.affinity import equalizing_scale, knn_density, knn_radius, parzen_density
from evencut.datasets import make_clumped_moons
from evencut.tensors import count_copies, is_tensor, to_array


class Tensor:
    """As much of a tensor on the CPU as the dispatch may ask for; its values are not an array's."""

    is_cuda = False
    device = SimpleNamespace(type="cpu")

    def __init__(self, values):
        self.values = values
        self.shape, self.ndim = values.shape, values.ndim

    def __len__(self):
        return len(self.values)

    def __array__(self, *args, **kwargs):
        raise AssertionError("a tensor was taken for an array")

    def detach(self):
        return self

    def is_floating_point(self):
        return self.values.dtype.kind == "f"

    def element_size(self):
        return self.values.dtype.itemsize

    def numel(self):
        return self.values.size

    def float(self):
        return Tensor(self.values.astype(np.float32))

    def to(self, device):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.values


Tensor.__module__ = "torch"


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    """A module named torch that makes these tensors, and checks that let them pass."""
    torch, arrays = ModuleType("torch"), ModuleType("evencut.gpu.arrays")
    torch.Tensor = torch.from_numpy = Tensor
    torch.sparse_csr_tensor = lambda *parts, size: Tensor(parts[-1].values)
    arrays.check_tensor, arrays.check_memory, arrays.same_device = lambda X: X, lambda *needed: None, lambda **X: None
    for module in (torch, arrays):
        monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.fixture(scope="module")
def moons():
    return make_clumped_moons(300, clump=0.5, random_state=0)[0]


def test_a_tensor_is_known_by_its_class_and_module():
    assert is_tensor(Tensor(np.zeros(2)))
    assert is_tensor(type("Parameter", (Tensor,), {})(np.zeros(2)))
    assert not is_tensor(np.zeros(2)) and not is_tensor([0.0]) and not is_tensor(None)
    assert not is_tensor(type("Tensor", (), {})())


@pytest.mark.parametrize("model", [
    EvenCut(2, random_state=0),
    KernelKMeans(2, kernel="gaussian", random_state=0),
    NormalizedCut(2, kernel="knn", random_state=0),
    LandmarkClustering(2, n_landmarks=60, random_state=0),
], ids=lambda model: type(model).__name__)  # fmt: skip
def test_estimators_answer_with_tensors_and_the_values_of_arrays(model, moons):
    labels = model.fit(moons).labels_
    arrays = {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}
    assert isinstance(labels, np.ndarray) and arrays
    model.fit(Tensor(moons))
    assert is_tensor(model.labels_) and (model.labels_.values == labels).all()
    for name, value in arrays.items():
        if name.endswith("_"):
            assert is_tensor(getattr(model, name)), name
            assert np.array_equal(getattr(model, name).values, value), name
    assert (model.predict(Tensor(moons[:20])).values == labels[:20]).all()
    assert (model.predict(moons[:20]) == labels[:20]).all()
    assert (model.fit(moons).labels_ == labels).all()


def test_streams_of_tensors_give_tensors(moons):
    model = LandmarkClustering(2, n_landmarks=60, random_state=0)
    expected = [model.partial_fit(batch).labels_ for batch in (moons[:200], moons[200:])]
    model = LandmarkClustering(2, n_landmarks=60, random_state=0)
    for batch, labels in zip((moons[:200], moons[200:]), expected):
        assert np.array_equal(model.partial_fit(Tensor(batch)).labels_.values, labels)


def test_weights_and_known_labels_may_be_tensors(moons):
    weights, known = np.ones(len(moons)), np.full(len(moons), -1)
    weights[:20], known[[0, -1]] = 0.0, (1, 0)
    model = KernelClustering(2, kernel="knn", random_state=0)
    expected = model.fit(moons, known, sample_weight=weights).labels_
    found = model.fit(Tensor(moons), Tensor(known), sample_weight=Tensor(weights)).labels_
    assert (found.values == expected).all()


def test_fitted_models_answer_the_rest_too(moons):
    model = KernelClustering(2, kernel="knn", random_state=0).fit(Tensor(moons))
    assert is_tensor(model.affinity_)
    assert is_tensor(model.predict_proba(Tensor(moons[:5])))
    assert model.diagnose().verdict == diagnose(Tensor(moons), model.labels_).verdict == "ok"


def test_densities_and_the_equalising_scale_of_tensors(moons):
    X = moons[:100]
    for estimate, given in ((knn_radius, 5), (knn_density, 5), (parzen_density, "scott")):
        found = estimate(Tensor(X), given)
        assert is_tensor(found) and np.array_equal(found.values, estimate(X, given))
    affinity = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    assert np.array_equal(equalizing_scale(Tensor(affinity)).values, equalizing_scale(affinity))


def test_half_precision_becomes_single():
    assert to_array(Tensor(np.ones(2, dtype=np.float16))).dtype == np.float32


def test_what_crosses_is_counted(moons):
    with count_copies() as crossed:
        KernelClustering(2, kernel="knn", random_state=0).fit(Tensor(moons))
    assert crossed[0] == moons.nbytes and len(crossed) > 3
    with count_copies() as crossed:
        KernelClustering(2, kernel="knn", random_state=0).fit(moons)
    assert crossed == []


def test_nothing_crosses_elsewhere():
    """Only one file moves values between a device and the CPU, so the count above is complete."""
    package = Path(evencut.__file__).parent
    rooms = ("gpu", "affinity", "kernels", "solvers", "landmarks", "estimators")
    files = [file for room in rooms for file in (package / room).glob("*.py")]
    files += [package / "tensors.py", package / "criteria.py"]
    assert len(files) > 40
    for path in files:
        code = [line for line in path.read_text(encoding="utf-8").splitlines() if ">>>" not in line]
        moves = re.findall(r"\.cpu\(\)|\.numpy\(\)", "\n".join(code))
        if path.parent.name == "gpu":
            moves += re.findall(r"\.tolist\(\)", "\n".join(code))
        assert len(moves) <= (2 if path.name == "tensors.py" else 0), f"{path.name} moves values: {moves}"


def test_nothing_stands_twice_inside_and_outside_the_room_of_the_gpu():
    """A device has kernels of its own, as the CPU has compiled loops; all else is written once, for both."""
    package = Path(evencut.__file__).parent

    def public(paths):
        trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
        nodes = [node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        return {node.name for node in nodes if not node.name.startswith("_")}

    there = public(path for path in package.glob("gpu/*.py") if path.name != "naive.py")
    here = public(
        path for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] != "gpu" and not path.name.endswith("_loops.py")
    )  # fmt: skip
    assert len(there) > 15 and not there & here


@pytest.mark.parametrize("device, cure", [("tpu", "choose cpu, cuda"), ("cuda", "evencut[gpu]")])
def test_the_command_names_a_device_that_is_not_there(device, cure, tmp_path, monkeypatch, capsys):
    from evencut.cli import main, options

    monkeypatch.setattr(options, "find_spec", lambda name: None)
    table = tmp_path / "points.csv"
    table.write_text("0,0\n1,1\n9,9\n", encoding="utf-8")
    with pytest.raises(SystemExit) as stop:
        main(["cluster", str(table), "-k", "2", "--device", device])
    assert stop.value.code and cure in capsys.readouterr().err
