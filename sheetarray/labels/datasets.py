"""xarray Datasets and DataArrays as plain arrays with a description, and back."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Array
from ..errors import DTypeError, FormatError, LimitError, MissingDependencyError, warn_caller
from ..values import DEFAULT_NAME, EXTENSIONS, OBJECTS, as_array, is_of, is_whole, name_of_variable, naming, note_of
from .description import DatasetLabels, VariableLabels
from .frames import free_name
from .pandas_dtypes import MASKED, describe_categories, restore_column

if TYPE_CHECKING:
    import xarray as xr


def describe_dataset(value: Any) -> tuple[dict[str, Array], DatasetLabels]:
    """Return the arrays of a Dataset or a DataArray with its coordinates, and their labels.

    Raises:
        DTypeError: names the variable that no array holds.
        LimitError: two variables would have one name.
    """
    dataset = value if is_of(value, "xarray", "Dataset") else _to_dataset(value)
    described = dataset.to_dict(data=False)
    labels = DatasetLabels(attrs=dict(dataset.attrs))
    composed = _composed_indexes(dataset)
    labels.frame.index = {dim: levels for dim, levels in composed.items() if dim != levels[0]}
    arrays: dict[str, Array] = {}
    labels.frame.labels = _list_labels(dataset)
    labels.frame.indexed = _unusual_indexes(dataset)
    for kind, variables in (("coords", labels.coords), ("data_vars", labels.data_vars)):
        for label, entry in described[kind].items():
            variable, name = dataset.variables[label], name_of_variable(label)
            with naming(name):
                dims = tuple(name_of_variable(dim) for dim in entry["dims"])
                if len({*dims}) < len(dims):
                    raise DTypeError("a dimension occurs twice: rename one, variable.swap_dims or .set_dims")
                note = None if name in composed else note_of(variable)
                attrs = ({"units": note.units} if note and note.units else {}) | dict(variable.attrs)
                dtype = note.kind if note and note.kind else entry["dtype"]
                variables[name] = VariableLabels(dims, dtype, tuple(entry["shape"]), attrs)
                if name in composed:
                    continue
                arrays[name] = as_array(variable)
                if dtype == "category":
                    labels.frame.categories[name] = describe_categories(variable.data.dtype)
    return {label: arrays[label] for label in map(name_of_variable, dataset.variables) if label in arrays}, labels


def holds_labelled(arrays: Any) -> bool:
    """Return whether arrays are a mapping that holds DataArrays with labels."""
    return "xarray" in sys.modules and isinstance(arrays, Mapping) and any(map(_is_labelled, arrays.values()))


def combine_labelled(arrays: Mapping[Any, Any]) -> Any:
    """Return the Dataset of the labelled DataArrays in a mapping; None, with a warning, if their labels contradict."""
    import xarray as xr

    parts = [_to_dataset(array.rename(name)) for name, array in arrays.items() if _is_labelled(array)]
    try:
        return xr.merge(parts, join="exact", compat="identical", combine_attrs="override")
    except ValueError as error:
        reason = str(error).partition("\n")[0].partition(". ")[0]
        warn_caller(f"labels of the DataArrays are left out, since they contradict each other: {reason}")
        return None


def _is_labelled(array: Any) -> bool:
    """Return whether a value is a DataArray with coordinates, attributes or names of dimensions that somebody gave."""
    if not is_of(array, "xarray", "DataArray"):
        return False
    is_named = any(dim != f"dim_{axis}" for axis, dim in enumerate(array.dims))
    return bool(is_named or array.coords or array.attrs)


def _to_dataset(array: Any) -> Any:
    """Return the Dataset of a DataArray and its coordinates."""
    name = DEFAULT_NAME if array.name is None or array.name == "" else name_of_variable(array.name)
    if name in map(name_of_variable, array.coords):
        if array.name is None:
            raise LimitError(
                f"two arrays would have the name {name!r}: give the DataArray another name with .rename(..)"
            )
        coordinate = array.coords[array.name].variable
        if not array.variable.to_base_variable().identical(coordinate.to_base_variable()):
            raise LimitError(
                f"two arrays would have the name {name!r}, the DataArray and its coordinate: .rename(..) one"
            )
        return array.coords.to_dataset()  # it is one of its own coordinates
    return array.to_dataset(name=name)


def _list_labels(dataset: Any) -> dict[str, Any]:
    """Return the labels of variables and dimensions that are no text, by the names that stand for them."""
    labels: dict[str, Any] = {}
    for label in [*dataset.variables, *dataset.sizes]:
        name = name_of_variable(label)
        if labels.setdefault(name, label) != label:
            raise LimitError(f"two arrays or dimensions would have the name {name!r}")
    return {name: label for name, label in labels.items() if label != name}


def _unusual_indexes(dataset: Any) -> dict[str, bool]:
    """Return the coordinates that have an index although no dimension has their name (True), and those that have none
    although one has (False).

    Warns:
        SheetArrayWarning: an index that is not made again.
    """
    indexed: dict[str, bool] = {}
    for index, coordinates in dataset.xindexes.group_by_index():
        names = [name_of_variable(label) for label in coordinates]
        if is_of(index, "xarray", "PandasIndex") and len(names) == 1 and index.coord_dtype is not None:
            if dataset.variables[next(iter(coordinates))].dims != (*coordinates,):
                indexed[names[0]] = True
        elif not is_of(index, "xarray", "PandasMultiIndex"):
            warn_caller(
                f"{', '.join(names):.200}: an index of xarray's {type(index).__name__} is not kept, only its values"
            )
    missing = [label for label in dataset.coords if label in dataset.sizes and label not in dataset.xindexes]
    return indexed | {name_of_variable(label): False for label in missing}


def _composed_indexes(dataset: Any) -> dict[str, tuple[str, ...]]:
    """Return the names of the levels of each index of several levels."""
    indexes = {}
    for index in dataset.xindexes.get_unique():
        if is_of(index, "xarray", "PandasMultiIndex"):
            indexes[name_of_variable(index.dim)] = tuple(map(name_of_variable, index.index.names))
    return indexes


def build_dataset(
    arrays: Mapping[str, Any], labels: DatasetLabels | None, dims: Mapping[str, tuple[str, ...]] | None = None
) -> xr.Dataset:
    """Return arrays as a Dataset, with the labels of a description.

    `arrays`: by name; those of which nothing is said have dimensions of their own, `a_0`, `a_1`. `labels`: of the
    arrays; None if the source has no description. `dims`: names of dimensions, if `name_dimensions` has been called
    already; the arrays may then be lazy.

    Raises:
        DTypeError: an awkward array.
        FormatError: the description contradicts the arrays; `.array` is the name of one.
        MissingDependencyError: xarray is not installed.
    """
    package = _import_xarray()
    labels = labels or DatasetLabels()
    dims = name_dimensions(arrays, labels) if dims is None else dims
    variables: dict[str, Any] = {}
    for name, array in arrays.items():
        description = labels.find(name)
        values = _restore_variable(name, array, labels) if isinstance(array, np.ndarray) else array
        variables[name] = package.Variable(dims[name], values, dict(description.attrs) if description else None)
    indexes = {}
    for dim, levels in labels.frame.index.items():
        if all(level in arrays for level in levels):
            indexes[dim] = _compose_index(dim, levels, variables, labels)
    coords = {name: variables[name] for name in labels.coords if name in variables}
    dataset: xr.Dataset = package.Dataset(
        {name: variable for name, variable in variables.items() if name not in coords},
        {name: variable for name, variable in coords.items() if not any(name in index for index in indexes.values())},
        dict(labels.attrs),
    )
    for dim, index in indexes.items():
        dataset = dataset.assign_coords(index)
        for level in (dim, *labels.frame.index[dim]):
            if labels.find(level) is not None:
                dataset[level].attrs.update(labels.get(level).attrs)
    return _restore_indexes(dataset, labels)


def _restore_indexes(dataset: xr.Dataset, labels: DatasetLabels) -> xr.Dataset:
    """Return a Dataset with the indexes that were written, and with names that were not text."""
    for name, indexed in labels.frame.indexed.items():
        if name not in dataset.coords or dataset.coords[name].ndim != 1 or (name in dataset.xindexes) == indexed:
            continue
        dataset = dataset.set_xindex(name) if indexed else dataset.drop_indexes(name)
    names = {*dataset.variables, *dataset.sizes}
    renamed = {name: label for name, label in labels.frame.labels.items() if name in names and _stands_for(name, label)}
    try:
        return dataset.rename(renamed) if renamed else dataset
    except (ValueError, TypeError) as error:  # two are equal; xarray has no index along a dimension named 1
        warn_caller(f"names stay text: {error!s:.200}")
        return dataset


def _stands_for(name: str, label: Any) -> bool:
    try:
        return name_of_variable(label) == name
    except DTypeError:
        return False


def name_dimensions(shapes: Mapping[str, Any], labels: DatasetLabels) -> dict[str, tuple[str, ...]]:
    """Return the names of the dimensions of each array, which agree in their sizes.

    `shapes`: arrays, or other objects with the attribute `shape`, by name.

    Raises:
        DTypeError: an awkward array.
        FormatError: the description contradicts the shapes; `.array` is the name of one.
    """
    dims: dict[str, tuple[str, ...]] = {}
    for name, array in shapes.items():
        if not hasattr(array, "strides"):
            raise DTypeError(f"{name}: an awkward array, which has no dimensions to name: names= chooses other arrays")
        description = labels.find(name)
        if description is not None and labels.has_array(name):
            dims[name] = description.dims
    for error in find_contradictions(shapes, labels):
        raise error
    taken = {dim for names in dims.values() for dim in names}
    for name, array in shapes.items():
        if name not in dims:
            dims[name] = tuple(free_name(f"{name}_{axis}", taken) for axis in range(len(array.shape)))
    return dims


def find_contradictions(shapes: Mapping[str, Any], labels: DatasetLabels) -> Iterator[FormatError]:
    """Yield an error for each array whose shape is not the one that a description, or the arrays before it, give it.

    `shapes`: arrays, or other objects with the attribute `shape`, by name.
    """
    owners: dict[str, tuple[str, int]] = {}
    for name, array in shapes.items():
        description = labels.find(name)
        if description is None or not labels.has_array(name):
            continue
        if len(description.dims) != len(array.shape):
            yield FormatError(
                f"{name!r:.80} has the shape {array.shape}, but its labels name the dimensions "
                f"{description.dims!r:.200}",
                array=name,
                hint="delete the array dataset.json to read it without labels",
            )
            continue
        for dim, size in zip(description.dims, array.shape, strict=True):
            other, expected = owners.setdefault(dim, (name, size))
            if size != expected:
                yield FormatError(
                    f"the dimension {dim!r:.80} has {expected} in {other!r:.80}, and {size} in {name!r:.80}",
                    array=name,
                )
                break


def fit_labels(labels: DatasetLabels, arrays: Mapping[str, Any]) -> DatasetLabels:
    """Return the labels of some arrays alone, with the shapes that these have.

    `labels`: what the description says, also of other arrays. `arrays`: by name; awkward ones have no labels.

    Raises:
        FormatError: it contradicts the arrays; `.array` is the name of one.
    """
    shapes = {name: array for name, array in arrays.items() if hasattr(array, "strides")}
    name_dimensions(shapes, labels)
    frame = replace(
        labels.frame,
        index={dim: levels for dim, levels in labels.frame.index.items() if all(level in shapes for level in levels)},
    )

    def fit(variables: Mapping[str, VariableLabels]) -> dict[str, VariableLabels]:
        fitted = {}
        for name, variable in variables.items():
            owner = frame.index.get(name, (name,))[0]
            if owner in shapes:
                fitted[name] = replace(variable, shape=tuple(shapes[owner].shape))
        return fitted

    return DatasetLabels(fit(labels.coords), fit(labels.data_vars), labels.attrs, frame)


def _restore_variable(name: str, array: Array, labels: DatasetLabels) -> Any:
    """Return the array of a variable in the dtype that it had, if xarray can hold it."""
    description = labels.find(name)
    if description is None:
        return array
    if description.dtype == "object" or OBJECTS.fullmatch(description.dtype):
        return restore_column(name, array, description.dtype)
    if description.dtype in _MISSING_TEXTS and array.dtype.kind == "O":
        return _restore_texts(name, array, _MISSING_TEXTS[description.dtype])
    is_pandas = MASKED.fullmatch(description.dtype) or EXTENSIONS.fullmatch(description.dtype)
    if array.ndim == 1 and (is_pandas or description.dtype.endswith("[pyarrow]")):
        column = restore_column(name, array, description.dtype)
        return _to_index(column) if description.dims == (name,) else column
    if description.dtype == "category" and array.ndim == 1:
        return restore_column(name, array, "category", labels.frame.categories.get(name))
    return array


_MISSING_TEXTS = {"StringDType(na_object=None)": None, "StringDType(na_object=nan)": np.nan}


def _restore_texts(name: str, array: Array, missing: float | None) -> Array:
    """Return texts and None as an array of NumPy's `StringDType`, with the object that it has for missing texts."""
    values = [missing if value is None else value for value in array.ravel().tolist()]
    if strange := [value for value in values if not isinstance(value, str) and value is not missing]:
        raise FormatError(f"{name!r:.80} holds {strange[0]!r:.60}, but was written as text", array=name)
    return np.array(values, dtype=np.dtypes.StringDType(na_object=missing)).reshape(array.shape)


def _to_index(column: Any) -> Any:
    """Return a column as an index of pandas, whose dtype xarray keeps in a coordinate along its own dimension."""
    import pandas as pd

    return pd.Index(column)


def _compose_index(dim: str, levels: tuple[str, ...], variables: Mapping[str, Any], labels: DatasetLabels) -> Any:
    import pandas as pd

    values = {level: variables[level].values for level in levels}
    for level, array in values.items():
        if array.dtype == object and is_whole(labels.get(level).dtype):  # xarray reads a NaN of theirs as a number
            values[level] = pd.to_numeric(array)
    index = pd.MultiIndex.from_arrays(list(values.values()), names=levels)
    return _import_xarray().Coordinates.from_pandas_multiindex(index, dim)


def _import_xarray() -> Any:
    try:
        import xarray
    except ImportError as error:
        raise MissingDependencyError(
            "a Dataset needs xarray: pip install 'sheetarray[xarray]'", name="xarray"
        ) from error
    return xarray
