"""Cutting objects out of small synthetic images, through the public API."""

import pickle

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from evencut.criteria import CRITERIA, Criterion, RatioProblem
from evencut.kernels import KNN, Gaussian
from evencut.segmentation import CellKNN, Segmentation, partition, segment
from evencut.segmentation.affinity import bilateral_gaussian, median_cells
from evencut.segmentation.cuts import boundary_weights
from evencut.segmentation.grid import boundary_energy
from evencut.segmentation.knowledge import KnownLevels
from evencut.segmentation.prompts import Click, check_box
from evencut.segmentation.session import evidence_of
from reproduction.sampled_knn import SampledKNN

RATIO_CRITERIA = sorted(CRITERIA)


def disc_image(size=48, radius=13, noise=0.06, seed=0, channels=3):
    """A bright disc on a dark ground, its truth and a box around it."""
    rng = np.random.default_rng(seed)
    y, x = np.indices((size, size)) - size // 2
    truth = x**2 + y**2 <= radius**2
    image = np.where(truth[..., None], np.linspace(0.7, 0.5, channels), np.linspace(0.2, 0.3, channels))
    image = np.clip(image + rng.normal(0, noise, size=image.shape), 0, 1)
    margin = size // 2 - radius - 4
    return image, truth, (margin, margin, size - margin, size - margin)


def error(mask, truth):
    return float((mask != truth).mean())


@pytest.mark.parametrize("criterion", ["entropy", *RATIO_CRITERIA])
@pytest.mark.parametrize("regularizer", ["contrast", "length", None])
def test_every_criterion_and_boundary_finds_the_disc(criterion, regularizer):
    image, truth, box = disc_image()
    result = segment(image, box=box, criterion=criterion, regularizer=regularizer)
    assert isinstance(result, Segmentation)
    assert result.mask.shape == truth.shape
    assert error(result.mask, truth) < 0.02


@pytest.mark.parametrize("criterion", RATIO_CRITERIA)
@pytest.mark.parametrize("equalize", [None, "weights", "exact"])
@pytest.mark.parametrize("kernel", ["knn", "gaussian"])
def test_energy_of_ratio_criteria_never_rises(criterion, equalize, kernel):
    image, _truth, box = disc_image(noise=0.15)
    result = segment(image, box=box, criterion=criterion, equalize=equalize, kernel=kernel, start="box")
    assert len(result.trace) > 1
    assert (np.diff(result.trace) <= 1e-9 * np.abs(result.trace[:-1])).all()
    assert result.energy == result.trace[-1]


def test_entropy_keeps_the_best_labelling_it_saw():
    image, _, box = disc_image(noise=0.2)
    result = segment(image, box=box, start="box")
    assert result.energy == min(result.trace)
    assert result.n_iter == len(result.trace) - 1


@pytest.mark.parametrize("criterion", RATIO_CRITERIA)
def test_energy_is_the_criterion_plus_the_boundary(criterion):
    image, _, box = disc_image()
    points = np.random.default_rng(0).normal(0, 0.1, size=(*image.shape[:2], 2)) + image[..., :1]
    kernel = KNN(n_neighbors=30)
    result = segment(image, box=box, criterion=criterion, kernel=kernel, features=points, smoothness=0.1)
    affinity = kernel.affinity(points.reshape(-1, 2).astype(np.float32).astype(float))
    problem = CRITERIA[criterion](affinity)
    unit = affinity.sum() / problem.weights.sum() / np.sqrt(len(affinity.indptr) - 1)
    weights = boundary_weights(image.astype(np.float32), "contrast")
    expected = problem.energy(result.labels.ravel()) + 0.1 * unit * boundary_energy(weights, result.labels)
    assert result.energy == pytest.approx(expected, rel=1e-6)


def test_criteria_are_one_on_exactly_equalized_affinities():
    image, _, box = disc_image(noise=0.15)
    masks = [
        segment(image, box=box, criterion=criterion, equalize="exact", regularizer=None).mask
        for criterion in RATIO_CRITERIA
    ]
    assert error(masks[0], masks[1]) < 0.005
    assert error(masks[0], masks[2]) < 0.005


