"""Volumes: the same code in three dimensions, voxels longer than wide, files, and the command."""

import itertools
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt, gaussian_filter, label
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from evencut.datasets import make_volume
from evencut.segmentation import read_volume, segment, segment_many, write_labels
from evencut.segmentation.distances import barrier_distances, geodesic_distance
from evencut.segmentation.grid import directions, edge_measures, lengths, neighbor_pairs
from evencut.segmentation.volumes import Volume

SPACING = (2.0, 1.0, 1.0)


def dice(mask, truth):
    return 2 * (mask & truth).sum() / (mask.sum() + truth.sum())


@pytest.fixture(scope="module")
def scan():
    volume, labels = make_volume("nested", (20, 48, 44), SPACING, noise=0.05, random_state=0)
    return SimpleNamespace(volume=volume, truth=labels > 0, labels=labels, click=(22, 12, 10))


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (3.0, 1.0, 1.0), (1.0, 2.0, 0.7)])
def test_a_boundary_costs_its_area_however_it_lies(spacing):
    """By Cauchy and Crofton: a plane of any direction cuts edges worth its area."""
    steps = np.array(directions(3)) * np.array(spacing) / np.prod(spacing) ** (1 / 3)
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(200, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    costs = np.maximum(normals @ steps.T, 0) @ edge_measures(spacing)
    # What a unit of length costs in a plane, on average over its directions.
    angle = np.linspace(0, 2 * np.pi, 1000)
    ways = np.maximum(np.array(directions(2)) @ np.stack([np.cos(angle), np.sin(angle)]), 0)
    plane = ways.T @ edge_measures((1.0, 1.0))
    assert abs(costs.mean() / plane.mean() - 1) < 0.02
    assert costs.std() / costs.mean() < 0.12


def graph_of(shape, cost):
    index = np.arange(np.prod(shape)).reshape(shape)
    pairs = [
        (index[here].ravel(), index[there].ravel(), cost(d, here, there).ravel())
        for d, here, there in neighbor_pairs(shape)
    ]
    tails, heads, values = (np.concatenate(part) for part in zip(*pairs))
    return coo_array((values, (tails, heads)), shape=(index.size, index.size)).tocsr()


@pytest.mark.parametrize("shape", [(9, 11), (5, 6, 7)])
def test_geodesic_distances_are_those_of_dijkstra(shape, rng):
    # Smooth ground: few sweeps reach everything.
    ground = np.cumsum(rng.random((*shape, 2)), axis=len(shape) - 1)
    spacing = (2.0, 1.0, 1.5)[: len(shape)]
    seeds = np.zeros(shape, dtype=bool)
    seeds[(2,) * len(shape)] = True
    away = lengths(spacing)
    def cost(d, here, there):
        return np.linalg.norm(ground[here] - ground[there], axis=-1) + 0.3 * away[d]

    exact = dijkstra(graph_of(shape, cost), indices=np.flatnonzero(seeds)[0]).reshape(shape)
    assert np.allclose(geodesic_distance(ground, seeds, step=0.3, spacing=spacing), exact)


def test_barriers_stop_in_space_what_has_no_way_around(rng):
    channel = np.zeros((7, 7, 7, 1))
    channel[3] = 1
    seeds = np.zeros((7, 7, 7), dtype=bool)
    seeds[0, 0, 0] = True
    behind = barrier_distances(channel, [seeds], smoothing=0)[0][5, 3, 3]
    channel[3, 6, 6] = 0
    assert behind == 1 and barrier_distances(channel, [seeds], smoothing=0)[0][5, 3, 3] == 0


def test_a_click_cuts_a_blob_out_and_more_clicks_refine_it(scan):
    first = segment(scan.volume, clicks=[(*scan.click, "object")], spacing=SPACING)
    assert first.mask.shape == scan.volume.shape and dice(first.mask, scan.truth) > 0.9
    second = first.refine(clicks=[(0, 0, 0, "background"), (22, 24, 10, "object")])
    assert dice(second.mask, scan.truth) > 0.9 and second.previous is first
    assert second.mask[10, 24, 22] and not second.mask[0, 0, 0]


@pytest.mark.parametrize(
    ("kind", "seed", "places"),
    [
        ("blobs", 3, [(31, 31, 8), (49, 14, 7), (35, 42, 7), (41, 29, 6), (41, 23, 7)]),
        ("nested", 3, [(31, 33, 7), (49, 41, 4), (47, 40, 4), (45, 29, 12), (21, 14, 6)]),
    ],
)
def test_a_click_beside_the_contour_changes_little(kind, seed, places):
    """The last click is on the object, a voxel away from it: it must not bring in what was given up before."""
    volume, labels = make_volume(kind, (16, 64, 64), (4.0, 1.0, 1.0), random_state=seed)
    truth = labels > 0
    clicks = [(x, y, z, "object" if truth[z, y, x] else "background") for x, y, z in places]
    before = segment(volume, clicks=clicks[:-1], spacing=(4.0, 1.0, 1.0))
    after = before.refine(clicks=clicks[-1:])
    assert dice(before.mask, truth) > 0.98
    assert dice(after.mask, truth) > 0.98


def test_a_box_and_strokes_on_slices(scan):
    places = np.nonzero(scan.truth)
    first, last = ([int(axis.min()) for axis in places], [int(axis.max()) + 1 for axis in places])
    boxed = segment(scan.volume, box=(*first[::-1], *last[::-1]), spacing=SPACING)
    assert dice(boxed.mask, scan.truth) > 0.9
    strokes = np.zeros(scan.volume.shape, dtype=int)
    strokes[10, 24, 18:26], strokes[2, 2, 2:40] = 2, 1
    drawn = segment(scan.volume, scribbles=strokes, spacing=SPACING)
    assert (drawn.labels[strokes > 0] == strokes[strokes > 0]).all() and dice(drawn.mask, scan.truth) > 0.6


def test_axes_can_be_turned(scan):
    """The same object comes out whichever axis the slices are cut along."""
    x, y, z = scan.click
    turned = segment(scan.volume.T, clicks=[(z, y, x, "object")], spacing=SPACING[::-1])
    straight = segment(scan.volume, clicks=[(x, y, z, "object")], spacing=SPACING)
    assert dice(turned.mask.T, straight.mask) > 0.95


@pytest.mark.parametrize("axis", range(3))
def test_fewer_slices_of_the_same_object_give_the_same_mask(axis):
    """Every third slice along one axis, at three times the distance; taken for near ones, they say something else."""
    volume, labels = make_volume("nested", (36, 36, 36), (1.0, 1.0, 1.0), random_state=0)
    place = [int(at) for at in np.argwhere(labels == 2)[(labels == 2).sum() // 2]]
    whole = segment(volume, clicks=[(*place[::-1], "object")], spacing=(1.0, 1.0, 1.0)).mask
    kept = tuple(slice(place[a] % 3, None, 3) if a == axis else slice(None) for a in range(3))
    place[axis] //= 3
    agreement = []
    for side in (3.0, 1.0):
        spacing = [side if a == axis else 1.0 for a in range(3)]
        few = segment(volume[kept], clicks=[(*place[::-1], "object")], spacing=spacing).mask
        agreement.append(dice(few, whole[kept]))
    assert agreement[0] > 0.975
    assert agreement[0] > agreement[1]


def test_a_large_volume_is_drawn_at_every_size(scan):
    """Halved along the finest axes first; what was clicked stays."""
    result = segment(scan.volume, clicks=[(*scan.click, "object")], spacing=SPACING, working_pixels=11_000)
    assert result._state.coarse.shape == (20, 24, 22)
    assert result.mask[scan.click[::-1]] and dice(result.mask, scan.truth) > 0.85


def test_too_large_a_volume_says_that_it_is_cut_at_half_its_size(scan, monkeypatch):
    monkeypatch.setattr("evencut.segmentation.grid.MOST_DRAWN", 20_000)
    with pytest.warns(UserWarning, match="20 x 48 x 44 voxels, more than 20000"):
        result = segment(scan.volume, clicks=[(*scan.click, "object")], spacing=SPACING, working_pixels=11_000)
    coarse = result.mask[:, ::2, ::2]
    assert dice(result.mask, scan.truth) > 0.8
    free = np.ones(scan.volume.shape, dtype=bool)
    free[8:13, 9:16, 19:26] = False
    assert (coarse.repeat(2, 1).repeat(2, 2) == result.mask)[free].all()


def test_several_organs_at_once(scan):
    inner = tuple(int(at) for at in np.argwhere(scan.labels == 2).mean(axis=0).round())[::-1]
    prompts = [
        {"clicks": [(*scan.click, "object"), (0, 0, 0, "background")]},
        {"clicks": [(*inner, "object")]},
    ]
    many = segment_many(scan.volume, prompts, spacing=SPACING)
    assert many.labels.shape == scan.volume.shape and set(np.unique(many.labels)) == {0, 1, 2}
    assert many.labels[inner[::-1]] == 2 and many.labels[scan.click[::-1]] == 1


def test_colours_and_channels_of_volumes(scan):
    both = np.stack([scan.volume, 1 - scan.volume], axis=-1)
    result = segment(both, clicks=[(*scan.click, "object")], spacing=SPACING)
    assert dice(result.mask, scan.truth) > 0.9


@pytest.mark.parametrize(
    ("hints", "message"),
    [
        ({"clicks": [(1, 2, "object")], "spacing": (1, 1, 1)}, r"must be \(x, y, z, 'object'\)"),
        ({"clicks": [(44, 2, 3, "object")]}, "outside the image of 44 by 48 by 20"),
        ({"clicks": [(1, 2, 3, "object")], "spacing": (1, 0, 1)}, "positive numbers"),
        ({"clicks": [(1, 2, 3, "object"), (1, 2, 3, "background")]}, r"\(1, 2, 3\) is clicked as object and"),
        ({"box": (1, 2, 3, 1, 5, 6)}, "x0 < x1 and y0 < y1 and z0 < z1"),
        ({"box": (1, 2, 3, 4), "spacing": (1, 1, 1)}, "must be six numbers"),
    ],
)
def test_mistakes_are_named(scan, hints, message):
    with pytest.raises(ValueError, match=message):
        segment(scan.volume, **hints)


def test_scanner_units_do_not_matter(scan):
    """A few voxels of metal, and another unit, change nothing that matters."""
    units = scan.volume * 1000 - 1024
    units[0, 0, :3] = 30_000
    plain = segment(scan.volume, clicks=[(*scan.click, "object")], spacing=SPACING)
    result = segment(units.astype(np.int16), clicks=[(*scan.click, "object")], spacing=SPACING)
    assert dice(result.mask, plain.mask) > 0.97


def save_nifti(path, volume):
    nibabel = pytest.importorskip("nibabel", reason="nibabel is not installed")
    affine = np.array([[-1.0, 0, 0, 5], [0, 1, 0, -7], [0, 0, 2, 3], [0, 0, 0, 1]])
    nibabel.Nifti1Image((volume.T * 1000).astype(np.int16), affine).to_filename(path)


def save_tiff(path, volume):
    tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
    tifffile.imwrite(path, volume, imagej=True, resolution=(1, 1), metadata={"axes": "ZYX", "spacing": 2.0})


def save_nrrd(path, volume):
    nrrd = pytest.importorskip("nrrd", reason="pynrrd is not installed")
    header = {"space": "left-posterior-superior", "space directions": np.diag([1.0, 1, 2]), "space origin": [1.0, 2, 3]}
    nrrd.write(str(path), volume, header, index_order="C")


def save_zarr(path, volume):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    group = zarr.open_group(str(path), mode="w")
    scales = [{"type": "scale", "scale": [1.0, 1.0, 2.0, 1.0, 1.0]}]
    sizes = [{"path": "0", "coordinateTransformations": scales}]
    image = {"axes": [{"name": name} for name in "tczyx"], "datasets": sizes}
    group.attrs["multiscales"] = [image]
    group.create_array("0", data=volume[None, None])


SAVERS = {"scan.nii.gz": save_nifti, "scan.nii": save_nifti, "scan.tif": save_tiff, "scan.nrrd": save_nrrd}
READ_ONLY = {"scan.ome.zarr": save_zarr}


@pytest.mark.parametrize("name", SAVERS | READ_ONLY)
def test_the_command_cuts_volumes_of_every_format(run, scan, tmp_path, name):
    (SAVERS | READ_ONLY)[name](tmp_path / name, scan.volume)
    volume = read_volume(tmp_path / name)
    assert volume.voxels.shape == scan.volume.shape and volume.spacing == SPACING
    out = f"mask-{name}" if name in SAVERS else "mask.nii"
    done = run("segment", name, "--click", ",".join(map(str, scan.click)), "-o", out)
    assert done.code == 0, done.err
    mask = read_volume(tmp_path / out)
    assert set(np.unique(mask.voxels)) == {0, 1} and mask.spacing == SPACING
    assert dice(mask.voxels > 0, scan.truth) > 0.9


def test_a_mask_has_the_place_in_space_of_its_volume(run, scan, tmp_path):
    nibabel = pytest.importorskip("nibabel", reason="nibabel is not installed")
    save_nifti(tmp_path / "scan.nii.gz", scan.volume)
    assert run("segment", "scan.nii.gz", "--click", "22,12,10", "-o", "a.nii.gz").code == 0
    whole, mask = nibabel.load(tmp_path / "scan.nii.gz"), nibabel.load(tmp_path / "a.nii.gz")
    assert (mask.affine == whole.affine).all() and mask.shape == whole.shape
    assert type(mask) is type(whole) and mask.get_data_dtype() == np.uint8
    first = (tmp_path / "a.nii.gz").read_bytes()
    assert run("segment", "scan.nii.gz", "--click", "22,12,10", "-o", "a.nii.gz").code == 0
    assert (tmp_path / "a.nii.gz").read_bytes() == first


def test_colours_of_ome_zarr_come_last_and_what_is_no_volume_is_named(tmp_path):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    cases = (("good.zarr", "czyx", (2, 3, 4, 5)), ("flat.zarr", "cyx", (2, 4, 5)), ("none.zarr", "", (3,)))
    for name, axes, shape in cases:
        group = zarr.open_group(str(tmp_path / name), mode="w")
        if axes:
            image = {"axes": [{"name": axis} for axis in axes], "datasets": [{"path": "0"}]}
            group.attrs["ome"] = {"multiscales": [image]}
        group.create_array("0", data=np.arange(np.prod(shape)).reshape(shape))
    good = read_volume(tmp_path / "good.zarr")
    assert good.voxels.shape == (3, 4, 5, 2) and good.spacing == (1.0, 1.0, 1.0)
    assert good.voxels[0, 0, 0].tolist() == [0, 60]
    with pytest.raises(ValueError, match="its axes are cyx"):
        read_volume(tmp_path / "flat.zarr")
    with pytest.raises(ValueError, match="no multiscales"):
        read_volume(tmp_path / "none.zarr")
    with pytest.raises(ValueError, match=r"cannot write mask\.zarr"):
        write_labels("mask.zarr", None, np.zeros((3, 4, 5), int), good)


@pytest.mark.parametrize("name, out", list(itertools.permutations(("a.nii.gz", "b.nrrd"), 2)))
def test_a_mask_of_another_format_keeps_orientation_and_spacing(run, scan, tmp_path, name, out):
    """An oblique volume; both formats say where it lies, one to the right and anterior, the other as it was written."""
    pytest.importorskip("nrrd", reason="pynrrd is not installed")
    turn = np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, -1]]) @ np.diag([1.0, 1, 2])
    oblique = Volume(scan.volume, SPACING, np.block([[turn, np.array([[5.0], [-7], [3]])], [0, 0, 0, 1]]))
    with (tmp_path / name).open("wb") as file:
        write_labels(name, file, scan.labels, oblique)
    assert run("segment", name, "--click", ",".join(map(str, scan.click)), "-o", out).code == 0
    mask = read_volume(tmp_path / out)
    assert np.allclose(mask.affine, oblique.affine, atol=1e-5) and np.allclose(mask.spacing, SPACING, atol=1e-5)


