"""Single cells: labels land where scanpy's tools put theirs, from a space or from the graph that is there."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

anndata = pytest.importorskip("anndata", reason="the extra cells is not installed")

from evencut import EvenCut  # noqa: E402
from evencut.anndata import cluster, diagnose  # noqa: E402
from evencut.kernels import SharedNeighbors  # noqa: E402


@pytest.fixture
def cells():
    rng = np.random.default_rng(0)
    types = np.repeat([0, 1, 2], [150, 120, 30])
    spread = np.geomspace(20, 1, 12)
    places = 4 * rng.normal(size=(3, 12))[types] + rng.normal(size=(300, 12))
    adata = anndata.AnnData(rng.poisson(1.0, size=(300, 40)).astype(np.float32))
    adata.obsm["X_pca"] = (places * spread).astype(np.float32)
    adata.obs["type"] = [f"type {k}" for k in types]
    graph = SharedNeighbors(15).affinity(adata.obsm["X_pca"])
    graph.setdiag(0)
    adata.obsp["connectivities"] = graph
    adata.uns["neighbors"] = {"connectivities_key": "connectivities", "params": {}}
    return adata


@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_labels_are_categories_and_components_are_not_scaled(cells, n_clusters):
    assert cluster(cells, n_clusters) is None
    labels = cells.obs["evencut"]
    assert labels.cat.categories.tolist() == ["0", "1", "2"]
    assert adjusted_rand_score(labels, cells.obs["type"]) > 0.95
    assert cells.uns["evencut"]["n_clusters"] == 3
    assert cells.uns["evencut"]["params"]["use_rep"] == "X_pca"
    unscaled = EvenCut(n_clusters, scale=None, random_state=0).fit(cells.obsm["X_pca"])
    assert np.array_equal(labels.cat.codes, unscaled.labels_)


def test_what_noise_adds_to_every_component_is_taken_off(cells):
    rng = np.random.default_rng(1)
    signal = np.hstack([cells.obsm["X_pca"], np.zeros((300, 30))])
    signal[:, 12:] += 2 * rng.normal(size=(300, 30))
    spread = np.sort(signal.std(axis=0))[::-1]
    cells.obsm["X_pca"] = (signal / signal.std(axis=0) * spread).astype(np.float32)
    cluster(cells, 3)
    assert cells.uns["evencut"]["params"]["denoise"]
    values = cells.obsm["X_pca"]
    variance = values.var(axis=0, dtype=np.float64)
    less = values[:, :-1] * np.sqrt(1 - variance[-1] / variance[:-1]).astype(np.float32)
    np.testing.assert_allclose(less.var(axis=0), variance[:-1] - variance[-1], rtol=1e-4)
    by_hand = EvenCut(3, scale=None, random_state=0).fit(less)
    assert np.array_equal(cells.obs["evencut"].cat.codes, by_hand.labels_)
    cluster(cells, 3, denoise=False, key_added="as_is")
    as_is = EvenCut(3, scale=None, random_state=0).fit(values)
    assert np.array_equal(cells.obs["as_is"].cat.codes, as_is.labels_)


def test_components_that_are_all_alike_stay(cells):
    cells.obsm["X_pca"] = np.tile(cells.obsm["X_pca"][:, :1], 25)
    cluster(cells, 2)
    assert set(cells.obs["evencut"]) == {"0", "1"}


def test_the_graph_that_is_there_is_clustered(cells):
    cluster(cells, 3, neighbors_key="neighbors", key_added="on_graph")
    assert adjusted_rand_score(cells.obs["on_graph"], cells.obs["type"]) > 0.95


def test_a_copy_leaves_the_cells_alone(cells):
    other = cluster(cells, 3, copy=True, metric="cosine", use_rep="X")
    assert "evencut" in other.obs
    assert "evencut" not in cells.obs


def test_results_are_written_to_files(cells, tmp_path):
    cluster(cells, 3)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert again.obs["evencut"].tolist() == cells.obs["evencut"].tolist()
    assert again.uns["evencut"]["n_clusters"] == 3


def test_any_clustering_is_diagnosed(cells):
    assert not diagnose(cells, "type").biased
    cells.obs["half"] = np.where(cells.obsm["X_pca"][:, 0] > np.median(cells.obsm["X_pca"][:, 0]), "a", "b")
    assert {row.label for row in diagnose(cells, "half").clusters} == {"a", "b"}


def test_what_is_not_there_is_named(cells):
    with pytest.raises(KeyError, match=r"adata\.obsm has no 'X_scvi'"):
        cluster(cells, 3, use_rep="X_scvi")
    with pytest.raises(KeyError, match=r"run scanpy\.pp\.neighbors"):
        cluster(cells, 3, neighbors_key="nn")
    with pytest.raises(ValueError, match="leave use_rep and metric out"):
        cluster(cells, 3, neighbors_key="neighbors", use_rep="X_pca")
    with pytest.raises(KeyError, match=r"adata\.obs has no column 'leiden'"):
        diagnose(cells, "leiden")
    cells.obs["part"] = np.where(np.arange(300) < 5, None, "a")
    with pytest.raises(ValueError, match="5 cells have no label"):
        diagnose(cells, "part")