def test_same_seed_same_mask_and_other_seed_other_graph():
    image, _, box = disc_image(noise=0.2)
    first, again = (segment(image, box=box, random_state=3) for _ in range(2))
    other = segment(image, box=box, random_state=4)
    assert (first.mask == again.mask).all()
    assert first.trace == again.trace
    assert first.trace != other.trace


@pytest.mark.parametrize("convert", [
    lambda image: (255 * image).astype(np.uint8),
    lambda image: (65535 * image).astype(np.uint16),
    lambda image: (4095 * image).astype(np.int32),
    lambda image: 255 * image,
    lambda image: image.astype(np.float32),
    lambda image: 2 * image - 1,
    lambda image: image[..., 0],
    lambda image: image[..., :1],
    lambda image: np.concatenate([image, image], axis=2),
], ids=["uint8", "uint16", "12-bit", "float255", "float32", "signed", "grey", "one-channel", "six-channels"])
def test_any_type_of_image(convert):
    image, truth, box = disc_image()
    assert error(segment(convert(image), box=box).mask, truth) < 0.02


def test_alpha_is_ignored_and_said_so():
    image, truth, box = disc_image()
    opaque = np.concatenate([image, np.random.default_rng(0).random((*truth.shape, 1))], axis=2)
    with pytest.warns(UserWarning, match="alpha"):
        result = segment(opaque, box=box)
    assert (result.mask == segment(image, box=box).mask).all()


def test_hard_box_holds_and_soft_box_does_not():
    image, truth, _ = disc_image()
    inner = (20, 20, 30, 30)
    inside = np.zeros(truth.shape, dtype=bool)
    inside[20:30, 20:30] = True
    hard = segment(image, box=inner)
    assert hard.mask.any()
    assert not (hard.mask & ~inside).any()
    soft = segment(image, box=inner, hard=False, start="box")
    assert error(soft.mask, truth) < 0.02


def test_rounds_at_a_smaller_size_and_contours_at_full_size():
    image, truth, box = disc_image(size=96, radius=30)
    result = segment(image, box=box, working_pixels=1000)
    assert error(result.mask, truth) < 0.02


def test_big_images_are_refined_tile_by_tile(monkeypatch):
    image, _truth, box = disc_image(size=96, radius=30)
    whole = segment(image, box=box, working_pixels=3000).mask
    monkeypatch.setattr("evencut.segmentation.engine._TILE", {2: 20})
    assert error(segment(image, box=box, working_pixels=3000).mask, whole) < 0.005


def test_a_small_box_in_a_large_image_sees_its_surroundings_only():
    image, truth, box = disc_image(size=48)
    rng = np.random.default_rng(0)
    large = np.clip(rng.normal(0.25, 0.05, size=(500, 600, 3)), 0, 1)
    large[200:248, 300:348] = image
    x0, y0, x1, y1 = box
    depth = np.zeros((500, 600))
    result = segment(large, box=(x0 + 300, y0 + 200, x1 + 300, y1 + 200), features=["lab", depth])
    assert result.labels.shape == (500, 600)
    assert error(result.mask[200:248, 300:348], truth) < 0.02
    assert not result.mask[:200].any()
    stroke = np.zeros((500, 600), dtype=int)
    stroke[222:226, 322:326] = 1
    assert not result.refine(stroke).mask[222:226, 322:326].any()
    stroke[5, 5] = 2
    with pytest.raises(ValueError, match="far outside the box"):
        result.refine(stroke)


def stripes(noise=0.05):
    """Three stripes of different colours and a stroke in each."""
    rng = np.random.default_rng(0)
    truth = np.repeat([3, 7, 5], 20)[None].repeat(40, axis=0)
    colors = {3: (0.8, 0.2, 0.2), 7: (0.2, 0.7, 0.3), 5: (0.2, 0.3, 0.8)}
    image = np.array([[colors[k] for k in row] for row in truth]) + rng.normal(0, noise, size=(40, 60, 3))
    strokes = np.zeros((40, 60), dtype=int)
    strokes[10:30, [10, 30, 50]] = [3, 7, 5]
    return np.clip(image, 0, 1), truth, strokes