def test_a_stack_of_plain_pages_and_the_place_of_ome_zarr(scan, tmp_path):
    tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    tifffile.imwrite(tmp_path / "pages.tif", (scan.volume * 255).astype(np.uint8), photometric="minisblack")
    pages = read_volume(tmp_path / "pages.tif")
    assert pages.voxels.shape == scan.volume.shape and pages.spacing == (1.0, 1.0, 1.0)
    group = zarr.open_group(str(tmp_path / "placed.zarr"), mode="w")
    steps = [{"type": "scale", "scale": [2, 1, 1]}, {"type": "translation", "translation": [7, 8, 9]}]
    datasets = [{"path": "0", "coordinateTransformations": steps}]
    group.attrs["multiscales"] = [{"axes": [{"name": axis} for axis in "zyx"], "datasets": datasets}]
    group.create_array("0", data=scan.volume)
    assert read_volume(tmp_path / "placed.zarr").affine[:3, 3].tolist() == [9, 8, 7]


def test_several_objects_by_one_command(run, scan, tmp_path):
    save_nifti(tmp_path / "scan.nii.gz", scan.volume)
    inner = tuple(int(at) for at in np.argwhere(scan.labels == 2).mean(axis=0).round())[::-1]
    clicks = ("--click", ",".join(map(str, scan.click)), "--not", "0,0,0", "--also", ",".join(map(str, inner)))
    done = run("segment", "scan.nii.gz", *clicks, "-o", "organs.nii.gz")
    assert done.code == 0 and "label 2:" in done.err, done.err
    organs = read_volume(tmp_path / "organs.nii.gz").voxels
    assert organs[inner[::-1]] == 2 and organs[scan.click[::-1]] == 1 and set(np.unique(organs)) == {0, 1, 2}
    alone = run("segment", "scan.nii.gz", "--also", "1,2,3")
    assert alone.code == 2 and "show the first with --click or --box" in " ".join(alone.err.split())


