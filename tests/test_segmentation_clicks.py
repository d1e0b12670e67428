"""Clicks: from a single one to a corrected object, several objects at once, and a folder of photos."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import distance_transform_edt, gaussian_filter

from evencut.segmentation import decode_mask, encode_mask, segment, segment_many


def scene(seed=0):
    """Three discs on an even ground: two alike on the left, one of another colour on the right."""
    rng = np.random.default_rng(seed)
    y, x = np.indices((60, 120))
    discs = [(y - 30) ** 2 + (x - centre) ** 2 <= 14**2 for centre in (22, 60, 98)]
    image = np.full((60, 120, 3), 0.25)
    for disc, color in zip(discs, ((0.7, 0.4, 0.3), (0.7, 0.45, 0.3), (0.3, 0.5, 0.8))):
        image[disc] = color
    return np.clip(image + rng.normal(0, 0.03, size=image.shape), 0, 1), discs


def iou(mask, truth):
    return (mask & truth).sum() / (mask | truth).sum()


def test_one_click_finds_the_object_under_it():
    image, discs = scene()
    result = segment(image, clicks=[(98, 30, "object")])
    assert iou(result.mask, discs[2]) > 0.95
    assert result.previous is None


def test_clicks_add_and_remove_parts_and_leave_the_rest_alone():
    image, discs = scene()
    first = segment(image, clicks=[(22, 30, "object"), (60, 5, "background")])
    added = first.refine(clicks=[(98, 30, "object")])
    assert iou(added.mask & (np.arange(120) > 80), discs[2]) > 0.95
    assert (added.mask == first.mask)[:, :70].all()
    removed = added.refine(clicks=[(22, 30, "background")])
    assert iou(removed.mask & (np.arange(120) > 80), discs[2]) > 0.95
    assert removed.mask[discs[0]].mean() < 0.05
    assert removed.previous is added
    assert (removed.previous.mask == added.mask).all()


@pytest.mark.parametrize("seed", range(4))
def test_every_click_is_obeyed_and_stays_obeyed(seed):
    rng = np.random.default_rng(seed)
    image = np.clip(rng.random((40, 50, 3)) * 0.3 + 0.3 * (rng.random((40, 50, 1)) > 0.5), 0, 1)
    given = [(25, 20, "object")]
    result = segment(image, clicks=given)
    for _ in range(6):
        x, y = int(rng.integers(50)), int(rng.integers(40))
        given.append((x, y, "background" if result.mask[y, x] else "object"))
        result = result.refine(clicks=given[-1:])
        # A later click on the same place overrules an earlier one.
        last = {(x, y): kind for x, y, kind in given}
        assert all(result.mask[y, x] == (kind == "object") for (x, y), kind in last.items())


def test_a_click_only_moves_labels_towards_its_own():
    image, _ = scene()
    first = segment(image, clicks=[(22, 30, "object"), (60, 5, "background")])
    more = first.refine(clicks=[(98, 30, "object")]).mask
    assert (more >= first.mask).all() and more.sum() > first.mask.sum()
    less = first.refine(clicks=[(22, 30, "background")]).mask
    assert (less <= first.mask).all() and less.sum() < first.mask.sum()


def test_a_click_in_the_middle_takes_a_part_and_one_beside_the_contour_its_place():
    """All of the blue half is wrong for a click in its middle; for one beside its edge only what is near."""
    image = np.full((80, 80, 3), 0.2)
    image[20:60, 10:40], image[20:60, 40:70] = (0.8, 0.3, 0.3), (0.3, 0.3, 0.8)
    image = np.clip(image + np.random.default_rng(0).normal(0, 0.02, size=image.shape), 0, 1)
    first = segment(image, box=(6, 16, 74, 64))
    assert first.mask.sum() == 2400
    assert first.refine(clicks=[(55, 40, "background")]).mask.sum() == 1200
    beside = first.mask & ~first.refine(clicks=[(68, 40, "background")]).mask
    assert beside[40, 68]
    assert distance_transform_edt(np.pad(beside, 1)).max() <= 2 * 2


def tailed(seed):
    """A plain body, and a striped tail whose stripes are as dark and as light as places of the ground."""
    rng = np.random.default_rng(seed)
    y, x = np.indices((100, 140))
    image = np.repeat((0.5 + 0.5 * gaussian_filter(rng.normal(size=y.shape), 3))[..., None], 3, axis=2)
    body = (y - 35) ** 2 + (x - 50) ** 2 <= 22**2
    tail = (np.abs(x - 50 - 0.9 * (y - 55)) < 5) & (y > 50) & (y < 90) & ~body
    image[body] = (0.75, 0.55, 0.35)
    image[tail] += np.where(y[tail] // 6 % 2 == 0, 0.1, -0.1)[:, None]
    return np.clip(image + rng.normal(0, 0.02, size=image.shape), 0, 1), body, tail


@pytest.mark.parametrize("seed", range(3))
def test_a_click_after_a_box_takes_the_part_under_it_and_not_the_ground(seed):
    """The tail is as dark and as light as the ground, and thinner than the click is far from the body."""
    image, body, tail = tailed(seed)
    boxed = segment(image, box=(20, 8, 100, 94), features="lab")
    assert not boxed.mask[72, 65]
    clicked = boxed.refine(clicks=[(65, 72, "object")])
    assert clicked.mask[tail].mean() > 0.5
    assert (clicked.mask & ~body & ~tail).sum() < 0.05 * body.sum()


@pytest.mark.parametrize("seed", range(2))
def test_a_click_on_a_strip_beside_the_object_does_not_flow_over_the_ground(seed):
    """The strip is hardly lighter than the ground, and the click three pixels from what the box has found."""
    rng = np.random.default_rng(seed)
    y, x = np.indices((100, 140))
    image = np.repeat((0.55 + 1.2 * gaussian_filter(rng.normal(size=y.shape), 5))[..., None], 3, axis=2)
    rows = (y > 30) & (y < 75)
    body, strip = rows & (x > 30) & (x < 70), rows & (x >= 70) & (x < 77)
    image[strip] += 0.06
    image[body] = (0.6, 0.35, 0.2)
    boxed = segment(np.clip(image + rng.normal(0, 0.02, size=image.shape), 0, 1), box=(20, 20, 100, 85))
    assert not boxed.mask[strip].any()
    clicked = boxed.refine(clicks=[(73, 52, "object")])
    assert clicked.mask[strip].mean() > 0.15
    assert (clicked.mask & ~body & ~strip).sum() < 0.05 * strip.sum()


@pytest.mark.parametrize("seed", range(3))
def test_a_click_beside_the_middle_of_an_error_takes_most_of_it(seed):
    """An arm of another colour than the body, clicked 7 pixels from the body where the arm is 18 thick."""
    rng = np.random.default_rng(seed)
    y, x = np.indices((160, 200))
    body = (y - 80) ** 2 + (x - 60) ** 2 <= 30**2
    arm = (np.abs(y - 80) <= 18) & (x > 60) & (x < 150) & ~body
    image = np.full((160, 200, 3), 0.3)
    image[body], image[arm] = (0.75, 0.3, 0.3), (0.35, 0.36, 0.6)
    first = segment(np.clip(image + rng.normal(0, 0.06, size=image.shape), 0, 1), clicks=[(60, 80, "object")])
    assert first.mask[arm].mean() < 0.05
    assert iou(first.refine(clicks=[(112, 80, "object")]).mask, body | arm) > 0.95
    assert iou(first.refine(clicks=[(100, 88, "object")]).mask, body | arm) > 0.8


def test_clicks_after_a_box_and_strokes_after_clicks():
    image, discs = scene()
    boxed = segment(image, box=(4, 10, 80, 50))
    assert iou(boxed.mask, discs[0] | discs[1]) > 0.95
    one = boxed.refine(clicks=[(60, 30, "background")])
    assert iou(one.mask, discs[0]) > 0.9
    stroke = np.zeros((60, 120), dtype=int)
    stroke[29:31, 58:62] = 2
    assert one.refine(stroke).mask[29:31, 58:62].all()
    assert iou(segment(image, box=(4, 10, 80, 50), clicks=[(60, 30, "background")]).mask, discs[0]) > 0.9


def test_large_images_are_corrected_at_full_size():
    image, discs = scene()
    large = np.kron(image, np.ones((4, 4, 1)))
    first = segment(large, clicks=[(88, 120, "object")], working_pixels=8000)
    second = first.refine(clicks=[(392, 120, "object")])
    big = np.kron(discs[2], np.ones((4, 4), dtype=bool))
    assert iou(second.mask & (np.arange(480) > 320), big) > 0.9


@pytest.mark.parametrize("criterion", ["average_association", "normalized_cut", "average_cut"])
def test_clicks_speak_to_every_criterion(criterion):
    image, discs = scene()
    result = segment(image, clicks=[(98, 30, "object"), (60, 30, "background")], criterion=criterion)
    assert iou(result.mask, discs[2]) > 0.9


def test_same_clicks_same_mask_after_pickling_too():
    image, _ = scene(1)
    first, again = (segment(image, clicks=[(22, 30, "object")]) for _ in range(2))
    assert (first.mask == again.mask).all()
    more = [(98, 30, "object"), (60, 30, "background")]
    copied = pickle.loads(pickle.dumps(first.refine(clicks=more[:1])))
    assert (copied.refine(clicks=more[1:]).mask == again.refine(clicks=more[:1]).refine(clicks=more[1:]).mask).all()
    assert (copied.previous.mask == first.mask).all()


@pytest.mark.parametrize(("clicks", "message"), [
    ([], "clicks are empty"),
    ([(1, 2)], "must be"),
    ([("a", 2, "object")], "must be"),
    ([(1, 2, "thing")], "'thing'"),
    ([(500, 2, "object")], "outside the image of 120 by 60"),
    ([(np.nan, 2, "object")], "outside the image"),
    ([(3, 3, "background")], "background only"),
])
def test_bad_clicks_are_named(clicks, message):
    with pytest.raises(ValueError, match=message):
        segment(scene()[0], clicks=clicks)


def test_refine_wants_clicks_or_strokes():
    image, _ = scene()
    result = segment(image, clicks=[(22, 30, "object")])
    with pytest.raises(ValueError, match="one of the two"):
        result.refine()
    strokes = np.zeros((60, 120), dtype=int)
    strokes[5], strokes[28:32, 20:24], strokes[28:32, 96:100] = 1, 2, 3
    with pytest.raises(ValueError, match="3 labels"):
        segment(image, scribbles=strokes).refine(clicks=[(22, 30, "object")])


def test_several_objects_do_not_overlap():
    image, discs = scene()
    prompts = [{"clicks": [(22, 30, "object")]}, {"box": (42, 10, 80, 50)}, {"clicks": [(98, 30, "object")]}]
    found = segment_many(image, prompts)
    assert sum(mask.astype(int) for mask in found.masks).max() == 1
    for mask, disc in zip(found.masks, discs):
        assert iou(mask, disc) > 0.9
    same = segment_many(image, [{"box": (42, 10, 80, 50)}, {"box": (42, 10, 80, 50)}])
    assert (same.masks[0] | same.masks[1]).any()
    assert not (same.masks[0] & same.masks[1]).any()
    alone = segment_many(image, [{"box": (42, 10, 80, 50)}])
    assert (alone.masks[0] == segment(image, box=(42, 10, 80, 50)).mask).all()


@pytest.mark.parametrize(("prompts", "message"), [
    ([], "prompts are empty"), ([{}], "prompt 0 is empty"), ([{"point": 1}], "prompt 0 has 'point'"),
])
def test_bad_prompts_are_named(prompts, message):
    with pytest.raises(ValueError, match=message):
        segment_many(scene()[0], prompts)


@pytest.mark.parametrize("mask", [np.zeros((3, 4), bool), np.ones((3, 4), bool), np.eye(5, dtype=bool)])
def test_run_lengths_give_the_mask_back(mask):
    assert (decode_mask(json.loads(json.dumps(encode_mask(mask)))) == mask).all()


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for i in range(3):
        Image.fromarray((255 * scene(i)[0]).astype(np.uint8)).save(folder / f"p{i}.png")
    rows = ["photo,x0,y0,x1,y1,clicks,nots", 'p0.png,,,,,"98,30","60,30"', "p1.png,42,10,80,50,,"]
    rows += ['p2.png,,,,,"22,30",', 'p2.png,,,,,"98,30",']
    (tmp_path / "prompts.csv").write_text("\n".join(rows))
    return folder


def pixels(path):
    with Image.open(path) as file:
        return np.array(file)


def test_clicks_on_the_command_line(run, photos, tmp_path):
    image = pixels(photos / "p0.png")
    done = run("segment", "photos/p0.png", "--click", "98,30", "--not", "60,30", "--not", "22,30", "-o", "m.png")
    assert done.code == 0
    clicks = [(98, 30, "object"), (60, 30, "background"), (22, 30, "background")]
    assert ((pixels(tmp_path / "m.png") == 255) == segment(image, clicks=clicks).mask).all()
    wrong = run("segment", "photos/p0.png", "--click", "98;30")
    assert wrong.code == 2
    assert "--click 98;30 is not a point" in wrong.err


def test_a_folder_of_photos_stopped_and_resumed(run, photos, tmp_path, monkeypatch):
    done = run("segment-folder", "prompts.csv", "--photos", "photos", "-o", "out")
    assert done.code == 0, done.err
    _, discs = scene()
    assert iou(pixels(tmp_path / "out" / "p0.png") == 255, discs[2]) > 0.9
    labels = pixels(tmp_path / "out" / "p2.png")
    assert iou(labels == 1, discs[0]) > 0.9
    assert iou(labels == 2, discs[2]) > 0.9
    whole = json.loads((tmp_path / "out" / "coco.json").read_text())
    assert [image["file_name"] for image in whole["images"]] == ["p0.png", "p1.png", "p2.png"]
    assert [mark["image_id"] for mark in whole["annotations"]] == [1, 2, 3, 3]
    assert (decode_mask(whole["annotations"][3]["segmentation"]) == (labels == 2)).all()
    # Stopped before the run lengths of one photo were written: that photo alone is made again.
    (tmp_path / "out" / "p1.json").unlink()
    made = []
    import evencut.cli.segment_folder as command

    original = command._cut_out
    monkeypatch.setattr(command, "_cut_out", lambda *task: made.append(task[0]) or original(*task))
    assert run("segment-folder", "prompts.csv", "--photos", "photos", "-o", "out").code == 0
    assert made == ["photos/p1.png"]
    assert json.loads((tmp_path / "out" / "coco.json").read_text()) == whole


#: The command, with a note of every photo that is begun.
NOTED = """
import sys
import evencut.cli.segment_folder as command
from evencut.cli import main
cut_out = command._cut_out
def noted(*task):
    with open("begun.txt", "a") as file:
        file.write(task[0] + chr(10))
    return cut_out(*task)
