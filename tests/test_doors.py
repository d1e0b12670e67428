"""Examples for other tools run as their page shows them: on the tool where it is installed, or on a stand-in.

A stand-in has the signatures of the tool, and makes the same calls of what is passed to it.
"""

import sys
import warnings
from abc import ABC, abstractmethod
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA

PAGE = Path(__file__).parents[1] / "docs" / "how_to" / "use_with_other_tools.md"


class BaseDimensionalityReduction:
    """Leaves embeddings as they are, as in BERTopic."""

    def fit(self, X=None):
        return self

    def transform(self, X):
        return X


class BERTopic:
    """Calls its models as BERTopic 0.17 does."""

    def __init__(self, *, umap_model, hdbscan_model):
        self.umap_model, self.hdbscan_model = umap_model, hdbscan_model

    def fit_transform(self, documents, embeddings, y=None):
        reduced = np.nan_to_num(self.umap_model.fit(embeddings).transform(embeddings))
        self.hdbscan_model.fit(reduced, y=y)
        frame = pd.DataFrame({"Document": documents, "Topic": self.hdbscan_model.labels_})
        by_size = frame.Topic[frame.Topic >= 0].value_counts().index
        numbers = frame.Topic.map({-1: -1} | {old: new for new, old in enumerate(by_size)})
        return numbers.tolist(), self.hdbscan_model.probabilities_

    def transform(self, documents, embeddings):
        return self.hdbscan_model.predict(self.umap_model.transform(embeddings)).tolist(), None


class Clusterer(ABC):
    """The base of Toponymy 0.5."""

    @abstractmethod
    def fit(self, clusterable_vectors, embedding_vectors, layer_class, **layer_kwargs): ...

    @abstractmethod
    def fit_predict(self, clusterable_vectors, embedding_vectors, layer_class, **layer_kwargs): ...


class ClusterLayerText:
    """A layer of Toponymy 0.5."""

    def __init__(self, cluster_labels, centroid_vectors, layer_id, text_embedding_model=None, **kwargs):
        assert centroid_vectors.shape[0] == cluster_labels.max() + 1
        self.cluster_labels, self.layer_id = cluster_labels, layer_id


def build_cluster_tree(labels):
    """The clusters below each cluster; compiled code of Toponymy counts labels, which therefore have to be integers."""
    tree = {}
    for layer, (fine, coarse) in enumerate(zip(np.vstack(labels), np.vstack(labels)[1:])):
        np.bincount(coarse + 1)
        for child in np.unique(fine):
            tree.setdefault((layer + 1, int(coarse[fine == child][0])), []).append((layer, int(child)))
    return tree


def centroids_from_labels(cluster_labels, vector_data):
    return np.array([vector_data[cluster_labels == k].mean(axis=0) for k in range(cluster_labels.max() + 1)])


class UMAP(PCA):
    """Takes what UMAP takes."""

    def __init__(self, n_components=2, min_dist=0.1, metric="euclidean", random_state=None, n_jobs=-1):
        super().__init__(n_components, random_state=random_state)
        self.min_dist, self.metric, self.n_jobs = min_dist, metric, n_jobs


STAND_INS = {
    "bertopic": {"": [BERTopic], "dimensionality": [BaseDimensionalityReduction]},
    "toponymy": {
        "": [],
        "cluster_layer": [ClusterLayerText],
        "clustering": [Clusterer, build_cluster_tree, centroids_from_labels],
    },
    "umap": {"": [UMAP]},
}


@pytest.fixture
def example(monkeypatch, capsys):
    """Runs the code of the page up to a heading, and checks what it prints."""
    for name, modules in STAND_INS.items():
        if find_spec(name) is None:
            for part, members in modules.items():
                module = ModuleType(f"{name}.{part}".rstrip("."))
                vars(module).update({member.__name__: member for member in members})
                monkeypatch.setitem(sys.modules, module.__name__, module)

    def run(heading):
        names = {"__name__": "__main__"}
        for section in PAGE.read_text(encoding="utf-8").split("\n## "):
            blocks = section.split("```")[1::2]
            for code, after in zip(blocks, [*blocks[1:], ""]):
                if code.startswith("py\n"):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        exec(compile(code.removeprefix("py\n"), str(PAGE), "exec"), names)
                    assert capsys.readouterr().out == (after.removeprefix("text\n") if after[:5] == "text\n" else "")
            if section.startswith(heading):
                return names
        raise AssertionError(f"no section {heading}")

    return run


def test_a_topic_model_uses_it_as_its_clusterer(example):
    names = example("BERTopic")
    topics, embeddings, documents = (names[name] for name in ("topics", "embeddings", "documents"))
    assert list(topics.transform(documents[:5], embeddings[:5])[0]) == names["numbers"][:5]
    known = np.full(300, -1)
    known[:3], known[150:153] = 0, 1
    numbers = topics.fit_transform(documents, embeddings, y=known)[0]
    assert np.bincount(numbers).tolist() == [120, 80, 60, 40]


def test_layers_of_topics_are_cuts_of_one_tree(example):
    names = example("Toponymy")
    fine, coarse = (layer.cluster_labels for layer in names["layers"])
    assert len(set(zip(fine, coarse))) == 4, "every fine cluster is in one coarse cluster"
    assert sum(len(children) for parent, children in names["tree"].items() if parent[0] == 1) == 4
    assert [layer.layer_id for layer in names["layers"]] == [0, 1]


def test_it_ends_a_pipeline_of_maps(example):
    names = example("UMAP in a pipeline")
    model, embeddings = names["model"], names["embeddings"]
    assert len(model.predict(embeddings[:7])) == 7


def test_every_tool_of_the_page_has_a_version():
    table = PAGE.read_text(encoding="utf-8").split("## Versions tried")[1]
    rows = dict(line.strip("| ").split(" | ", 1) for line in table.splitlines() if line.startswith("| "))
    assert {"BERTopic", "Toponymy", "umap-learn", "scanpy with leidenalg"} < set(rows)
    untried = [tool for tool, row in rows.items() if not any(letter.isdigit() for letter in row.split(" | ")[0])]
    assert untried == ["tool", "CuPy"]