def test_mistakes_of_the_command_cost_one_line(run, scan, tmp_path):
    save_nifti(tmp_path / "scan.nii.gz", scan.volume)
    (tmp_path / "broken.nii.gz").write_bytes(b"no volume")
    for arguments, message in (
        (("scan.nii.gz", "--click", "22,12"), "three numbers X,Y,Z"),
        (("scan.nii.gz", "--click", "22,12,10", "-o", "mask.png"), "must end in one of .nii"),
        (("scan.nii.gz", "--click", "22,12,10", "--cutout", "c.png"), "--cutout is for photos"),
        (("scan.nii.gz", "--box", "1,2,3,4"), "six numbers"),
        (("broken.nii.gz", "--click", "1,2,3"), "damaged"),
        (("missing.nii.gz", "--click", "1,2,3"), "does not exist"),
    ):
        done = run("segment", *arguments)
        assert done.code == 2 and message in " ".join(done.err.split()), done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.nii.gz", "scan.nii.gz"]


def test_label_maps_of_other_formats_keep_the_size_of_voxels(scan, tmp_path):
    pytest.importorskip("nibabel", reason="nibabel is not installed")
    pytest.importorskip("tifffile", reason="tifffile is not installed")
    for name, other in itertools.permutations(("a.nii", "b.tif"), 2):
        volume = Volume(scan.volume, SPACING)
        for path in (tmp_path / name, tmp_path / other):
            with path.open("wb") as file:
                write_labels(path, file, scan.labels, volume)
            volume = read_volume(path)
            assert volume.spacing == SPACING and (volume.voxels == scan.labels).all()