@pytest.mark.parametrize("criterion", ["entropy", *RATIO_CRITERIA])
def test_any_number_of_labels_from_strokes(criterion):
    image, truth, strokes = stripes()
    result = segment(image, scribbles=strokes, criterion=criterion)
    assert set(np.unique(result.labels)) == {3, 5, 7}
    assert error(result.labels, truth) < 0.01
    with pytest.raises(ValueError, match="3 labels"):
        _ = result.mask
    if criterion != "entropy":
        assert (np.diff(result.trace) <= 1e-9).all()


def test_strokes_are_kept_however_thin():
    image, _truth, strokes = stripes()
    strokes[5, 12] = 7
    result = segment(image, scribbles=strokes, working_pixels=500)
    assert (result.labels[strokes > 0] == strokes[strokes > 0]).all()


def two_discs():
    rng = np.random.default_rng(0)
    y, x = np.indices((50, 90))
    left = (y - 25) ** 2 + (x - 25) ** 2 <= 100
    right = (y - 25) ** 2 + (x - 62) ** 2 <= 100
    image = np.full((50, 90, 3), 0.2)
    image[left] = (0.8, 0.5, 0.4)
    image[right] = (0.4, 0.5, 0.9)
    return np.clip(image + rng.normal(0, 0.05, size=image.shape), 0, 1), left, right


def test_refine_follows_a_stroke_and_leaves_the_first_result_alone():
    image, left, right = two_discs()
    first = segment(image, box=(10, 8, 78, 42))
    before = first.mask.copy()
    assert error(before, left | right) < 0.02
    stroke = np.zeros(left.shape, dtype=int)
    stroke[24:26, 60:64] = 1
    second = first.refine(stroke)
    assert error(second.mask, left) < 0.02
    assert (first.mask == before).all()
    back = np.zeros(left.shape, dtype=int)
    back[20:22, 60:64] = 2
    third = second.refine(back)
    assert third.mask[20:22, 60:64].all()
    assert not third.mask[24:26, 60:64].any()


def test_a_pickled_result_can_be_refined():
    image, left, _right = two_discs()
    first = segment(image, box=(10, 8, 78, 42), features=["lab", lambda small: 0 * small[..., :1]])
    stroke = np.zeros(left.shape, dtype=int)
    stroke[24:26, 60:64] = 1
    again = pickle.loads(pickle.dumps(first))
    assert (again.mask == first.mask).all()
    assert (again.refine(stroke).mask == first.refine(stroke).mask).all()


def test_a_new_criterion_is_known_at_once(monkeypatch):
    class HalfAssociation(Criterion):
        def problem(self, matrix, counts):
            return RatioProblem(matrix.rescaled(np.full(len(counts), 0.5**0.5)), counts)

    monkeypatch.setitem(CRITERIA, "half", HalfAssociation())
    image, truth, box = disc_image()
    result = segment(image, box=box, criterion="half", equalize="exact", smoothness=0.04)
    assert error(result.mask, truth) < 0.02
    whole = segment(image, box=box, criterion="average_association", equalize="exact", regularizer=None)
    half = segment(image, box=box, criterion="half", equalize="exact", regularizer=None)
    assert half.energy == pytest.approx(whole.energy / 2)


def test_box_and_strokes_together():
    image, left, _right = two_discs()
    stroke = np.zeros(left.shape, dtype=int)
    stroke[24:26, 60:64] = 1
    assert error(segment(image, box=(10, 8, 78, 42), scribbles=stroke).mask, left) < 0.02


def test_a_first_guess_replaces_the_start():
    image, truth, box = disc_image()
    guess = np.roll(truth, 3, axis=0)
    assert error(segment(image, mask=guess).mask, truth) < 0.02
    assert error(segment(image, mask=guess, box=box).mask, truth) < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_texture_tells_apart_what_color_cannot(seed):
    rng = np.random.default_rng(seed)
    truth = np.zeros((80, 120), dtype=bool)
    truth[20:60, 35:85] = True
    fine, coarse = (gaussian_filter(rng.normal(size=truth.shape), size) for size in (0.5, 2.5))
    grey = 0.5 + 0.15 * np.where(truth, fine / fine.std(), coarse / coarse.std())
    image = np.clip(grey[..., None] + rng.normal(0, 0.01, size=(80, 120, 3)), 0, 1)
    overlaps = []
    for features in ("auto", "lab"):
        mask = segment(image, box=(28, 14, 92, 66), features=features, max_iter=50).mask
        overlaps.append((mask & truth).sum() / (mask | truth).sum())
    assert overlaps[0] > 0.8
    assert overlaps[1] < 0.5


