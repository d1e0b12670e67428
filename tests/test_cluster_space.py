"""`transform` and `score`: distances whose smallest is the cluster predicted, and a score for grid searches."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from evencut import EvenCut, KernelClustering, KernelKMeans, LandmarkClustering, NormalizedCut
from evencut.datasets import make_clumped_moons
from evencut.kernels import KNN, Gaussian

X, Y = make_clumped_moons(300, clump=0.5, random_state=0)
X.setflags(write=False)
KERNELS = [None, "shared_neighbors", "knn", "gaussian", "adaptive_gaussian", "local_scaling", "geodesic"]


@pytest.mark.parametrize("equalize", [None, "weights", "exact"])
@pytest.mark.parametrize("criterion", ["normalized_cut", "average_association", "average_cut"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_smallest_distance_is_the_cluster_predicted(kernel, criterion, equalize):
    model = EvenCut(3) if kernel is None else KernelClustering(3, kernel=kernel, criterion=criterion, equalize=equalize)
    model.set_params(random_state=0).fit(X)
    new = X[::2] + 0.02
    distances = model.transform(new)
    assert distances.shape == (150, 3)
    assert np.isfinite(distances).all()
    np.testing.assert_array_equal(distances.argmin(axis=1), model.predict(new))


def test_distances_are_those_of_kernel_k_means():
    model = KernelKMeans(2, kernel=Gaussian(0.5), random_state=0).fit(X)
    A = Gaussian(0.5).affinity(X)
    for k in range(2):
        inside = model.labels_ == k
        naive = -2 * A[:, inside].mean(axis=1) + A[np.ix_(inside, inside)].mean()
        np.testing.assert_allclose(model.transform(X)[:, k], naive, rtol=1e-9)
        # With the squared length of a point, which is one, they are squares.
        assert (naive + 1 >= -1e-12).all()


def test_a_point_far_from_all_is_where_its_nearest_is():
    model = NormalizedCut(2, kernel=Gaussian(0.1), random_state=0).fit(X)
    far = np.array([[1e3, 0.0], [-1e3, 0.0]])
    nearest = X[[X[:, 0].argmax(), X[:, 0].argmin()]]
    np.testing.assert_allclose(model.transform(far), model.transform(nearest))
    immense = np.array([[1e200, 0.0]])
    assert np.isfinite(model.transform(immense)).all()
    assert model.score(immense) == 0


def test_the_score_is_modularity_and_knows_the_better_kernel():
    model = NormalizedCut(2, kernel=KNN(10), random_state=0).fit(X)
    A = KNN(10).affinity(X).toarray()
    degree = A.sum(axis=1)
    assert model.score(X) == pytest.approx(1 - 0.5, abs=0.02)
    assert NormalizedCut(1, kernel=KNN(10)).fit(X).score(X) == pytest.approx(0)
    wrong = NormalizedCut(2, kernel=Gaussian(2.0), random_state=0).fit(X)
    assert wrong.score(X) < model.score(X)
    chance = np.array([degree[model.labels_ == k].sum() for k in range(2)]) / degree.sum()
    rows = KNN(10).extend(X)(X).toarray()
    own = np.array([row[model.labels_ == k].sum() / row.sum() for row, k in zip(rows, model.predict(X))])
    assert model.score(X) == pytest.approx(np.mean(own - chance[model.predict(X)]))


def test_a_grid_search_finds_a_kernel_that_holds():
    search = GridSearchCV(NormalizedCut(2, kernel=KNN(), random_state=0), {"kernel__n_neighbors": [8, 150]}, cv=3)
    search.fit(X)
    assert search.best_params_ == {"kernel__n_neighbors": 8}
    assert search.best_estimator_.predict(X).shape == (300,)


def test_clusters_are_features_for_the_next_step():
    last = LogisticRegression(C=1e6, max_iter=2000)
    pipeline = make_pipeline(KernelClustering(4, kernel="knn", random_state=0), last)
    assert pipeline.fit(X, Y).score(X, Y) > 0.9
    model = pipeline[0]
    assert list(model.get_feature_names_out()) == [f"kernelclustering{k}" for k in range(4)]
    framed = KernelClustering(2, kernel="knn", random_state=0).set_output(transform="pandas").fit_transform(X)
    assert list(framed.columns) == ["kernelclustering0", "kernelclustering1"]


def test_precomputed_rows_are_transformed_too():
    A = KNN(10).affinity(X)
    model = KernelClustering(2, kernel="precomputed", random_state=0).fit(A)
    points = KernelClustering(2, kernel=KNN(10), random_state=0).fit(X)
    rows = KNN(10).extend(X)(X + 0.01)
    np.testing.assert_allclose(model.transform(rows), points.transform(X + 0.01), rtol=1e-9)


def test_landmarks_give_distances_and_a_score_too():
    model = LandmarkClustering(2, n_landmarks=60, random_state=0).fit(X)
    distances = model.transform(X)
    assert distances.shape == (300, 2)
    np.testing.assert_allclose(distances.sum(axis=1), 1)
    np.testing.assert_array_equal(distances.argmin(axis=1), model.predict(X))
    assert 0.4 < model.score(X) < 0.6
    assert LandmarkClustering(1, n_landmarks=60, random_state=0).fit(X).score(X) == pytest.approx(0)
    search = GridSearchCV(LandmarkClustering(2, random_state=0), {"n_landmarks": [5, 60]}, cv=3).fit(X)
    assert search.best_params_ == {"n_landmarks": 60}