@pytest.mark.parametrize("kind", ["nested", "tubes", "blobs"])
def test_made_up_volumes_are_the_same_twice_and_of_known_shapes(kind):
    one, labels = make_volume(kind, (12, 30, 30), random_state=3)
    again, _ = make_volume(kind, (12, 30, 30), random_state=3)
    assert (one == again).all() and one.dtype == np.float32
    clean, _ = make_volume(kind, (12, 30, 30), noise=0, bias=0, random_state=3)
    assert clean[labels == 1].min() > clean[labels == 0].min()
    with pytest.raises(ValueError, match="kind='cube' is not known"):
        make_volume("cube")


@pytest.mark.parametrize("n_slices", [1, 2])
def test_a_volume_of_one_or_two_slices_has_an_inside(n_slices):
    """Slices without one on either side are no rim: else all of the volume would stand for background."""
    voxels = np.random.default_rng(0).normal(0.3, 0.05, (n_slices, 40, 40))
    voxels[:, 10:30, 10:30] += 0.4
    mask = segment(voxels, spacing=(3, 1, 1), clicks=[(20, 20, 0, "object")]).mask
    assert mask[:, 10:30, 10:30].all() and mask.sum() == n_slices * 400


@pytest.mark.parametrize("spacing", [(1, 1), 1.0, "fine"])
def test_a_wrong_spacing_is_named_where_clicks_say_that_this_is_a_volume(spacing):
    voxels = np.random.default_rng(0).normal(size=(6, 20, 20))
    with pytest.raises(ValueError, match=r"spacing=.* must have 3 numbers"):
        segment(voxels, spacing=spacing, clicks=[(10, 10, 3, "object")])