def test_users_features_tell_apart_what_color_cannot():
    _image, truth, box = disc_image()
    grey = np.random.default_rng(0).random(truth.shape)
    depth = truth + np.random.default_rng(1).normal(0, 0.1, size=truth.shape)
    kwargs = {"box": box, "start": "box", "regularizer": "length", "smoothness": 1.0}
    assert error(segment(grey, features=depth, **kwargs).mask, truth) < 0.02
    assert error(segment(grey, features=["lab", 5 * depth], **kwargs).mask, truth) < 0.02
    assert error(segment(grey, features=lambda small: depth, **kwargs).mask, truth) < 0.02
    with pytest.warns(UserWarning, match="do not tell"):
        assert error(segment(grey, **kwargs).mask, truth) > 0.1


@pytest.mark.parametrize(
    "kernel",
    [CellKNN(share=0.05), SampledKNN(share=0.05, keep=10), KNN(n_neighbors=20), Gaussian(0.5), "gaussian"],
    ids=["cells", "sampled", "neighbours", "gaussian", "scott"],
)
def test_kernels(kernel):
    image, truth, box = disc_image()
    assert error(segment(image, box=box, kernel=kernel, criterion="normalized_cut").mask, truth) < 0.02


@pytest.mark.parametrize("scale", [None, np.linspace(0.5, 2, 60)])
@pytest.mark.parametrize("kind", ["neighbours", "grid", "cells"])
def test_lazy_affinities_are_the_matrices_they_stand_for(kind, scale):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 2))
    knn = SampledKNN(share=0.5, keep=9)
    if kind == "cells":
        some_cells, others = (CellKNN(share=0.7, fineness=fineness).affinity(points, rng) for fineness in (5, 30))
        affinity = some_cells.joined(others)
    else:
        affinity = knn.affinity(points, rng) if kind == "neighbours" else bilateral_gaussian(points)
    if scale is not None:
        affinity = affinity.rescaled(scale)
    matrix = affinity @ np.eye(60)
    assert matrix == pytest.approx(matrix.T)
    assert affinity.diagonal() == pytest.approx(matrix.diagonal())
    some, others = np.array([5, 3, 40]), slice(10, 30)
    assert affinity.block(some) == pytest.approx(matrix[some])
    assert affinity.block(others, some) == pytest.approx(matrix[others][:, some])
    assert affinity.submatrix(some) @ np.eye(3) == pytest.approx(matrix[np.ix_(some, some)])
    labels = rng.integers(0, 3, size=60)
    assert affinity.links(labels, 3) == pytest.approx(matrix @ np.eye(3)[labels])


@pytest.mark.parametrize("n_features", [1, 3])
def test_cells_hold_equally_many_points_that_are_near_each_other(n_features):
    points = np.random.default_rng(0).normal(size=(1000, n_features))
    cells, n_cells = median_cells(points, 16)
    counts = np.bincount(cells, minlength=n_cells)
    assert counts.max() - counts.min() <= 1
    within = sum(points[cells == cell].var(axis=0).sum() * count for cell, count in enumerate(counts)) / len(points)
    assert within < 0.35 * points.var(axis=0).sum()
    equal, _ = median_cells(np.zeros((1000, n_features)), 16)
    assert np.bincount(equal).max() - np.bincount(equal).min() <= 1


@pytest.mark.parametrize(("n_points", "n_features"), [(60, 2), (3000, 3), (3000, 5)])
def test_cells_are_linked_to_their_nearest_cells(n_points, n_features):
    points = np.random.default_rng(1).normal(size=(n_points, n_features)) ** 3
    (cells, links), = CellKNN(share=0.05).affinity(points, np.random.default_rng(0)).layers
    n_cells = links.shape[0]
    centres = np.array([points[cells == cell].mean(axis=0) for cell in range(n_cells)])
    squared = ((centres[:, None] - centres) ** 2).sum(axis=2)
    n_near = round(links.sum() / n_cells)
    one_way = np.zeros((n_cells, n_cells))
    np.put_along_axis(one_way, np.argsort(squared, axis=1)[:, :n_near], 1.0, axis=1)
    assert np.allclose(links.toarray(), (one_way + one_way.T) / 2)


