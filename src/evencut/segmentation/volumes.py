"""Volumes from files and label maps into files: NIfTI, NRRD and stacks of TIFF, and OME-Zarr, which is only read.

Arrays are (slices, rows, columns), so that x, the first axis of a NIfTI or NRRD file, is the last axis here.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._lazy import require

_SUFFIXES = {".nii": "nifti", ".nii.gz": "nifti", ".nrrd": "nrrd", ".tif": "tiff", ".tiff": "tiff", ".zarr": "zarr"}
_WRITABLE = tuple(suffix for suffix, form in _SUFFIXES.items() if form != "zarr")


@dataclass(frozen=True, eq=False)
class Volume:
    """A volume and its place in space.

    Parameters
    ----------
    voxels : ndarray of shape (D, M, N) or (D, M, N, C)
    spacing : tuple of float
        Distance of slices, rows and columns; ones if the file does not say.
    affine : ndarray of shape (4, 4), optional
        From (x, y, z, 1), counted in voxels, to millimetres to the right, anterior and superior, as in NIfTI; by
        default the axes are those of the array.

    Examples
    --------
    >>> Volume(np.zeros((2, 3, 4)), (5.0, 1.0, 1.0)).affine.diagonal()
    array([1., 1., 5., 1.])
    """

    voxels: NDArray[Any]
    spacing: tuple[float, ...]
    affine: NDArray[np.float64] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.affine is None:
            object.__setattr__(self, "affine", np.diag([*self.spacing[::-1], 1.0]))

    @classmethod
    def of(cls, voxels: NDArray[Any], axes: str, directions: ArrayLike, origin: ArrayLike = (0, 0, 0)) -> Volume:
        """The volume of an array with axes x, y, z, and others of which at most one is longer than 1.

        `directions` and `origin` are the columns of the affine; sides that are not known or not positive become 1.

        Examples
        --------
        >>> volume = Volume.of(np.zeros((4, 1, 2, 3)), "xtzy", np.diag([1, 1, 5]))
        >>> volume.voxels.shape, volume.spacing
        ((2, 3, 4), (5.0, 1.0, 1.0))
        """
        extra_axes = [name for name, size in zip(axes, voxels.shape) if name not in "xyz"]
        single = [name for name in extra_axes if voxels.shape[axes.index(name)] == 1]
        channels = [name for name in extra_axes if name not in single]
        if len(set("xyz") & set(axes)) < 3 or len(channels) > 1:
            raise ValueError(f"its axes are {axes}; save a stack of slices zyx, or with channels, such as czyx")
        ordered = voxels.transpose([axes.index(name) for name in [*"zyx", *channels, *single]])
        affine = np.eye(4)
        affine[:3, :3], affine[:3, 3] = directions, origin
        sides = np.linalg.norm(affine[:3, :3], axis=0)
        if not (np.isfinite(affine).all() and (sides > 0).all()):
            affine, sides = np.eye(4), np.ones(3)
        voxels = ordered.reshape(ordered.shape[: 3 + len(channels)])
        return cls(voxels, tuple(float(side) for side in sides[::-1]), affine)


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
        # Pillow reads no volumes of floats in tiles, for example; a photo that it cannot read is refused later.
        return False


def check_volume_name(path: str | Path) -> None:
    """Raise unless a label map can be written under this name.

    Examples
    --------
    >>> check_volume_name("mask.ome.zarr")
    Traceback (most recent call last):
    ValueError: cannot write mask.ome.zarr: the name of a volume must end in one of .nii, .nii.gz, .nrrd, .tif, .tiff.
    """
    if not str(path).lower().endswith(_WRITABLE):
        raise ValueError(f"cannot write {path}: the name of a volume must end in one of {', '.join(_WRITABLE)}.")


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
        raise ValueError(f"{path} is not a volume: its name must end in one of {', '.join(_SUFFIXES)}.")
    if not Path(path).exists():
        raise ValueError(f"{path} does not exist.")
    library = _library(form)
    try:
        return _READERS[form](library, str(path))
    except Exception as error:  # Each library has its own errors for files it cannot read.
        raise ValueError(f"{path} is damaged or is not a volume that can be read ({error}).") from error


def write_labels(path: str | Path, file: IO[bytes], labels: NDArray[np.integer], like: Volume) -> None:
    """Write a label map to an open file in the format of `path`, with the orientation and voxel size of `like`.

    Parameters
    ----------
    path : str or Path
        For its suffix.
    file : binary file
    labels : ndarray of int of shape (D, M, N)
    like : Volume
        The volume that the labels are of; TIFF has a voxel size, but no orientation.
    """
    check_volume_name(path)
    form = volume_format(path)
    library = _library(str(form))
    small: NDArray[np.integer] = labels.astype(np.uint8 if labels.max(initial=0) < 256 else np.uint16)
    between, rows, columns = like.spacing
    if form == "nifti":
        image = library.Nifti1Image(small.T, like.affine)
        image.header.set_xyzt_units("mm")
        packed = str(path).lower().endswith(".gz")
        # No time of day: the same labels give the same file.
        file.write(gzip.compress(image.to_bytes(), mtime=0) if packed else image.to_bytes())
    elif form == "tiff":
        size = {"resolution": (1 / columns, 1 / rows), "metadata": {"axes": "ZYX", "spacing": between}}
        library.imwrite(file, small, imagej=True, **size)
    else:
        place = {"space directions": like.affine[:3, :3].T, "space origin": like.affine[:3, 3]}
        library.write(file, small, {"space": "right-anterior-superior", **place}, index_order="C")


def _library(form: str) -> Any:
    need = "Reading and writing volumes of this format needs"
    if form == "nrrd":
        return require("nrrd", f"{need} pynrrd", "volumes")
    name = {"nifti": "nibabel", "tiff": "tifffile", "zarr": "zarr"}[form]
    return require(name, f"{need} {name}", "volumes")


def _read_nifti(nibabel: Any, path: str) -> Volume:
    image = nibabel.load(path)
    voxels = np.asanyarray(image.dataobj)
    return Volume.of(voxels, "xyztcuv"[: voxels.ndim], image.affine[:3, :3], image.affine[:3, 3])


def _read_tiff(tifffile: Any, path: str) -> Volume:
    with tifffile.TiffFile(path) as file:
        voxels, axes = file.series[0].asarray(), file.series[0].axes
        sides = _tiff_sides(file, tifffile)
    # Slices may be called Z, or be pages without a name.
    slices = next((name for name in "ZIQT" if name in axes), "Z")
    return Volume.of(voxels, axes.replace(slices, "z").replace("Y", "y").replace("X", "x"), np.diag(sides))


def _tiff_sides(file: Any, tifffile: Any) -> list[float]:
    """Distances of columns, rows and slices as ImageJ and OME write them; 0 if unknown."""
    if file.ome_metadata:
        image = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]
        pixels = (image[0] if isinstance(image, list) else image)["Pixels"]
        return [float(pixels.get(f"PhysicalSize{axis}", 0)) for axis in "XYZ"]
    tags = [file.pages[0].tags.get(name) for name in ("XResolution", "YResolution")]
    sides = [tag.value[1] / tag.value[0] if tag is not None and tag.value[0] else 0.0 for tag in tags]
    return [*sides, float((file.imagej_metadata or {}).get("spacing", 0))]


def _read_nrrd(nrrd: Any, path: str) -> Volume:
    voxels, header = nrrd.read(path)
    sides = np.asarray(header.get("spacings", np.ones(voxels.ndim)), dtype=float)
    rows = [np.full(3, np.nan) if row is None else row for row in header.get("space directions", ())]
    if rows:
        sides = np.linalg.norm(np.array(rows, dtype=float), axis=1)
    axes, kinds = list("xyz"), list(header.get("kinds", ()))
    if voxels.ndim == 4:
        # The axis of channels is the one that has no direction in space, usually the first of the file.
        nowhere = np.flatnonzero(~np.isfinite(sides))
        axes.insert(int(nowhere[0]) if nowhere.size else kinds.index("vector") if "vector" in kinds else 0, "c")
    in_space = [place for place, name in enumerate(axes) if name != "c"]
    directions = np.array([rows[place] for place in in_space]).T if rows else np.diag(sides[in_space])
    # The coordinates of a space count to the left and posterior if its name begins so: left-posterior-superior, or LPS.
    words = str(header.get("space", "")).lower()
    letters = [word[:1] for word in words.split("-")] if "-" in words else list(words)
    signs = [-1.0 if letters[axis : axis + 1] == [letter] else 1.0 for axis, letter in enumerate("lpi")]
    origin = np.asarray(header.get("space origin", np.zeros(3)))
    return Volume.of(voxels, "".join(axes), np.diag(signs) @ directions, signs * origin)


def _read_zarr(zarr: Any, path: str) -> Volume:
    """The largest size of the first image of OME-Zarr, of either version."""
    group = zarr.open_group(path, mode="r")
    attributes: dict[str, Any] = dict(group.attrs)
    images = attributes.get("ome", attributes).get("multiscales")
    if not images:
        raise ValueError("it has no multiscales; save it as an OME-Zarr image")
    image, largest = images[0], images[0]["datasets"][0]
    voxels = np.asarray(group[largest["path"]])
    axes = "".join(axis["name"] if isinstance(axis, dict) else axis for axis in image.get("axes", "tczyx"))
    sides, origin = np.ones(len(axes)), np.zeros(len(axes))
    for step in (step for source in (largest, image) for step in source.get("coordinateTransformations", ())):
        if step["type"] == "scale":
            sides, origin = sides * step["scale"], origin * step["scale"]
        elif step["type"] == "translation":
            origin = origin + step["translation"]
    # A missing axis is refused below.
    in_space = [max(0, axes.find(name)) for name in "xyz"]
    return Volume.of(voxels, axes, np.diag(sides[in_space]), origin[in_space])


_READERS = {"nifti": _read_nifti, "tiff": _read_tiff, "nrrd": _read_nrrd, "zarr": _read_zarr}
