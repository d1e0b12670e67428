"""The labels of nine fits, as a table of hashes: the same on every system, processor and Python.

    python tests/label_hashes.py            # compares, and exits with 1 if a fit has other labels
    python tests/label_hashes.py --write    # after a change that is meant to change labels

Every wheel is tested by it, with nothing installed but what the package needs. The data do not decide between equal
answers by their last digits: processors and mathematical libraries differ in these.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris, load_wine

from evencut import EvenCut, KernelKMeans, LandmarkClustering, NormalizedCut
from evencut.datasets import make_clumped_moons
from evencut.kernels import KNN, Gaussian
from evencut.segmentation import segment

TABLE = Path(__file__).with_suffix(".json")


def fits():
    """Each fit with its labels."""
    moons, _ = make_clumped_moons(600, clump=0.5, random_state=0)
    wine = load_wine().data
    wine = (wine - wine.mean(axis=0)) / wine.std(axis=0)
    rng = np.random.default_rng(0)
    blobs = rng.normal(size=(9000, 3)) + 9 * np.eye(3)[rng.integers(3, size=9000)]
    directions = rng.normal(size=(4, 96))[np.repeat(range(4), [120, 80, 60, 40])] + 0.5 * rng.normal(size=(300, 96))
    disc = np.hypot(*np.mgrid[-32:32, -32:32]) < 20
    photo = np.where(disc[..., None], [200, 60, 40], [30, 90, 160]) + rng.integers(-20, 21, (64, 64, 3))
    yield "EvenCut, moons, number found", EvenCut(random_state=0).fit_predict(moons)
    yield "EvenCut, iris", EvenCut(2, random_state=0).fit_predict(load_iris().data)
    yield "EvenCut, 9000 points, number found", EvenCut(random_state=0).fit_predict(blobs)
    yield "EvenCut, directions, number found", EvenCut(metric="cosine", random_state=0).fit_predict(directions)
    yield "KernelKMeans, equalised", KernelKMeans(
        2, kernel=Gaussian(0.1), equalize="exact", random_state=0
    ).fit_predict(moons)
    yield "KernelKMeans, weights", KernelKMeans(
        2, kernel=Gaussian(0.1), equalize="weights", random_state=0
    ).fit_predict(moons)
    yield "NormalizedCut, wine", NormalizedCut(3, kernel=KNN(15), random_state=0).fit_predict(wine)
    yield "LandmarkClustering, 9000 points", LandmarkClustering(3, n_landmarks=300, random_state=0).fit_predict(blobs)
    yield "segment, a disc", segment(photo.clip(0, 255).astype(np.uint8), box=(8, 8, 56, 56)).mask


def hash_of(labels):
    """The first 16 digits of the SHA-256 of labels as whole numbers of eight bytes."""
    return hashlib.sha256(np.ascontiguousarray(labels, dtype="<i8").tobytes()).hexdigest()[:16]


def main(arguments):
    hashes = {name: hash_of(labels) for name, labels in fits()}
    if arguments == ["--write"]:
        TABLE.write_text(json.dumps(hashes, indent=1) + "\n", encoding="utf-8")
        return 0
    expected = json.loads(TABLE.read_text(encoding="utf-8"))
    for name in sorted(expected | hashes):
        same = expected.get(name) == hashes.get(name)
        print(f"{'same' if same else 'OTHER LABELS':12}  {name}")
    return int(hashes != expected)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
