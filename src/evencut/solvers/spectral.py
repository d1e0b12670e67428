r"""The spectral start: accurate eigenvectors of the normalised affinity, cut into clusters by k-means.

Every criterion starts from the spectrum of the normalised cut, :math:`D^{-1/2} A D^{-1/2}`, which leads to
better clusters than the criterion's own spectrum.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy
from scipy import sparse

from .._runtime import single_threaded_blas
from ..affinity import Affinity, AffinityLike, GraphAffinity, as_affinity
from ..criteria import RatioProblem
from ..tensors import AnyFloats, AnyInts, Floats, Ints, array_namespace, one_hot

# ARPACK misses copies of repeated eigenvalues unless asked for a few more.
_SPARE_VECTORS = 4
# Up to this size a factorisation is quick whatever the graph.
_SMALL_GRAPH = 3000
_FEW_HOPS = 9
# Vectors of larger graphs are only starts, and no start changes for being more exact than this.
_TOLERANCE = 1e-4


def spectral_embedding(affinity: AffinityLike, n_vectors: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    r"""Largest eigenvalues of :math:`D^{-1/2} A D^{-1/2}` and their eigenvectors, largest first.

    Connected components are solved one by one, so that repeated eigenvalues are never missed.

    Parameters
    ----------
    affinity : ndarray, CSR array or lazy affinity of shape (n, n)
        Symmetric, with positive degrees.
    n_vectors : int
    rng : Generator
        Draws the start of the iteration.

    Returns
    -------
    values : ndarray of shape (n_vectors,)
    vectors : ndarray of shape (n, n_vectors)

    Examples
    --------
    >>> import numpy as np
    >>> values, vectors = spectral_embedding(np.kron(np.eye(2), np.ones((2, 2))), 2, np.random.default_rng(0))
    >>> values.round(6)
    array([1., 1.])
    """
    from scipy.sparse.csgraph import connected_components

    affinity = as_affinity(affinity)
    normalized = affinity.rescaled(1.0 / affinity.degrees() ** 0.5)
    if not normalized.is_graph:
        return _leading(normalized, n_vectors, rng)
    n_components, component = connected_components(normalized.graph, directed=False)
    if n_components == 1:
        return _leading(normalized, n_vectors, rng)
    values, vectors = _leading_of_components(normalized.graph, component, n_components, n_vectors, rng)
    order = np.argsort(-values, kind="stable")[:n_vectors]
    return values[order], vectors[:, order].toarray()


def kernel_coordinates(matrix: AffinityLike, weights: AnyFloats, n_vectors: int, rng: np.random.Generator) -> Floats:
    r"""Best low-rank approximation of the points in the space of the kernel :math:`M_{pq} / (w_p w_q)`.

    K-means on it approximates weighted kernel k-means (the paper's Discussion). Negative eigenvalues of
    improper kernels count as zero.

    Examples
    --------
    >>> import numpy as np
    >>> points = kernel_coordinates(np.array([[4.0, 0.0], [0.0, 1.0]]), np.ones(2), 2, np.random.default_rng(0))
    >>> np.abs(points)
    array([[2., 0.],
           [0., 1.]])
    """
    values, vectors = _leading(as_affinity(matrix).rescaled(1.0 / weights**0.5), n_vectors, rng)
    return vectors * values.clip(0) ** 0.5 / weights[:, None] ** 0.5


def _leading_of_components(
    graph: sparse.csr_array, component: AnyInts, n_components: int, n_vectors: int, rng: np.random.Generator
) -> tuple[Floats, sparse.csr_array]:
    """Eigenpairs of each component, heaviest component first so that it leads among equal eigenvalues."""
    size = np.bincount(component)
    by_component = np.split(np.argsort(component, kind="stable"), np.cumsum(size)[:-1])
    values, rows, columns, entries = [], [], [], []
    n_found = 0
    for c in np.argsort(-size, kind="stable"):
        members = by_component[c]
        # Beyond the leading vector of each component others count only while places are free.
        n_wanted = 1 if n_components >= n_vectors else min(n_vectors - n_components + 1, len(members))
        leading, vectors = _leading(GraphAffinity(graph[members][:, members]), n_wanted, rng)
        values.append(leading)
        rows.append(np.repeat(members, len(leading)))
        columns.append(np.tile(np.arange(n_found, n_found + len(leading)), len(members)))
        entries.append(vectors.ravel())
        n_found += len(leading)
        if n_components >= n_vectors and n_found == n_vectors:
            break
    position = (np.concatenate(rows), np.concatenate(columns))
    shape = (len(component), n_found)
    return np.concatenate(values), sparse.csr_array((np.concatenate(entries), position), shape=shape)


def leading_of_dense(matrix: Floats, n_vectors: int) -> tuple[Floats, Floats]:
    """The largest eigenvalues of a symmetric array, rising, and their vectors.

    Examples
    --------
    >>> import numpy as np
    >>> leading_of_dense(np.diag([3.0, 1.0, 2.0]), 2)[0]
    array([2., 3.])
    """
    n_points = len(matrix)
    # Where eigenvalues agree to the last bit LAPACK fails, or returns too few without a word; the full solver does not.
    with contextlib.suppress(np.linalg.LinAlgError):
        values, vectors = scipy.linalg.eigh(matrix, subset_by_index=(n_points - n_vectors, n_points - 1))
        if len(values) == n_vectors:
            return values, vectors
    values, vectors = np.linalg.eigh(matrix)
    return values[-n_vectors:], vectors[:, -n_vectors:]


def _leading(normalized: Affinity, n_vectors: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Leading eigenpairs of one symmetric matrix."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    n_points = normalized.shape[0]
    n_vectors = min(n_vectors, n_points)
    graph, array = normalized.graph, normalized.array
    if array is not None and not isinstance(array, np.ndarray):
        values, vectors = array_namespace(array).linalg.eigh(array)
        return values[-n_vectors:].flip(0), vectors[:, -n_vectors:].flip(1)
    n_asked = n_vectors + _SPARE_VECTORS
    in_memory = graph is not None or array is not None
    # Up to these sizes all eigenvectors cost less than a factorisation and its set-up.
    if in_memory and (n_points <= (3000 if graph is None else 400) or 2 * n_asked >= n_points):
        full = normalized.block(slice(None)).astype(np.float64, copy=False)
        values, vectors = leading_of_dense(full, n_vectors)
    elif graph is not None:
        # One thread: the vectors are too short to share out, and waiting threads burn more than they give.
        with single_threaded_blas:
            values, vectors = _leading_of_graph(graph.astype(np.float64), n_asked, rng)
    else:
        operator = LinearOperator(normalized.shape, matvec=lambda x: normalized @ x, dtype=np.float64)
        values, vectors = eigsh(operator, n_asked, which="LA", v0=rng.uniform(-1, 1, n_points), tol=1e-8)
    order = np.argsort(-values, kind="stable")[:n_vectors]
    return values[order], vectors[:, order]


def _leading_of_graph(normalized: sparse.csr_array, n_asked: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """By plain Lanczos where the graph is wide, by shift-invert where it is long or the first does not converge.

    A graph of high-dimensional points has a factor as full as a dense matrix, but is crossed in a few hops, and then
    its eigenvalues lie far apart. A graph of points on a plane is the other way round.
    """
    from scipy.sparse.csgraph import dijkstra
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n_points = normalized.shape[0]
    if n_points > _SMALL_GRAPH:
        hops = dijkstra(normalized, indices=int(rng.integers(n_points)), unweighted=True)
        if np.median(hops) <= _FEW_HOPS:
            start, basis = rng.uniform(-1, 1, n_points), max(3 * n_asked, 60)
            try:
                options = {"tol": _TOLERANCE, "ncv": basis, "maxiter": 50}
                return eigsh(normalized, n_asked, which="LA", v0=start, **options)
            except ArpackNoConvergence:
                pass
    return _shift_invert(normalized, n_asked, rng)


def _shift_invert(normalized: sparse.csr_array, n_asked: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

    n_points = normalized.shape[0]
    # Above the largest eigenvalue, which is one, so that the matrix is positive definite.
    shift = 1 + 1e-6
    shifted = sparse.csc_array(sparse.eye_array(n_points) * shift - normalized)
    factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    inverse = LinearOperator(normalized.shape, matvec=factor.solve, dtype=np.float64)
    start = rng.uniform(-1, 1, n_points)
    tolerance = _TOLERANCE if n_points > _SMALL_GRAPH else 0.0
    try:
        nearness, vectors = eigsh(inverse, n_asked, which="LA", v0=start, tol=tolerance)
    except ArpackNoConvergence:
        nearness, vectors = eigsh(inverse, n_asked, which="LA", v0=start, ncv=4 * n_asked, maxiter=100 * n_points)
    return shift - 1 / nearness, vectors


def cut_embedding(vectors: Floats, n_clusters: int, rng: np.random.Generator) -> Ints:
    """Clusters of the rows of an embedding by k-means.

    Examples
    --------
    >>> import numpy as np
    >>> labels = cut_embedding(np.array([[1.0, 0.0], [0.9, 0.0], [0.0, 1.0]]), 2, np.random.default_rng(0))
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    if not isinstance(vectors, np.ndarray):
        return _cut_tensor(vectors, n_clusters, rng)
    import warnings

    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    seed = int(rng.integers(2**31))
    # One thread: the order of sums, and with it the labels, must not depend on the machine.
    with single_threaded_blas, warnings.catch_warnings():
        # Fewer distinct rows than clusters is not an error: empty clusters are filled afterwards.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(n_clusters, n_init=1, random_state=seed).fit_predict(vectors).astype(np.int64)


def _cut_tensor(vectors: Any, n_clusters: int, rng: np.random.Generator) -> Any:
    """The same on the device of the rows, where scikit-learn's loops do not reach."""
    centres = _far_seeds(vectors, n_clusters, rng.uniform(size=n_clusters))
    labels = _nearest_centre(vectors, centres)
    for _ in range(100):
        members = one_hot(labels, n_clusters)
        count = members.sum(axis=0)[:, None]
        centres = array_namespace(count).where(count > 0, members.T @ vectors / count.clip(1), centres)
        moved = _nearest_centre(vectors, centres)
        if (moved == labels).all():
            break
        labels = moved
    return labels


def _nearest_centre(vectors: Any, centres: Any) -> Any:
    return ((centres**2).sum(axis=1) - 2 * (vectors @ centres.T)).argmin(axis=1)


def _far_seeds(vectors: Any, n_seeds: int, draws: Floats) -> Any:
    """Rows drawn with chances by their squared distance to the seeds before (k-means++)."""
    rows = [int(draws[0] * len(vectors))]
    nearest = ((vectors - vectors[rows[0]]) ** 2).sum(axis=1)
    for draw in draws[1:]:
        reached = nearest.cumsum(0)
        rows.append(min(int((reached < reached[-1] * float(draw)).sum()), len(vectors) - 1))
        nearest = array_namespace(nearest).minimum(nearest, ((vectors - vectors[rows[-1]]) ** 2).sum(axis=1))
    return vectors[rows]


def normalized_rows(vectors: Floats) -> Floats:
    """The rows at length one, so that points of low degree have the same influence; empty rows are unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> normalized_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    xp = np if isinstance(vectors, np.ndarray) else array_namespace(vectors)
    length = (vectors**2).sum(axis=1)[:, None] ** 0.5
    return vectors / xp.where(length > 0, length, 1.0)


def spectral_starts(problem: RatioProblem, n_clusters: int, n_init: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Cuts by k-means, from different seeds, of the spectrum of the normalised cut.

    Kernel k-means on a dense kernel also starts from the kernel's own principal components, which lead to
    lower energies there; on a sparse graph these sit on its hubs and are of no use.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import normalized_cut
    >>> problem = normalized_cut(np.kron(np.eye(2), np.ones((2, 2))))
    >>> len(list(spectral_starts(problem, 2, 3, np.random.default_rng(0))))
    3
    """
    links = _linking_part(problem)
    _, vectors = spectral_embedding(links, n_clusters, rng)
    embeddings = [normalized_rows(vectors)]
    if problem.matrix.is_array and problem.diagonal is None:
        ratio = links.degrees() / problem.weights
        if not array_namespace(ratio).allclose(ratio, ratio[0], rtol=1e-6):
            embeddings.append(normalized_rows(kernel_coordinates(problem.matrix, problem.weights, n_clusters, rng)))
    for _ in range(n_init):
        for embedding in embeddings:
            yield cut_embedding(embedding, n_clusters, rng)


def fill_empty(labels: Ints, n_clusters: int, movable: Any = None) -> Ints:
    """The labels with every empty cluster given one point of the largest; of the `movable` points, a mask, if given.

    Examples
    --------
    >>> import numpy as np
    >>> fill_empty(np.array([0, 0, 0]), 2)
    array([0, 0, 1])
    """
    xp = np if isinstance(labels, np.ndarray) else array_namespace(labels)
    labels = xp.asarray(labels, dtype=xp.int64) + 0
    count = xp.bincount(labels, minlength=n_clusters)
    empty = xp.where(count == 0)[0]
    if movable is not None:
        count = xp.bincount(labels[movable], minlength=n_clusters)
    for k in empty:
        largest = int(count.argmax())
        if not count[largest]:
            raise ValueError(f"all points are labelled, and none as cluster {int(k)}; ask for fewer clusters.")
        is_candidate = labels == largest if movable is None else (labels == largest) & movable
        labels[xp.where(is_candidate)[0][-1]] = k
        count[largest] -= 1
        count[k] += 1
    return labels


def _linking_part(problem: RatioProblem) -> Affinity:
    """A matrix with positive degrees to take the spectrum of: the affinity, or one shifted to be non-negative."""
    matrix, lowest = problem.matrix, problem.matrix.least()
    if lowest >= 0:
        isolated = matrix.degrees() <= 0
        if not isolated.any():
            return matrix
        # A point without links has no direction in the spectrum; a separate one isolates it.
        alone = 1.0 * isolated
        diagonal = sparse.diags_array(alone) if matrix.is_graph else array_namespace(alone).diag(alone)
        return as_affinity(matrix.entries + diagonal)
    if matrix.is_graph:
        return as_affinity(abs(matrix.entries) + sparse.eye_array(len(problem.weights)) * 1e-12)
    return as_affinity(matrix.entries - lowest)


def leading_vectors(
    multiply: Callable[[Any], Any], start: Any, n_wanted: int, *, tol: float = 1e-3, n_steps: int = 20
) -> tuple[Any, Any]:
    """Largest eigenvalues of a symmetric matrix and their eigenvectors, largest first.

    Parameters
    ----------
    multiply : callable
        From a table of columns to the matrix times the table.
    start : array or tensor of shape (n, n_block), in double precision
        Where the iteration starts; a few more columns than are wanted speed it up.
    n_wanted : int
    tol : float
        Largest length of a residual, of eigenvectors of length one.
    n_steps : int

    Examples
    --------
    >>> import numpy as np
    >>> matrix = np.diag([3.0, 1.0, 2.0, 0.5])
    >>> leading_vectors(lambda V: matrix @ V, np.ones((4, 1)), 1, tol=1e-9)[0].round(6)
    array([3.])
    """
    xp = array_namespace(start)
    block = xp.linalg.qr(start)[0]
    n_block = block.shape[1]
    image = multiply(block)
    step = image_of_step = block[:, :0]
    for _ in range(n_steps):
        values, turn = xp.linalg.eigh(block.T @ image)
        block, image = block @ turn, image @ turn
        residual = image - block * values
        if float((residual**2).sum(axis=0)[-n_wanted:].max()) <= tol**2:
            break
        # A direction already in the block would only bring rounding.
        residual = xp.linalg.qr(residual - block @ (block.T @ residual))[0]
        basis = xp.concatenate([block, residual, step], axis=1)
        images = xp.concatenate([image, multiply(residual), image_of_step], axis=1)
        mixture = _best_mixture(basis, images, n_block)
        step, image_of_step = basis[:, n_block:] @ mixture[n_block:], images[:, n_block:] @ mixture[n_block:]
        block, image = basis @ mixture, images @ mixture
    values, turn = xp.linalg.eigh(block.T @ image)
    return xp.flip(values[-n_wanted:], (0,)), xp.flip(block @ turn[:, -n_wanted:], (1,))


def _best_mixture(basis: Any, images: Any, n_wanted: int) -> Any:
    """Mixtures of the basis, orthonormal, with the largest Rayleigh quotients."""
    xp = array_namespace(basis)
    lengths, axes = xp.linalg.eigh(basis.T @ basis)
    # Shorter directions are rounding.
    is_long = lengths > 1e-12 * lengths[-1]
    upright = axes[:, is_long] * lengths[is_long] ** -0.5
    inner = upright.T @ (basis.T @ images) @ upright
    return upright @ xp.linalg.eigh(0.5 * (inner + inner.T))[1][:, -n_wanted:]


def spectral_start(problem: RatioProblem, n_clusters: int, n_init: int, rows: Any, rng: np.random.Generator) -> Ints:
    """Labels of all points from the best of several cuts of the spectrum of the normalised cut.

    Parameters
    ----------
    problem : RatioProblem
    n_clusters, n_init : int
    rows : array or tensor of whole numbers
        A sample, from whose eigenvectors the iteration starts.
    rng : Generator
    """
    root = problem.matrix.degrees()[:, None] ** -0.5
    start = _from_sample(problem.matrix, n_clusters + _SPARE_VECTORS, rows, rng) / root
    vectors = leading_vectors(lambda V: root * problem.matrix.matmul_fast(root * V), start, n_clusters)[1]
    embedding = normalized_rows(vectors)
    cuts = [fill_empty(cut_embedding(embedding, n_clusters, rng), n_clusters) for _ in range(n_init)]
    return min(cuts, key=problem.energy)


def _from_sample(matrix: Affinity, n_vectors: int, rows: Any, rng: np.random.Generator) -> Any:
    """Smooth functions on all points: a sample's eigenvectors averaged by a kernel as wide as the sample is thin.

    At the bandwidths of all points the sample would be lonely, and its matrix diagonal. An affinity that cannot be made
    wider starts from random functions.
    """
    if not hasattr(matrix, "widened"):
        return matrix.asarray(rng.standard_normal((matrix.shape[0], n_vectors)))
    # In the sample a kernel must reach as many neighbours.
    wide, scale = matrix.widened(rows, 7)
    xp = array_namespace(scale)
    dense = wide.block(rows) * scale[:, None] * scale
    root = dense.sum(axis=1) ** -0.5
    vectors = xp.linalg.eigh(dense * root[:, None] * root)[1][:, -n_vectors:]
    # The first column is what the averages are divided by.
    table = xp.concatenate([scale[:, None], vectors * (root * scale)[:, None]], axis=1)
    sums = wide.matmul_fast(table)
    return sums[:, 1:] / sums[:, :1].clip(1e-37)
