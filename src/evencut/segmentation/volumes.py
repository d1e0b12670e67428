"""Volumes from files and label maps back into them: NIfTI, stacks of TIFF, NRRD and OME-Zarr, with the size of voxels.

Arrays are (slices, rows, columns), so that x, the first axis of a NIfTI or NRRD file, is the last axis here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

_SUFFIXES = {".nii": "nifti", ".nii.gz": "nifti", ".tif": "tiff", ".tiff": "tiff", ".nrrd": "nrrd", ".zarr": "zarr"}
_LIBRARIES = {"nifti": "nibabel", "tiff": "tifffile", "nrrd": "pynrrd", "zarr": "zarr"}


@dataclass(frozen=True, eq=False)
class Volume:
    """A volume, with the metadata of its file.

    Parameters
    ----------
    voxels : ndarray of shape (D, M, N) or (D, M, N, C)
    spacing : tuple of float
        Distance of slices, rows and columns; ones where the file does not say.
    header : object
        What the file's library keeps beside the voxels: affine and the like.
    """

    voxels: NDArray[Any]
    spacing: tuple[float, ...]
    header: Any = None


def volume_format(path: str | Path) -> str | None:
    """The format that the name of a file or folder tells: "nifti", "tiff", "nrrd", "zarr", or None.

    Examples
    --------
    >>> volume_format("liver.nii.gz"), volume_format("photo.jpg")
    ('nifti', None)
    """
    name = Path(path).name.lower()
    return next((form for suffix, form in _SUFFIXES.items() if name.endswith(suffix)), None)


def is_volume_file(path: str | Path) -> bool:
    """Whether a file holds a volume; a TIFF file does if it has more than one page.

    Examples
    --------
    >>> is_volume_file("liver.nii.gz"), is_volume_file("photo.jpg")
    (True, False)
    """
    form = volume_format(path)
    if form != "tiff" or not Path(path).exists():
        return form in ("nifti", "nrrd", "zarr")
    from PIL import Image

    try:
        with Image.open(path) as file:
            return getattr(file, "n_frames", 1) > 1
    except OSError:
        # Damaged, or of a kind that only the other library knows: it will say which.
        return False


def is_writable(path: str | Path) -> bool:
    """Whether a label map can be written under this name: OME-Zarr, a folder, is only read.

    Examples
    --------
    >>> is_writable("mask.nii.gz"), is_writable("mask.ome.zarr")
    (True, False)
    """
    return volume_format(path) in _WRITERS


def read_volume(path: str | Path) -> Volume:
    """The volume in a file of NIfTI, TIFF or NRRD, or in a folder of OME-Zarr.

    Examples
    --------
    >>> read_volume("no-such-volume.nii.gz")
    Traceback (most recent call last):
    ...
    ValueError: no-such-volume.nii.gz does not exist.
    """
    form = volume_format(path)
    if form is None:
        raise ValueError(f"{path} is no volume: its name must end in one of {', '.join(_SUFFIXES)}.")
    if not Path(path).exists():
        raise ValueError(f"{path} does not exist.")
    _library(form)
    try:
        volume = _READERS[form](str(path))
    except Exception as error:  # Each library has errors of its own for files it cannot read.
        raise ValueError(f"{path} is damaged or is not a volume that can be read ({error}).") from error
    if volume.voxels.ndim not in (3, 4):
        raise ValueError(f"{path} has {volume.voxels.ndim} axes; a volume has three, or four with channels.")
    return volume


def write_labels(path: str | Path, file: IO[bytes], labels: NDArray[np.integer], like: Volume) -> None:
    """Write a label map to an open file in the format of `path`, with the position and voxel size of `like`.

    Parameters
    ----------
    path : str or Path
        For its suffix.
    file : binary file
    labels : ndarray of int of shape (D, M, N)
    like : Volume
        The volume that the labels are of; where it was read from the same format, its header is kept.
    """
    form = volume_format(path)
    if form not in _WRITERS:
        endings = ", ".join(suffix for suffix, kind in _SUFFIXES.items() if kind in _WRITERS)
        raise ValueError(f"cannot write {path}: its name must end in one of {endings}.")
    _library(form)
    small: NDArray[np.integer] = labels.astype(np.uint8 if labels.max(initial=0) < 256 else np.uint16)
    _WRITERS[form](file, small, like, str(path).lower().endswith(".gz"))


def _library(form: str) -> None:
    import importlib

    name = _LIBRARIES[form]
    try:
        importlib.import_module("nrrd" if name == "pynrrd" else name)
    except ImportError as error:
        raise ImportError(f'volumes of this format need {name}: pip install "evencut[volumes]"') from error


def _read_nifti(path: str) -> Volume:
    import nibabel

    image: Any = nibabel.load(path)
    voxels = np.asanyarray(image.dataobj)
    while voxels.ndim > 3 and voxels.shape[-1] == 1:
        voxels = voxels[..., 0]
    order = (2, 1, 0, *range(3, voxels.ndim))
    sides = [float(side) for side in image.header.get_zooms()[:3]]
    if voxels.ndim < 3:
        return Volume(voxels, (), image)
    return Volume(voxels.transpose(order), _positive(sides[::-1]), image)


def _write_nifti(file: IO[bytes], labels: NDArray[np.integer], like: Volume, packed: bool) -> None:
    import gzip

    import nibabel

    image = like.header
    if isinstance(image, nibabel.Nifti1Image):
        header = image.header.copy()
        header.set_data_dtype(labels.dtype)
        header.set_slope_inter(1, 0)
        made: Any = type(image)(labels.T, image.affine, header)
    else:
        made = nibabel.Nifti1Image(labels.T, np.diag([*like.spacing[::-1], 1.0]))
    if packed:
        # No time of day: the same labels give the same file.
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as inner:
            inner.write(made.to_bytes())
    else:
        file.write(made.to_bytes())


def _read_tiff(path: str) -> Volume:
    import tifffile

    with tifffile.TiffFile(path) as file:
        series = file.series[0]
        axes, voxels = series.axes, series.asarray()
        spacing = _tiff_spacing(file)
    # Slices may be called Z, or be pages without a name; colours and channels come last.
    slices = next((axis for axis in "ZIQT" if axis in axes), None)
    channels = [axis for axis in "CS" if axis in axes]
    wanted = [slices, "Y", "X", *channels]
    if slices is None or sorted(axes) != sorted(str(axis) for axis in wanted) or len(wanted) > 4:
        raise ValueError(f"its axes are {axes}; save a stack of slices, such as ZYX or ZCYX")
    return Volume(voxels.transpose([axes.index(str(axis)) for axis in wanted]), spacing)


def _tiff_spacing(file: Any) -> tuple[float, ...]:
    """Distances as ImageJ and OME write them."""
    import tifffile

    if file.ome_metadata:
        found = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]
        pixels = (found[0] if isinstance(found, list) else found)["Pixels"]
        return _positive([float(pixels.get(f"PhysicalSize{axis}", 0)) for axis in "ZYX"])
    sides = []
    for name in ("YResolution", "XResolution"):
        tag = file.pages[0].tags.get(name)
        per_unit = tag.value[0] / tag.value[1] if tag is not None and tag.value[1] else 0.0
        sides.append(1 / per_unit if per_unit else 0.0)
    between = (file.imagej_metadata or {}).get("spacing", 0.0)
    return _positive([float(between), *sides])


def _write_tiff(file: IO[bytes], labels: NDArray[np.integer], like: Volume, packed: bool) -> None:
    import tifffile

    between, rows, columns = like.spacing
    tifffile.imwrite(
        file, labels, imagej=True, resolution=(1 / columns, 1 / rows), metadata={"axes": "ZYX", "spacing": between}
    )


def _read_nrrd(path: str) -> Volume:
    import nrrd

    voxels, header = nrrd.read(path, index_order="C")
    sides = header.get("spacings")
    kinds = list(header.get("kinds", ()))
    if "space directions" in header:
        directions = np.array([np.full(3, np.nan) if row is None else row for row in header["space directions"]])
        sides = np.linalg.norm(directions.astype(float), axis=1)
    sides = np.ones(voxels.ndim) if sides is None else np.asarray(sides, dtype=float)
    if voxels.ndim == 4:
        # The axis of channels is the one that has no direction in space, usually the first of the file.
        nowhere = [place for place, side in enumerate(sides) if not np.isfinite(side)]
        place = nowhere[0] if nowhere else kinds.index("vector") if "vector" in kinds else 0
        voxels, sides = np.moveaxis(voxels, voxels.ndim - 1 - place, -1), np.delete(sides, place)
    return Volume(voxels, _positive([float(side) for side in sides[::-1]]), header)


def _write_nrrd(file: IO[bytes], labels: NDArray[np.integer], like: Volume, packed: bool) -> None:
    import nrrd

    kept = {}
    if isinstance(like.header, dict) and like.header.get("dimension") == 3:
        names = ("space", "space directions", "space origin", "spacings", "kinds", "space units", "units")
        kept = {name: like.header[name] for name in names if name in like.header}
    nrrd.write(file, labels, kept or {"spacings": list(like.spacing[::-1])}, index_order="C")


def _read_zarr(path: str) -> Volume:
    """The largest size of the first image of OME-Zarr, of either version."""
    import zarr

    group = zarr.open_group(path, mode="r")
    attributes: dict[str, Any] = dict(group.attrs)
    images = attributes.get("ome", attributes).get("multiscales")
    if not images:
        raise ValueError("it has no multiscales; save it as an OME-Zarr image")
    image = images[0]
    voxels = np.asarray(group[image["datasets"][0]["path"]])
    axes = [axis["name"] if isinstance(axis, dict) else axis for axis in image.get("axes", "tczyx")]
    sides = np.ones(len(axes))
    for part in (image["datasets"][0], image):
        for step in part.get("coordinateTransformations", ()):
            if step["type"] == "scale":
                sides = sides * step["scale"]
    # A single time, or a single channel, is no axis.
    kept = [place for place, name in enumerate(axes) if name in "zyx" or voxels.shape[place] > 1]
    names = "".join(axes[place] for place in kept)
    if sorted(names) not in (sorted("zyx"), sorted("zyxc")):
        raise ValueError(f"its axes are {''.join(axes)}; save a volume zyx, or czyx with channels")
    order = [kept[names.index(name)] for name in "zyxc" if name in names]
    single = [place for place in range(len(axes)) if place not in kept]
    voxels = voxels.transpose([*order, *single]).reshape([voxels.shape[place] for place in order])
    return Volume(voxels, _positive([float(sides[place]) for place in order[:3]]))


def _positive(sides: list[float]) -> tuple[float, ...]:
    """The sides of a voxel; all ones unless every one is known."""
    return tuple(sides) if all(np.isfinite(side) and side > 0 for side in sides) else (1.0,) * len(sides)


_READERS: dict[str, Callable[[str], Volume]] = {
    "nifti": _read_nifti,
    "tiff": _read_tiff,
    "nrrd": _read_nrrd,
    "zarr": _read_zarr,
}
_WRITERS: dict[str, Callable[[IO[bytes], NDArray[np.integer], Volume, bool], None]] = {
    "nifti": _write_nifti,
    "tiff": _write_tiff,
    "nrrd": _write_nrrd,
}