command._cut_out = noted
main(sys.argv[1:])
"""


def _kill_the_run(process):
    os.killpg(process.pid, signal.SIGKILL)


def _kill_its_first_process(process):
    os.kill(int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0]), signal.SIGKILL)


def _end_its_last_process(process):
    os.kill(int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[-1]), signal.SIGTERM)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
@pytest.mark.parametrize(("jobs", "kill"), [
    (1, _kill_the_run),
    (2, _kill_the_run),
    (2, _kill_its_first_process),
    (2, _end_its_last_process),
])
def test_a_folder_killed_and_resumed_repeats_at_most_one_photo(tmp_path, jobs, kill):
    """What was finished stays; a run that goes on at once waits for photos still in hand."""
    n_photos = 5
    folder, rows = tmp_path / "photos", ["photo,x0,y0,x1,y1"]
    folder.mkdir()
    for i in range(n_photos):
        Image.fromarray((255 * np.kron(scene(i)[0], np.ones((3, 3, 1)))).astype(np.uint8)).save(folder / f"p{i}.png")
        rows.append(f"p{i}.png,126,30,240,150")
    (tmp_path / "prompts.csv").write_text("\n".join(rows))
    asked = [sys.executable, "-c", NOTED, "segment-folder", "prompts.csv", "--photos", "photos", "--jobs", str(jobs)]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    quiet = {"cwd": tmp_path, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*asked, "-o", "killed"], start_new_session=True, **quiet) as process:
        while process.poll() is None and len(list(killed.glob("p*.json"))) < 2:
            time.sleep(0.005)
        kill(process)
    assert process.returncode in (-signal.SIGKILL, 2)
    finished = {path.name: path.stat().st_mtime_ns for path in killed.glob("p*.json")}
    resumed = subprocess.run([*asked, "-o", "killed"], cwd=tmp_path, capture_output=True, text=True)
    assert resumed.returncode == 0, resumed.stderr
    begun = (tmp_path / "begun.txt").read_text().split()
    assert sorted(set(begun)) == [f"photos/p{i}.png" for i in range(n_photos)]
    assert len(begun) <= n_photos + 1
    assert all((killed / name).stat().st_mtime_ns == moment for name, moment in finished.items())
    assert subprocess.run([*asked, "-o", "whole"], **quiet).returncode == 0
    assert sorted(path.name for path in whole.iterdir()) == sorted(path.name for path in killed.iterdir())
    for path in sorted(whole.iterdir()):
        assert path.read_bytes() == (killed / path.name).read_bytes(), path.name


def test_a_worker_ended_from_outside_costs_one_line(run, photos, monkeypatch):
    import evencut.cli.segment_folder as pool

    class Broken:
        def __init__(self, *args, **kwargs):
            pass

        def submit(self, *task):
            future = Future()
            future.set_exception(BrokenProcessPool("gone"))
            return future

        def shutdown(self, **kwargs):
            pass

    monkeypatch.setattr(pool, "ProcessPoolExecutor", Broken)
    done = run("segment-folder", "prompts.csv", "--photos", "photos", "-o", "out", "--jobs", "2")
    assert done.code == 2
    assert "run again with fewer jobs" in done.err


def test_a_folder_from_coco_on_two_processes(run, photos, tmp_path):
    marks = [{"image_id": 7, "bbox": [42, 10, 38, 40]}, {"image_id": 8, "clicks": [[98, 30, 1], [60, 30, 0]]}]
    images = [{"id": 7, "file_name": "p0.png"}, {"id": 8, "file_name": "p1.png"}]
    (tmp_path / "prompts.json").write_text(json.dumps({"images": images, "annotations": marks}))
    assert run("segment-folder", "prompts.json", "--photos", "photos", "-o", "out", "--jobs", "2").code == 0
    _, discs = scene()
    assert iou(pixels(tmp_path / "out" / "p0.png") == 255, discs[1]) > 0.9
    assert iou(pixels(tmp_path / "out" / "p1.png") == 255, discs[2]) > 0.9


@pytest.mark.parametrize(("rows", "message"), [
    ("name,x0\na,1", "it needs photo"),
    ("photo,clicks\np0.png,", "neither a box nor a click"),
    ("photo,clicks\np0.png,5", "line 2"),
    ("photo,clicks\nnone.png,\"5,5\"", "does not exist"),
    ("photo,clicks\n", "no prompts"),
])
def test_bad_tables_cost_one_line(run, photos, tmp_path, rows, message):
    (tmp_path / "bad.csv").write_text(rows)
    done = run("segment-folder", "bad.csv", "--photos", "photos")
    assert done.code == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "masks").exists()


def test_a_folder_keeps_runs_apart_and_names_photos_that_fail(run, photos, tmp_path):
    (tmp_path / "photos" / "p1.png").write_bytes(b"no photo")
    done = run("segment-folder", "prompts.csv", "--photos", "photos", "-o", "out")
    assert done.code == 2
    assert "p1.png" in done.err
    assert "1 of 3 photos failed" in done.err
    assert (tmp_path / "out" / "p2.json").exists()
    other = run("segment-folder", "prompts.csv", "--photos", "photos", "-o", "out", "--seed", "3")
    assert "other prompts or another seed" in other.err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    assert "already holds letter.txt" in run("segment-folder", "prompts.csv", "--photos", "photos", "-o", "mine").err


def test_one_pixel_cannot_be_object_and_background():
    image = np.zeros((20, 20, 3))
    image[5:15, 5:15] = 1.0
    clicks = [(9, 9, "object"), (1, 1, "background"), (9.4, 9.7, "background")]
    with pytest.raises(ValueError, match=r"the pixel \(9, 9\) is clicked as object and as background"):
        segment(image, clicks=clicks)
    result = segment(image, clicks=clicks[:2])
    with pytest.raises(ValueError, match=r"the pixel \(3, 3\) is clicked as object and as background"):
        result.refine(clicks=[(3, 3, "object"), (3, 3, "background")])


def test_what_a_background_click_cuts_off_is_no_part_of_the_object():
    """Two squares joined by a bridge of their colour: a click on the bridge gives up the square that nobody clicked."""
    rng = np.random.default_rng(0)
    image = rng.normal(0.2, 0.02, size=(60, 140, 3))
    for first_row, last_row, columns in ((15, 45, slice(10, 40)), (15, 45, slice(90, 120)), (26, 34, slice(40, 90))):
        image[first_row:last_row, columns] += (0.5, 0.3, 0.0)
    first = segment(np.clip(image, 0, 1), clicks=[(25, 30, "object")])
    assert first.mask[30, 105]
    second = first.refine(clicks=[(65, 30, "background")])
    assert second.mask[30, 25] and not second.mask[30, 105]


def test_a_smoothness_that_was_named_is_used_after_clicks_too():
    rng = np.random.default_rng(0)
    image = rng.normal(0.3, 0.05, size=(60, 80))
    image[20:40, 20:50] += 0.4
    first = segment(np.clip(image, 0, 1), clicks=[(30, 30, "object")], smoothness=3.0)
    assert first.smoothness == 3.0
    assert first.refine(clicks=[(70, 50, "background")]).smoothness == 3.0


def test_another_object_is_what_a_fresh_start_finds():
    rng = np.random.default_rng(0)
    image = np.clip(rng.normal(0.2, 0.03, size=(120, 160, 3)), 0, 1)
    image[20:70, 20:60] += (0.5, 0.1, 0.0)
    image[50:100, 90:140] += (0.0, 0.4, 0.2)
    first = segment(image, clicks=[(40, 40, "object")])
    later = first.refine(clicks=[(120, 70, "object")])
    for clicks in ([(115, 75, "object")], [(40, 45, "object"), (110, 60, "background")]):
        fresh = segment(image, clicks=clicks)
        for result in (first.another(clicks), later.another(clicks)):
            assert np.array_equal(result.labels, fresh.labels)
            assert result.energy == fresh.energy
            assert result.previous is None
    assert first.mask[40, 40] and not first.mask[75, 115]
    boxed = segment(image, box=(10, 10, 70, 80))
    with pytest.raises(ValueError, match="not begun by clicks; use segment"):
        boxed.another([(40, 40, "object")])
