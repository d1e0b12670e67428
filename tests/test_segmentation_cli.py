"""`evencut segment` and Table 1 on tiny pictures; the real photos where they are to be had."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from evencut.segmentation import partition, segment
from reproduction import table1
from reproduction.grabcut import error_rate, find_photos, grown_box, read_photo, tight_box


def pixels(path):
    with Image.open(path) as file:
        return np.array(file)


def picture(seed=0, size=40):
    rng = np.random.default_rng(seed)
    image = rng.normal(90, 12, size=(size, size + 8, 3))
    truth = np.zeros((size, size + 8), dtype=np.uint8)
    truth[10:30, 12:34] = 255
    image[truth == 255] += (90, 30, -30)
    return np.clip(image, 0, 255).astype(np.uint8), truth, (8, 6, 38, 34)


@pytest.fixture
def photo(tmp_path):
    image, truth, box = picture()
    Image.fromarray(image).save(tmp_path / "photo.png")
    return SimpleNamespace(image=image, truth=truth, box=",".join(map(str, box)))


def test_mask_cutout_and_overlay(run, photo, tmp_path):
    done = run("segment", "photo.png", "--box", photo.box, "-o", "m.png", "--cutout", "c.png", "--overlay", "o.png")
    assert done.code == 0
    mask = pixels(tmp_path / "m.png")
    assert set(np.unique(mask)) == {0, 255}
    assert (mask != photo.truth).mean() < 0.02
    cut = pixels(tmp_path / "c.png")
    assert (cut[..., 3] == mask).all()
    assert (cut[mask == 255][:, :3] == photo.image[mask == 255]).all()
    assert pixels(tmp_path / "o.png").shape == photo.image.shape


@pytest.mark.parametrize("how", ["grey", "colors", "transparent"])
def test_strokes_from_a_picture(run, photo, tmp_path, how):
    strokes = np.zeros(photo.truth.shape, dtype=np.uint8)
    strokes[2:4, 5:40], strokes[18:22, 16:30] = 1, 2
    palette = np.array([[0, 0, 0], [20, 40, 250], [250, 40, 20]], dtype=np.uint8)
    if how == "grey":
        drawn = strokes
    elif how == "colors":
        drawn = palette[strokes]
    else:
        colors = palette[strokes] + np.uint8(5) * (strokes == 0)[..., None]
        drawn = np.dstack([colors, 255 * (strokes > 0)]).astype(np.uint8)
    Image.fromarray(drawn).save(tmp_path / "s.png")
    assert run("segment", "photo.png", "--scribbles", "s.png").code == 0
    assert (pixels(tmp_path / "photo_mask.png") != photo.truth).mean() < 0.02
    assert run("segment", "photo.png", "--scribbles", "s.png", "--box", photo.box).code == 0
    assert (pixels(tmp_path / "photo_mask_2.png") != photo.truth).mean() < 0.02


def test_a_mask_without_a_name_takes_the_place_of_no_other(run, photo, tmp_path):
    (tmp_path / "other").mkdir()
    Image.fromarray(photo.image[::-1].copy()).save(tmp_path / "other/photo.png")
    first = run("segment", "photo.png", "--box", photo.box)
    before = (tmp_path / "photo_mask.png").read_bytes()
    second = run("segment", "other/photo.png", "--click", "20,20")
    assert "wrote photo_mask.png" in first.err and "wrote photo_mask_2.png" in second.err
    assert (tmp_path / "photo_mask.png").read_bytes() == before


def test_the_summary_says_which_label_is_the_object(run, photo, tmp_path):
    said = run("segment", "photo.png", "--box", photo.box).err
    share = (pixels(tmp_path / "photo_mask.png") == 255).mean()
    assert f"object (white): {share:.1%}, background: {1 - share:.1%} of the pixels" in said
    said = run("segment", "photo.png", "--regions", "3").err
    assert "label 1: " in said and "label 3: " in said


def test_regions(run, photo, tmp_path):
    assert run("segment", "photo.png", "--regions", "2", "-o", "r.png").code == 0
    assert (pixels(tmp_path / "r.png") == 255 * (partition(photo.image, 2).labels == 2)).all()
    assert (pixels(tmp_path / "r.png") == photo.truth).mean() > 0.98


@pytest.mark.parametrize("suffix", ["png", "tif", "bmp"])
def test_a_mask_of_several_regions_can_be_seen_and_read(run, photo, tmp_path, suffix):
    assert run("segment", "photo.png", "--regions", "3", "-o", f"r.{suffix}", "--overlay", "o.png").code == 0
    with Image.open(tmp_path / f"r.{suffix}") as file:
        assert file.mode == "P"
        labels, seen = np.array(file), np.array(file.convert("RGB"))
    assert (labels == partition(photo.image, 3).labels).all()
    assert len({tuple(seen[labels == k][0]) for k in (1, 2, 3)}) == 3
    assert seen[labels == 1].max() > 100


@pytest.mark.parametrize("option", ["-o", "--cutout", "--overlay"])
def test_strokes_are_never_overwritten(run, photo, tmp_path, option):
    strokes = np.zeros(photo.truth.shape, dtype=np.uint8)
    strokes[2:4, 5:40], strokes[18:22, 16:30] = 1, 2
    Image.fromarray(strokes).save(tmp_path / "s.png")
    done = run("segment", "photo.png", "--scribbles", "s.png", option, "s.png")
    assert done.code == 2
    assert "both the scribbles and the" in done.err
    assert (pixels(tmp_path / "s.png") == strokes).all()
    assert not (tmp_path / "photo_mask.png").exists()


@pytest.mark.parametrize("how", ["regions", "strokes"])
def test_a_cutout_of_three_labels_is_refused_before_the_work(run, photo, tmp_path, how):
    strokes = np.zeros(photo.truth.shape, dtype=np.uint8)
    strokes[2:4, 5:40], strokes[18:22, 16:20], strokes[18:22, 24:28] = 1, 2, 3
    Image.fromarray(strokes).save(tmp_path / "s.png")
    asked = ["--regions", "3"] if how == "regions" else ["--scribbles", "s.png"]
    done = run("segment", "photo.png", *asked, "--cutout", "c.png", "--overlay", "o.png")
    assert done.code == 2
    assert "3 labels" in done.err
    assert {path.name for path in tmp_path.iterdir()} == {"photo.png", "s.png"}


@pytest.mark.parametrize(("arguments", "message"), [
    (["photo.png"], "give --box"),
    (["photo.png", "--box", "1,2,3"], "--box 1,2,3 is not a box"),
    (["photo.png", "--box", "100,100,120,120"], "outside the image"),
    (["photo.png", "--box", "9,9,9,20"], "is empty"),
    (["photo.png", "--box", "1,2,20,30", "--regions", "3"], "--regions K alone"),
    (["photo.png", "--regions", "1"], "--regions 1"),
    (["none.png", "--box", "1,2,20,30"], "none.png does not exist"),
    (["broken.jpg", "--box", "1,2,20,30"], "broken.jpg is damaged"),
    (["cut.png", "--box", "1,2,20,30"], "cut.png is damaged"),
    (["photo.png", "--box", "1,2,20,30", "-o", "m.txt"], "must end in"),
    (["photo.png", "--box", "1,2,20,30", "-o", "no/where/m.png"], "does not exist"),
    (["photo.png", "--box", "1,2,20,30", "-o", "photo.png"], "both the photo and the mask"),
    (["photo.png", "--box", "1,2,20,30", "--criterion", "ncut"], "--criterion ncut"),
    (["photo.png", "--scribbles", "small.png"], "scribbles have shape"),
    (["photo.png", "--scribbles", "empty.png"], "0 labels"),
    (["photo.png", "--scribbles", "copy.png"], "colours, more than 32"),
])
def test_a_mistake_costs_one_line(run, photo, tmp_path, arguments, message):
    whole = (tmp_path / "photo.png").read_bytes()
    (tmp_path / "copy.png").write_bytes(whole)
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 not a photo")
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    Image.fromarray(np.zeros((4, 4), dtype=np.uint8)).save(tmp_path / "small.png")
    Image.fromarray(np.zeros(photo.truth.shape, dtype=np.uint8)).save(tmp_path / "empty.png")
    done = run("segment", *arguments)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert (tmp_path / "photo.png").read_bytes() == whole


@pytest.fixture
def tiny_data(tmp_path):
    """Three pictures laid out like the GrabCut photos."""
    folder = tmp_path / "data" / "grabcut"
    for part in ("images", "masks"):
        (folder / part).mkdir(parents=True)
    with (folder / "boxes.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "x0", "y0", "x1", "y1", "width", "height"])
        for i, name in enumerate("abc"):
            image, truth, box = picture(seed=i)
            Image.fromarray(image).save(folder / "images" / f"{name}.png")
            truth[9, 12:34] = 128
            Image.fromarray(truth).save(folder / "masks" / f"{name}.png")
            writer.writerow([name, *box, 48, 40])
    return tmp_path / "data"


def test_table_fills_every_cell_and_takes_up_where_it_stopped(tiny_data, tmp_path, monkeypatch):
    out = tmp_path / "out"
    seen = []
    first = table1.run(tiny_data, out, subset=2, advance=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]
    assert set(table1.CELLS) < set(first)
    assert all(len(values) == 2 for values in first.values())
    text = (out / "table1.md").read_text()
    assert all(f"[{paper:.1f}]" in text for paper in table1.CELLS.values())
    # A run that is cut off in the middle of a photo leaves some of its rows: they are made again.
    table = out / "table1.csv"
    table.write_text("\n".join(table.read_text().splitlines()[:-3]) + "\n")
    measured = []
    original = table1._measure
    monkeypatch.setattr(table1, "_measure", lambda *args: measured.append(args[2]) or original(*args))
    second = table1.run(tiny_data, out)
    assert sorted(measured) == ["b", "c"]
    assert all(len(values) == 3 for values in second.values())
    assert second[table1.OURS].mean() < 2
    assert pixels(out / "table1.png").shape[0] > 200


def test_table_refuses_what_cannot_be(tiny_data, tmp_path):
    with pytest.raises(FileNotFoundError, match="EVENCUT_DATA"):
        table1.run(tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(ValueError, match="subset=9"):
        table1.run(tiny_data, tmp_path / "out", subset=9)
    with pytest.raises(ValueError, match="jobs=0"):
        table1.run(tiny_data, tmp_path / "out", jobs=0)


def test_grown_boxes_contain_the_box_and_stay_inside(tiny_data):
    photo = read_photo(tiny_data, "a")
    assert tight_box(photo) == (12, 10, 34, 30)
    for seed in range(20):
        x0, y0, x1, y1 = grown_box(photo, photo.box, seed)
        assert 0 <= x0 <= 8
        assert 0 <= y0 <= 6
        assert 38 <= x1 <= 48
        assert 34 <= y1 <= 40
        assert (x1 - x0) * (y1 - y0) < 48 * 40
    assert grown_box(photo, photo.box, 3) == grown_box(photo, photo.box, 3)


def test_error_on_real_photos_is_small(data_folder):
    errors = []
    for name in find_photos(data_folder)[3::4]:
        photo = read_photo(data_folder, name)
        errors.append(error_rate(segment(photo.image, box=photo.box).mask, photo.truth, photo.box))
    assert np.median(errors) < 5