def test_a_click_without_its_slice_is_named_among_others_that_have_one():
    voxels = np.random.default_rng(0).normal(size=(6, 20, 20))
    with pytest.raises(ValueError, match=r"\(2, 2, 'background'\) must be \(x, y, z, 'object'\)"):
        segment(voxels, clicks=[(10, 10, 3, "object"), (2, 2, "background")])


def faint(seed=0):
    """A ball hardly brighter than the ground, with a bright neighbour: contrast alone does not carry a mask."""
    rng = np.random.default_rng(seed)
    z, y, x = np.indices((32, 40, 40))
    ball = (z - 16) ** 2 + (y - 18) ** 2 + (x - 18) ** 2 <= 8**2
    volume = 0.4 + 3 * gaussian_filter(rng.normal(size=ball.shape), 3)
    volume[ball] += 0.1
    volume[(z - 16) ** 2 + (y - 30) ** 2 + (x - 30) ** 2 <= 6**2] += 0.5
    return volume + rng.normal(0, 0.02, size=ball.shape), ball


def middle_of_error(mask, truth):
    parts, _ = label(mask != truth)
    worst = parts == 1 + np.bincount(parts.ravel())[1:].argmax()
    depth = distance_transform_edt(np.pad(worst, 1))[1:-1, 1:-1, 1:-1]
    at = tuple(int(place) for place in np.unravel_index(depth.argmax(), depth.shape))
    return (*at[::-1], "object" if truth[at] else "background")


