"""Displays draw what they are given, in colours that differ, and say what is missing."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from evencut import EvenCut, NormalizedCut
from evencut.datasets import make_clumped_moons, make_rings
from evencut.plotting import (
    PALETTE,
    BorderDisplay,
    ClusterDisplay,
    DensityDisplay,
    EnergyDisplay,
    make_figure,
    plot_selection,
    plot_tree,
)

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture
def ax():
    return make_figure()[1]


def test_every_point_is_drawn_once_in_the_colour_of_its_cluster(ax):
    X, y = make_rings(90, random_state=0)
    display = ClusterDisplay.from_labels(X, y, ax=ax, title="rings")
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert ax.get_title() == "rings"
    for label, drawn in enumerate(display.collections_):
        np.testing.assert_array_equal(drawn.get_offsets(), X[y == label])
        color = matplotlib.colors.to_hex(drawn.get_facecolor()[0])
        assert color == PALETTE[label].lower()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0 (45 points)", "1 (45 points)"]


def test_the_estimator_gives_the_labels_and_must_be_fitted(ax):
    X, _ = make_rings(50, random_state=0)
    model = KMeans(3, n_init=1, random_state=0)
    with pytest.raises(ValueError, match="not fitted"):
        ClusterDisplay.from_estimator(model, X, ax=ax)
    display = ClusterDisplay.from_estimator(model.fit(X), X, ax=ax, legend=False)
    np.testing.assert_array_equal(display.labels, model.labels_)
    assert ax.get_legend() is None
    with pytest.raises(ValueError, match="one entry for each of 20 points"):
        ClusterDisplay.from_estimator(model, X[:20], ax=ax)


def test_many_clusters_all_look_different_and_noise_is_grey(ax):
    labels = np.arange(-1, 64)
    display = ClusterDisplay.from_labels(np.random.default_rng(0).normal(size=(65, 2)), labels, ax=ax)
    looks = {
        (tuple(drawn.get_facecolor()[0]), drawn.get_paths()[0].vertices.tobytes()) for drawn in display.collections_[1:]
    }
    assert len(looks) == 64
    assert ax.get_legend().get_title().get_text() == "cluster (and 33 more)"
    red, green, blue, _ = display.collections_[0].get_edgecolor()[0]
    assert red == green == blue


def test_palette_colours_stay_apart_for_every_kind_of_colour_blindness():
    """Simulated by dropping one cone response (Viénot, Brettel and Mollon, 1999), colours still differ."""
    rgb = np.array([matplotlib.colors.to_rgb(color) for color in PALETTE])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    protan = np.array([[0.1124, 0.8876, 0.0], [0.1124, 0.8876, 0.0], [0.0040, -0.0040, 1.0]])
    deutan = np.array([[0.2928, 0.7072, 0.0], [0.2928, 0.7072, 0.0], [-0.0223, 0.0223, 1.0]])
    for sight in (np.eye(3), protan, deutan):
        seen = np.clip(linear @ sight.T, 0, 1) ** (1 / 2.2)
        distances = np.linalg.norm(seen[:, None] - seen[None], axis=2) + np.eye(len(PALETTE)) * 9
        assert distances.min() > 0.1


def test_axes_say_what_is_drawn(ax):
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(40, 6)) * [9, 5, 1, 1, 1, 1]
    display = ClusterDisplay.from_labels(wide, np.zeros(40, int), ax=ax)
    assert display.points.shape == (40, 2)
    assert "principal component 1 (7" in ax.get_xlabel()
    frame = pd.DataFrame({"length": wide[:, 0], "width": wide[:, 1]})
    ClusterDisplay.from_labels(frame, np.zeros(40, int), ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")
    line = ClusterDisplay.from_labels(wide[:, :1], np.zeros(40, int), ax=ax)
    np.testing.assert_array_equal(line.points, np.column_stack([wide[:, 0], np.zeros(40)]))


def test_equal_points_and_a_single_point_are_drawn_without_a_warning(ax):
    ClusterDisplay.from_labels(np.ones((5, 4)), np.zeros(5, int), ax=ax)
    ClusterDisplay.from_labels(np.ones((1, 4)), np.zeros(1, int), ax=ax)


def test_wrong_labels_are_named(ax):
    with pytest.raises(ValueError, match=r"labels has shape \(3,\); it must have one entry for each of 4 points"):
        ClusterDisplay.from_labels(np.zeros((4, 2)), [0, 1, 2], ax=ax)


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "evencut\[plot\]"'):
        ClusterDisplay.from_labels(np.zeros((4, 2)), [0, 1, 0, 1])


def test_density_lies_under_the_points_and_is_highest_in_the_clump(ax):
    X, y = make_clumped_moons(300, clump=0.8, random_state=0)
    display = DensityDisplay.from_labels(X, y, ax=ax, legend=False)
    assert display.ax_ is ax
    assert len(display.clusters.collections_) == 2
    assert all(display.contours_.get_zorder() < drawn.get_zorder() for drawn in display.clusters.collections_)
    inner = [path for path in display.contours_.get_paths() if len(path.vertices)][-1]
    np.testing.assert_allclose(inner.vertices.mean(axis=0), [0, 1], atol=0.15)
    with pytest.raises(ValueError, match="do not lie on a line"):
        DensityDisplay.from_labels([[0.0, 0], [1, 1], [2, 2]], [0, 0, 1], ax=ax)


def test_borders_are_those_of_predict(ax):
    X, _ = make_rings(200, random_state=0)
    model = EvenCut(2, random_state=0).fit(X)
    display = BorderDisplay.from_estimator(model, X, ax=ax, resolution=30, legend=False)
    left, right, bottom, top = display.regions_.get_extent()
    shown = display.regions_.get_array()
    for p in model.predict([[0.0, 0.0]]):
        middle = shown[round(-bottom / (top - bottom) * 29), round(-left / (right - left) * 29), :3]
        np.testing.assert_allclose(middle, matplotlib.colors.to_rgb(PALETTE[p]))
    with pytest.raises(ValueError, match="two features"):
        BorderDisplay.from_estimator(model, np.ones((5, 3)), ax=ax)


def test_energies_of_the_solver_are_drawn_as_they_are(ax):
    X, _ = make_rings(200, random_state=0)
    model = NormalizedCut(2, kernel="knn", random_state=0)
    with pytest.raises(ValueError, match="not fitted"):
        EnergyDisplay.from_estimator(model, ax=ax)
    display = EnergyDisplay.from_estimator(model.fit(X), ax=ax, color="black")
    np.testing.assert_array_equal(display.line_.get_ydata(), model.energy_trace_)
    assert display.line_.get_color() == "black"


def test_immense_values_are_drawn_in_a_unit_that_is_named(ax, rng):
    for n_features, name in ((1, "/ 1e+308"), (2, "/ 1e+308"), (4, "of the variance) / 1e+308")):
        X = rng.choice([-1e308, 0.0, 1e308], size=(30, n_features)) * 1.5
        display = ClusterDisplay.from_labels(X, np.arange(30) % 2, ax=ax)
        assert np.abs(display.points).max() < 10
        assert name in ax.get_xlabel()
        ax.figure.canvas.draw()


def test_density_ends_where_the_points_end(ax):
    """Nothing is shaded between two moons, or a bandwidth of one moon away from both."""
    X, y = make_clumped_moons(600, clump=0.0, random_state=0)
    display = DensityDisplay.from_labels(X, y, ax=ax, legend=False)
    shaded = np.concatenate([path.vertices for path in display.contours_.get_paths() if len(path.vertices)])
    away = cdist(shaded, X).min(axis=1)
    assert away.max() < 0.25


def numbers(chosen, agreements, chances, n_clusters=None):
    """A selection with the curve of a number."""
    tried = [
        SimpleNamespace(n_clusters=k, agreement=agreement, chance=chance, gain=(agreement - chance) / (1 - chance))
        for k, agreement, chance in zip((2, 3, 4, 6, 8, 16, 36), agreements, chances)
    ]
    best_first = tuple(sorted(tried, key=lambda number: -number.gain))
    assert best_first[0].n_clusters == chosen
    return SimpleNamespace(numbers=best_first, n_clusters=n_clusters or chosen)


def test_the_number_stands_on_the_curve_of_agreement_beside_chance(ax):
    agreements, chances = [0.5, 0.6, 0.9, 0.7, 0.5, 0.3, 0.2], [0.4, 0.4, 0.3, 0.3, 0.25, 0.2, 0.2]
    assert plot_selection(numbers(4, agreements, chances), ax) is ax
    agreement, chance, mark = ax.lines
    assert agreement.get_xdata().tolist() == chance.get_xdata().tolist() == [2, 3, 4, 6, 8, 16, 36]
    assert agreement.get_ydata().tolist() == agreements
    assert chance.get_ydata().tolist() == chances
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (4, 0.9)
    assert ax.get_title() == "4 clusters"
    assert {"agreement", "by chance"} <= {text.get_text() for text in ax.get_legend().get_texts()}
    assert "36" not in {text.get_text() for text in ax.get_xticklabels()}
    assert {"2", "4", "8", "16"} <= {text.get_text() for text in ax.get_xticklabels()}


def test_the_number_of_given_distances_stands_on_a_curve(ax):
    X = np.concatenate([np.random.default_rng(seed).normal(9 * seed, 1, (40, 2)) for seed in range(3)])
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    EvenCut(metric="precomputed", random_state=0).fit(distances).plot_selection(ax)
    assert np.isfinite(ax.lines[0].get_ydata()).all()
    assert ax.get_title() == "3 clusters"


def test_a_number_off_the_curve_says_where_the_curve_is_clearest(ax):
    agreements, chances = [0.5, 0.6, 0.9, 0.7, 0.5, 0.3, 0.2], [0.4, 0.4, 0.3, 0.3, 0.25, 0.2, 0.2]
    plot_selection(numbers(4, agreements, chances, n_clusters=1), ax)
    assert ax.get_title() == "1 cluster; the curve is clearest at 4"


def test_candidates_are_bars_by_principle_with_votes_and_consensus(ax):
    candidates = [
        SimpleNamespace(principle=principle, kind=kind, scale=0, system="as given")
        for principle, kind in [("cut", "step"), ("cut", "step"), ("centre", "k-means"), ("spectral", "rows")]
    ]
    selection = SimpleNamespace(
        numbers=(), candidates=candidates, consensus=np.array([0.9, 0.8, 0.7, 0.1]),
        votes=np.array([1.0, 1.0, 1.5, 0.5]), confidence=0.83,
    )  # fmt: skip
    plot_selection(selection, ax)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert len(set(names)) == 4
    assert sorted(bar.get_width() for bar in ax.patches) == [0.1, 0.7, 0.8, 0.9]
    legend = {text.get_text() for text in ax.get_legend().get_texts()}
    assert legend == {"cut (50% of the votes)", "centre (38% of the votes)", "spectral (12% of the votes)"}
    assert "0.83" in ax.get_title()


def test_a_tree_shows_its_joins_its_clusters_and_whole_marks(ax):
    linkage = np.array([[0, 1, 0.86, 2], [2, 3, 0.9, 2], [4, 5, 0.99, 4]])
    leaf_of_row = np.repeat([0, 1, 2, 3], [10, 20, 5, 5])
    plot_tree(linkage, 2, [2], ax, labels=np.repeat([0, 1], [30, 10]), leaf_of_row=leaf_of_row)
    low, high = ax.get_ylim()
    assert 0.8 < low < 0.86 and high > 0.99
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["cluster 0 (30 rows)", "cluster 1 (10 rows)"]
    assert sorted(text.get_text() for text in ax.get_xticklabels()) == ["10", "20", "5", "5"]
    to_hex = pytest.importorskip("matplotlib.colors").to_hex
    drawn = {to_hex(color) for lines in ax.collections for color in lines.get_colors()}
    assert {PALETTE[0].lower(), PALETTE[1].lower()} <= drawn
    ax.figure.canvas.draw()
    mark, axes = ax.texts[0].get_window_extent(), ax.get_window_extent()
    assert mark.x0 >= axes.x0 and mark.x1 <= axes.x1
