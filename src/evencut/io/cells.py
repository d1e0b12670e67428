"""Cells from AnnData files (.h5ad): what is noted of each cell, its principal components, and its genes, as columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .._lazy import require
from .._runtime import one_line
from ..tensors import Floats
from .binary import list_names
from .columns import Column, Frame, distinct_names
from .files import Source, TableError
from .in_memory import column_in_memory, named_columns

_COMPONENTS = "X_pca"


def cells_frame(source: Source, places_of: Callable[[list[str]], list[int]] | None) -> Frame:
    """The columns of `obs`, `X_pca[0]`, `X_pca[1]`, ... and the genes of an AnnData file.

    Parameters
    ----------
    source : Source
        Of more genes than its limits allow, those with the largest variance are read.
    places_of : callable, optional
        Chooses columns by their names; by default `X_pca`, or the genes without it. Genes become dense only
        once they are chosen.
    """
    noted, components, genes, matrix = _read(source)
    n_rows, n_first = matrix.shape[0], len(noted) + components.shape[1]
    source.limits.check_size(n_rows, n_first + 1)
    n_allowed, notices = min(source.limits.columns, source.limits.cells // n_rows) - n_first, []
    if len(genes) > n_allowed:
        varying = np.sort(np.argsort(-_variances(matrix), kind="stable")[: int(n_allowed)])
        notices = [f"the {len(varying)} genes with the largest variance are read, of {len(genes)}"]
        genes, matrix = [genes[place] for place in varying], matrix[:, varying]
    names = distinct_names([*noted, *list_names(_COMPONENTS, components.shape[1]), *genes])
    features = range(len(noted), n_first) if n_first > len(noted) else range(n_first, len(names))
    chosen = list(features) if places_of is None else places_of(names)
    expressed = matrix[:, [place - n_first for place in chosen if place >= n_first]]
    values = iter((expressed.toarray() if sparse.issparse(expressed) else np.asarray(expressed)).T)
    columns = []
    for place in chosen:
        if place < len(noted):
            columns.append(column_in_memory(names[place], noted[names[place]]))
        else:
            numbers = components[:, place - len(noted)] if place < n_first else next(values)
            columns.append(Column(names[place], np.asarray(numbers, dtype=np.float64)))
    return Frame(source.name, columns, notices=tuple(notices), noted=tuple(noted))


def _read(source: Source) -> tuple[dict[str, Any], Floats, list[str], Any]:
    """What is noted by name, principal components, names of genes, and the matrix, stored by genes where sparse."""
    read = require("anndata.io", ".h5ad files need anndata", "cells").read_elem
    try:
        with source.stored() as stored, require("h5py", ".h5ad files need h5py", "cells").File(stored) as file:
            noted = dict(named_columns(read(file["obs"])))
            genes = read(file["var"]).index.astype(str).tolist()
            matrix = read(file["X"])
            components = read(file["obsm"][_COMPONENTS]) if _COMPONENTS in file.get("obsm", ()) else None
    except (OSError, KeyError, ValueError, AttributeError) as error:
        raise TableError(f"{source.name} is not an AnnData file that can be read ({one_line(error)}).") from error
    if components is None:
        components = np.empty((matrix.shape[0], 0))
    return noted, np.asarray(components), genes, sparse.csc_array(matrix) if sparse.issparse(matrix) else matrix


def _variances(matrix: Any) -> Floats:
    """The variance of each gene; of counts, that of their logarithms."""
    values = matrix.astype(np.float32)
    if values.min() >= 0:
        values = values.log1p() if sparse.issparse(values) else np.log1p(values)
    squares = values.multiply(values) if sparse.issparse(values) else values**2
    means, mean_squares = (np.asarray(each.mean(axis=0), dtype=np.float64).ravel() for each in (values, squares))
    return mean_squares - means**2