def test_a_box_that_leaves_a_sliver_outside_takes_the_rim_for_background():
    image, truth, _ = disc_image(size=256, radius=60)
    assert check_box((0, 0, 256, 255), (256, 256)) == (1, 1, 255, 255)
    assert error(segment(image, box=(0, 0, 256, 255)).mask, truth) < 0.02


def test_a_box_speaks_for_its_middle():
    image, _, _ = disc_image(size=80)
    state = segment(image, box=(10, 10, 70, 70))._state
    evidence = evidence_of(state.engine, state.knowledge)[:, 1].reshape(state.coarse.shape)
    assert evidence[40, 40] < 0 < evidence[12, 12]
    assert evidence.argmin() == np.ravel_multi_index((39, 39), evidence.shape)


@pytest.mark.parametrize("boxed", [False, True])
def test_what_is_known_after_clicks_is_the_same_as_made_anew(boxed):
    rng = np.random.default_rng(0)
    shape = (203, 301)
    outside = np.ones(shape, dtype=bool)
    outside[31:150, 44:207] = False
    known = np.where(outside & boxed, 0, -1).astype(np.int16)
    hidden = outside if boxed else None
    halvings = [(2, 2)] * 3
    levels = KnownLevels((known,), (hidden,), 2).deepened(halvings)
    for _ in range(12):
        at = (int(rng.integers(shape[0])), int(rng.integers(shape[1])))
        click = Click(at, bool(rng.integers(2)))
        levels = levels.with_click(click)
    again = KnownLevels((levels.known[0],), (hidden,), 2).deepened(halvings)
    for quick, slow in zip(levels.known, again.known):
        assert (quick == slow).all()
    assert (levels.known[0] != known).any()


def test_partition_numbers_regions_by_size():
    rng = np.random.default_rng(0)
    image = np.repeat([0.1, 0.5, 0.9], [10, 30, 20])[:, None] + rng.normal(0, 0.03, size=(60, 40))
    result = partition(np.clip(image, 0, 1), 3)
    expected = np.repeat([3, 1, 2], [10, 30, 20])[:, None].repeat(40, axis=1)
    assert error(result.labels, expected) < 0.01
    with pytest.raises(ValueError, match="cannot be refined"):
        result.refine(np.zeros((60, 40), dtype=int))


def test_result_at_rest_and_result_stopped_early():
    image, _, box = disc_image(noise=0.2)
    assert segment(image, box=box, criterion="normalized_cut", max_iter=50).converged
    with pytest.warns(UserWarning, match="max_iter=1"):
        result = segment(image, box=box, criterion="normalized_cut", start="box", max_iter=1)
    assert not result.converged


def test_too_strong_a_boundary_term_is_weakened():
    image, truth, box = disc_image()
    result = segment(image, box=box, smoothness=250.0)
    assert result.smoothness < 250.0
    assert error(result.mask, truth) < 0.05


IMAGE, TRUTH, BOX = disc_image()


