"""The plugin for napari: its functions without napari, its manifest and its layers where the libraries are."""

from pathlib import Path

import numpy as np
import pytest

import evencut
from evencut.datasets import make_volume
from evencut.napari import Clicking, clicks_of
from evencut.napari.clicking import reader_of, write_layer
from evencut.segmentation import read_volume

MANIFEST = Path(evencut.__file__).parent / "napari" / "napari.yaml"

# Libraries that napari loads warn of each other.
napari_warns = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def scan():
    volume, labels = make_volume("nested", (16, 40, 40), (2, 1, 1), noise=0.03, random_state=0)
    return volume, labels > 0


def dice(mask, truth):
    mask = np.asarray(mask) > 0
    return 2 * (mask & truth).sum() / (mask.sum() + truth.sum())


def test_points_become_clicks_x_first():
    assert clicks_of([[3.4, 10.0, 20.6]], "background") == [(21, 10, 3, "background")]
    assert clicks_of(np.empty((0, 3)), "object") == []


def test_points_are_clicks_and_undo_goes_back(scan):
    volume, truth = scan
    clicking = Clicking(volume, 3, (2, 1, 1))
    assert not clicking.labels.any()
    first = clicking.update([(8, 10, 20)], [])
    assert dice(first, truth) > 0.7
    second = clicking.update([(8, 10, 20)], [(0, 0, 0)])
    assert clicking.points("background").tolist() == [[0, 0, 0]]
    assert (clicking.update([(8, 10, 20)], [(0, 0, 0)]) == second).all()
    assert (clicking.undo() == first).all() and len(clicking.points("background")) == 0
    assert not clicking.undo().any() and not clicking.undo().any()


def test_points_taken_away_begin_anew(scan):
    volume, _ = scan
    clicking = Clicking(volume, 3, (2, 1, 1))
    alone = clicking.update([(8, 10, 20)], []).copy()
    clicking.update([(8, 10, 20), (8, 20, 20)], [])
    assert (clicking.update([(8, 10, 20)], []) == alone).all()


def test_volumes_are_read_with_the_size_of_their_voxels(scan, tmp_path):
    nrrd = pytest.importorskip("nrrd", reason="pynrrd is not installed")
    path = str(tmp_path / "scan.nrrd")
    nrrd.write(path, scan[0], {"spacings": [1.0, 1.0, 2.0]}, index_order="C")
    [(voxels, shown, kind)] = reader_of(path)(path)
    assert (voxels == scan[0]).all() and shown["scale"] == (2.0, 1.0, 1.0) and kind == "image"
    assert reader_of([path, path]) is None and reader_of("photo.jpg") is None


def test_stacks_of_pages_and_ome_zarr_are_opened_with_the_size_of_their_voxels(scan, tmp_path):
    tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    stack, folder = str(tmp_path / "scan.tif"), str(tmp_path / "scan.ome.zarr")
    meta = {"axes": "ZYX", "spacing": 2.0}
    tifffile.imwrite(stack, scan[0].astype(np.float32), imagej=True, resolution=(1, 1), metadata=meta)
    scale = [{"type": "scale", "scale": [2.0, 1.0, 1.0]}]
    sizes = [{"path": "0", "coordinateTransformations": scale}]
    group = zarr.open_group(folder, mode="w")
    group.attrs["multiscales"] = [{"axes": [{"name": name} for name in "zyx"], "datasets": sizes}]
    group.create_array("0", data=scan[0])
    for path in (stack, folder):
        [(voxels, shown, kind)] = reader_of(path)(path)
        assert np.allclose(voxels, scan[0]) and shown["scale"] == (2.0, 1.0, 1.0) and kind == "image"


def test_labels_are_written_with_the_orientation_of_their_volume(scan, tmp_path):
    nrrd = pytest.importorskip("nrrd", reason="pynrrd is not installed")
    header = {"space": "left-posterior-superior", "space directions": np.diag([1.0, -1, 2]), "space origin": [4, 5, 6]}
    nrrd.write(str(tmp_path / "scan.nrrd"), scan[0], header, index_order="C")
    [(_, attributes, _)] = reader_of(str(tmp_path / "scan.nrrd"))(str(tmp_path / "scan.nrrd"))
    labels = scan[1].astype(np.uint8)
    assert write_layer(str(tmp_path / "labels.nrrd"), labels, attributes) == [str(tmp_path / "labels.nrrd")]
    written = read_volume(tmp_path / "labels.nrrd")
    assert (written.voxels == labels).all()
    assert written.affine.tolist() == [[-1, 0, 0, -4], [0, 1, 0, -5], [0, 0, 2, 6], [0, 0, 0, 1]]


def test_objects_share_a_label_map_and_keep_their_pixels(scan):
    volume, _ = scan
    first, second = Clicking(volume, 3, (2, 1, 1)), Clicking(volume, 3, (2, 1, 1))
    first.update([(8, 10, 20)], [])
    one = first.painted(np.zeros(volume.shape, np.uint8), 1)
    second.update([(8, 10, 20), (2, 2, 2)], [])
    both = second.painted(one, 2)
    assert set(np.unique(both)) == {0, 1, 2} and ((both == 1) == (one == 1)).all() and both[2, 2, 2] == 2
    second.undo()
    assert (second.painted(both, 2) == one).all()


def test_a_mistake_changes_nothing(scan):
    volume, _ = scan
    clicking = Clicking(volume, 3, (2, 1, 1))
    before = clicking.update([(8, 10, 20)], []).copy()
    with pytest.raises(ValueError, match="lies outside"):
        clicking.update([(8, 10, 20), (99, 0, 0)], [])
    assert (clicking.labels == before).all() and len(clicking.points("object")) == 1


@napari_warns
def test_the_manifest_is_valid_and_its_command_exists():
    npe2 = pytest.importorskip("npe2", reason="npe2 is not installed")
    manifest = npe2.PluginManifest.from_file(MANIFEST)
    manifest.validate_imports()
    assert [widget.display_name for widget in manifest.contributions.widgets] == ["Cut out (evencut)"]


@napari_warns
@pytest.mark.parametrize("n_axes", [2, 3])
def test_layers_of_a_viewer(scan, n_axes):
    components = pytest.importorskip("napari.components", reason="napari is not installed")
    from evencut.napari.widget import CutOut

    volume, truth = scan
    viewer = components.ViewerModel()
    image, right, scale = (volume, truth, (2, 1, 1)) if n_axes == 3 else (volume[8], truth[8], (1, 1))
    cut_out = CutOut(viewer, viewer.add_image(image, scale=scale, name="scan"))
    cut_out.points["object"].add((8, 10, 20)[-n_axes:])
    cut_out.cut()
    assert dice(viewer.layers["scan: objects"].data, right) > 0.7
    assert CutOut(viewer, viewer.layers["scan"]).number == 2
    cut_out.undo()
    assert not viewer.layers["scan: objects"].data.any() and len(cut_out.points["object"].data) == 0