@pytest.mark.parametrize("seed", range(3))
def test_every_click_makes_the_mask_of_a_faint_object_better(seed):
    volume, truth = faint(seed)
    result = segment(volume, clicks=[(18, 18, 16, "object")])
    scores = [dice(result.mask, truth)]
    for _ in range(8):
        result = result.refine(clicks=[middle_of_error(result.mask, truth)])
        scores.append(dice(result.mask, truth))
    assert min(np.diff(scores)) > -0.02
    assert scores[-1] > max(0.8, scores[0])


def test_a_click_changes_nothing_out_of_its_reach():
    """Twelve depths: what was right far away stays to the last voxel."""
    volume, truth = faint()
    first = segment(volume, clicks=[(18, 18, 16, "object")])
    x, y, z, _ = click = middle_of_error(first.mask, truth)
    second = first.refine(clicks=[click])
    kind = click[-1] == "object"
    depth = distance_transform_edt(first.mask != kind)[z, y, x]
    places = np.argwhere(first.mask != second.mask)
    assert len(places) and second.mask[z, y, x] == kind
    assert np.linalg.norm(places - (z, y, x), axis=1).max() <= 12 * max(depth, 1.5) * np.sqrt(3)
    assert (second.previous.mask == first.mask).all()


def test_a_rough_size_says_how_much_is_object():
    volume, truth = faint()
    click = [(18, 18, 16, "object")]
    small, large = (segment(volume, clicks=click, size=size).mask.sum() for size in (4, 8))
    assert 0.5 < small / (4.19 * 4**3) < 2 and 0.5 < large / (4.19 * 8**3) < 2
    assert dice(segment(volume, clicks=click, size=8).mask, truth) > 0.6
    # The size is in the unit of the spacing.
    assert (segment(volume, clicks=click, size=4.0, spacing=(0.5, 0.5, 0.5)).mask.sum()) == large


@pytest.mark.parametrize("arguments, message", [
    ({"size": -1.0, "clicks": [(18, 18, 16, "object")]}, "size=-1.0 must be a positive number"),
    ({"size": 3.0, "box": (1, 1, 1, 9, 9, 9)}, "size=3.0 is for a first click in a volume"),
])
def test_a_wrong_size_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        segment(faint()[0], **arguments)


def test_painted_slices_are_kept_and_more_of_them_and_clicks_make_it_better():
    volume, truth = faint()
    strokes = np.zeros(truth.shape, dtype=int)
    strokes[:, 14] = 1 + truth[:, 14]
    first = segment(volume, scribbles=strokes, spacing=(1, 1, 1))
    assert (first.mask[:, 14] == truth[:, 14]).all()
    strokes[:, 22] = 1 + truth[:, 22]
    two = first.refine(strokes)
    assert (two.mask[:, 14] == truth[:, 14]).all() and (two.mask[:, 22] == truth[:, 22]).all()
    assert dice(two.mask, truth) > dice(first.mask, truth)
    clicked = two.refine(clicks=[middle_of_error(two.mask, truth)])
    assert dice(clicked.mask, truth) > dice(two.mask, truth) - 0.02


def test_a_large_volume_is_corrected_at_full_size(scan):
    """Walks at a smaller size give the contour of all sizes, and the field survives a pickle."""
    first = segment(scan.volume, clicks=[(*scan.click, "object")], spacing=SPACING, working_pixels=11_000)
    second = first.refine(clicks=[(2, 2, 2, "object")])
    assert second.mask[2, 2, 2] and second.mask.shape == scan.volume.shape
    third = pickle.loads(pickle.dumps(second)).refine(clicks=[(2, 2, 2, "background")])
    assert not third.mask[2, 2, 2]
    assert (third.mask & ~first.mask).sum() < (second.mask & ~first.mask).sum()