@pytest.mark.parametrize(("change", "message"), [
    ({"box": (60, 60, 80, 80)}, "outside the image of 48 by 48"),
    ({"box": (10, 10, 10, 20)}, "is empty"),
    ({"box": (1, 2, 3)}, "four numbers"),
    ({"box": (1, 2, np.nan, 4)}, "four numbers"),
    ({"box": None}, "give a box, clicks, scribbles or a mask"),
    ({"box": None, "scribbles": np.pad([[1]], 24)[:48, :48]}, "1 label"),
    ({"box": None, "scribbles": np.zeros((48, 48), dtype=int)}, "0 labels"),
    ({"scribbles": np.zeros((4, 4), dtype=int)}, "shape"),
    ({"scribbles": np.full((48, 48), 0.5)}, "whole numbers"),
    ({"scribbles": np.full((48, 48), -1)}, "label -1"),
    ({"scribbles": np.full((48, 48), 3)}, "label 3"),
    ({"scribbles": np.full((48, 48), 1)}, "no pixel is left for label 2"),
    ({"mask": np.zeros((9, 9))}, "mask has shape"),
    ({"mask": np.zeros((48, 48))}, "one value everywhere"),
    ({"kernel": "cosine"}, "kernel='cosine'"),
    ({"kernel": 3}, "not a kernel"),
    ({"criterion": "ncut"}, "criterion='ncut'"),
    ({"equalize": "yes"}, "equalize='yes'"),
    ({"equalize": "weights"}, "entropy"),
    ({"regularizer": "tv"}, "regularizer='tv'"),
    ({"smoothness": -1}, "smoothness=-1"),
    ({"smoothness": "much"}, "smoothness='much'"),
    ({"features": "hsv"}, "features='hsv'"),
    ({"features": np.zeros((3, 3))}, "features have shape"),
    ({"features": np.full((48, 48), np.nan)}, "NaN"),
    ({"start": "middle"}, "start='middle'"),
    ({"max_iter": 0}, "max_iter=0"),
    ({"kernel": SampledKNN(share=2.0)}, "share=2.0"),
    ({"kernel": SampledKNN(keep=0)}, "keep=0"),
    ({"kernel": CellKNN(share=0.0)}, "share=0.0"),
    ({"kernel": CellKNN(fineness=0)}, "fineness=0"),
])
def test_bad_arguments_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        segment(IMAGE, **{"box": BOX, **change})


@pytest.mark.parametrize(("image", "message"), [
    (np.full((20, 20, 3), 7, dtype=np.uint8), "same colour everywhere"),
    (np.zeros((1, 1, 3)), "one pixel"),
    (np.zeros((0, 5, 3)), "shape"),
    (np.zeros(5), "shape"),
    (np.full((20, 20), "x"), "type"),
    (np.where(TRUTH, np.nan, 0.5), "NaN or infinity"),
])
def test_bad_images_are_named(image, message):
    with pytest.raises(ValueError, match=message):
        segment(image, box=(0, 0, 1, 1))


def test_box_over_everything_and_box_beyond_the_image_warn():
    with pytest.warns(UserWarning, match="whole image"):
        result = segment(IMAGE, box=(0, 0, 48, 48))
    assert error(result.mask, TRUTH) < 0.02
    with pytest.warns(UserWarning, match="clipped"):
        result = segment(IMAGE, box=(-5, 4, 44, 44))
    assert error(result.mask, TRUTH) < 0.02


def test_a_box_without_an_object_warns():
    checkered = np.where(np.indices((40, 40)).sum(axis=0)[..., None] % 2, 0.2, 0.8) * np.ones(3)
    with pytest.warns(UserWarning, match="do not tell"):
        segment(checkered, box=(10, 10, 30, 30))


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (3, 3), (1, 30), (5, 4)])
def test_tiny_images(shape):
    image = np.zeros((*shape, 3))
    image[-1, -1] = 1
    strokes = np.zeros(shape, dtype=int)
    strokes[0, 0], strokes[-1, -1] = 1, 2
    result = segment(image, scribbles=strokes)
    assert result.mask[-1, -1]
    assert not result.mask[0, 0]


@pytest.mark.parametrize("n_regions", [0, 1, 5])
def test_partition_refuses_impossible_numbers(n_regions):
    image = np.repeat([0.1, 0.5, 0.9], 5)[:, None].repeat(4, axis=1)
    with pytest.raises(ValueError, match=f"n_regions={n_regions}"):
        partition(image, n_regions)


@pytest.mark.parametrize("names", [(1, 2), (1, 5), (2, 3, 9)])
def test_codes_say_which_of_the_names_a_pixel_has(names):
    rng = np.random.default_rng(0)
    image = np.repeat(np.linspace(0.1, 0.9, len(names)), 20)[None, :].repeat(24, axis=0)
    scribbles = np.zeros(image.shape, dtype=int)
    for place, name in enumerate(names):
        scribbles[10:12, 20 * place + 8 : 20 * place + 12] = name
    result = segment(image + rng.normal(scale=0.02, size=image.shape), scribbles=scribbles)
    assert result.codes.dtype.itemsize <= 2
    assert np.array_equal(result.labels, np.array(names)[result.codes])
    assert result.labels.dtype == np.int64 and result.labels is result.labels
    assert np.array_equal(np.unique(result.labels), names)
    if len(names) == 2:
        assert np.array_equal(result.mask, result.labels == names[1])
