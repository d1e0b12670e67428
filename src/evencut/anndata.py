"""Single cells: clusters and their diagnosis written into an AnnData object, as scanpy's tools do.

Cells are clustered in a reduced space such as their principal components, or on the neighbour graph that is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from . import EvenCut, KernelClustering
from . import diagnose as _diagnose
from .diagnosis import BiasReport

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["cluster", "diagnose"]

# With fewer components than this the last one may still tell types apart.
_FEWEST_WITH_NOISE = 20


def cluster(
    adata: AnnData,
    n_clusters: int | str = "auto",
    *,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    metric: str = "euclidean",
    denoise: bool = True,
    key_added: str = "evencut",
    random_state: int = 0,
    n_jobs: int | None = None,
    copy: bool = False,
    **options: Any,
) -> AnnData | None:
    """Cluster the cells of an AnnData object.

    Labels go to `adata.obs[key_added]`, a categorical of strings numbered by falling weight, and what was done to
    `adata.uns[key_added]`.

    Parameters
    ----------
    adata : AnnData
    n_clusters : int or "auto", default="auto"
        As in :class:`evencut.EvenCut`.
    use_rep : str, optional
        Where the cells are: a name in `adata.obsm`, or `"X"`. `"X_pca"` where it is there, else `"X"`.
    neighbors_key : str, optional
        Cluster the neighbour graph that `scanpy.pp.neighbors` left instead: `"neighbors"`, or its `key_added`.
    metric : str, default="euclidean"
        As in :class:`evencut.EvenCut`.
    denoise : bool, default=True
        Take the noise off principal components: noise adds the same variance to each of them, about that of the last,
        so that much is taken off the variance of every one. Does nothing to other spaces than `"X_pca"`, nor where
        there are fewer than 20 components. Small types, which few components separate, gain most.
    key_added : str, default="evencut"
    random_state : int, default=0
    n_jobs : int or None, default=None
    copy : bool, default=False
        Return a changed copy and leave `adata` alone.
    **options
        Further parameters of :class:`evencut.EvenCut` or, with `neighbors_key` or a `kernel` among them, of
        :class:`evencut.KernelClustering`.

    Returns
    -------
    AnnData or None

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData  # doctest: +SKIP
    >>> adata = AnnData(np.random.default_rng(0).normal(size=(100, 20)))  # doctest: +SKIP
    >>> cluster(adata, 3)  # doctest: +SKIP
    >>> adata.obs["evencut"].cat.categories.tolist()  # doctest: +SKIP
    ['0', '1', '2']
    """
    import pandas as pd

    if neighbors_key is not None and (use_rep is not None or metric != "euclidean"):
        raise ValueError("neighbors_key uses the graph unchanged; leave use_rep and metric out.")
    adata = adata.copy() if copy else adata
    # Components have one unit, and their spreads mean something: they are not scaled.
    settings = {"random_state": random_state, "n_jobs": n_jobs, "scale": None, "metric": metric, **options}
    if neighbors_key is not None:
        settings.setdefault("kernel", "precomputed")
    model = (KernelClustering if "kernel" in settings else EvenCut)(n_clusters, **settings)
    place = None if neighbors_key is not None else _representation(adata, use_rep)
    data = _connectivities(adata, neighbors_key) if neighbors_key is not None else _values(adata, place)
    denoised = denoise and place == "X_pca" and data.shape[1] >= _FEWEST_WITH_NOISE
    model.fit(_less_noise(data) if denoised else data)
    names = [str(k) for k in range(model.n_clusters_)]
    adata.obs[key_added] = pd.Categorical.from_codes(model.labels_, categories=names)
    adata.uns[key_added] = {
        "params": {
            "n_clusters": str(n_clusters),
            "use_rep": str(place),
            "neighbors_key": str(neighbors_key),
            "metric": metric,
            "denoise": bool(denoised),
            "random_state": random_state,
        },
        "n_clusters": int(model.n_clusters_),
    }
    if isinstance(model, KernelClustering):
        adata.uns[key_added]["energy"] = float(model.energy_)
    else:
        adata.uns[key_added]["confidence"] = float(model.confidence_)
    return adata if copy else None


def diagnose(
    adata: AnnData,
    labels: str = "evencut",
    *,
    use_rep: str | None = None,
    metric: str = "euclidean",
    **options: Any,
) -> BiasReport:
    """Report whether a clustering of cells, made by any tool, is an artefact of density.

    Parameters
    ----------
    adata : AnnData
    labels : str, default="evencut"
        The column of `adata.obs` that holds the clusters, such as `"leiden"`.
    use_rep, metric
        As in :func:`cluster`.
    **options
        Passed on to :func:`evencut.diagnose`.

    Returns
    -------
    BiasReport

    Examples
    --------
    >>> print(diagnose(adata, "leiden"))  # doctest: +SKIP
    """
    if labels not in adata.obs:
        raise KeyError(f"adata.obs has no column {labels!r}; it has {list(adata.obs.columns)}.")
    names = adata.obs[labels]
    if names.isna().any():
        raise ValueError(f"{int(names.isna().sum())} cells have no label in adata.obs[{labels!r}]; leave them out.")
    values = _values(adata, _representation(adata, use_rep))
    return _diagnose(values, np.asarray(names.astype(str)), metric=metric, **options)


def _representation(adata: Any, use_rep: str | None) -> str:
    """The name of the space to use, once it is seen to be there."""
    if use_rep is None:
        return "X_pca" if "X_pca" in adata.obsm else "X"
    if use_rep != "X" and use_rep not in adata.obsm:
        raise KeyError(f"adata.obsm has no {use_rep!r}; it has {list(adata.obsm.keys())}, and 'X' means adata.X.")
    return use_rep


def _values(adata: Any, place: str | None) -> Any:
    values = adata.X if place == "X" else adata.obsm[place]
    if values is None:
        raise ValueError("adata.X is empty; name a space of adata.obsm as use_rep.")
    if sparse.issparse(values):
        return sparse.csr_array(values)
    return np.asarray(values)


def _less_noise(components: Any) -> Any:
    """Principal components with the variance of the last taken off each: what noise adds to all of them alike."""
    variance = components.var(axis=0, dtype=np.float64)
    is_larger = variance > variance[-1]
    if not is_larger.any():
        return components
    share = np.sqrt(1 - variance[-1] / variance[is_larger])
    return components[:, is_larger] * share.astype(components.dtype)


def _connectivities(adata: Any, neighbors_key: str) -> sparse.csr_array:
    """The graph of scanpy.pp.neighbors, which is symmetric but for rounding."""
    if neighbors_key not in adata.uns:
        raise KeyError(f"adata.uns has no {neighbors_key!r}; run scanpy.pp.neighbors(adata) first.")
    graph = sparse.csr_array(adata.obsp[adata.uns[neighbors_key].get("connectivities_key", "connectivities")])
    return graph.maximum(graph.T).tocsr()
