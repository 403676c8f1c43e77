"""Which functions a schema may name: constructors by default, the caller's functions, what a whitelist lets in."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward_layouts import Blobs, buffer, call, refused, values_of

import sheetarray as sa
from sheetarray.interchange.awkward import WHITELIST, deserialize

INTS = np.arange(4)


def _objects(blobs: Blobs, spec: Any, *args: Any, **kwargs: Any) -> Any:
    arguments = {"tuple": [{"json": value} for value in args]}
    keywords = {"dict": {name: {"json": value} for name, value in kwargs.items()}}
    return call("ObjectArray", blobs.array(INTS), {"function": spec}, arguments, keywords)


def _virtual(spec: Any, *args: Any, **more: Any) -> Any:
    return call("VirtualArray", {"function": spec}, {"tuple": list(args)}, {"dict": {}}, **more)


# Whitelists ----------------------------------------------------------------------------------------------------------


def test_a_whitelist_of_the_caller_narrows() -> None:
    blobs = Blobs()
    ints = blobs.array(INTS)
    assert blobs.read(ints, whitelist=[["awkward0", "numpy", "frombuffer"]]).tolist() == [0, 1, 2, 3]
    assert blobs.read(ints, whitelist="awkward0").tolist() == [0, 1, 2, 3]
    old = {**ints, "call": ["awkward", "numpy", "frombuffer"]}
    for whitelist in ("awkward", "awkward0", "awk*", ["awkward0", "numpy"]):
        assert blobs.read(old, whitelist=whitelist).tolist() == [0, 1, 2, 3]
    for whitelist in ([], [["zlib", "decompress"]], "numpy", ["awkward0", "numpy", "frombuffer", "x"]):
        refused(blobs, ints, "frombuffer is not in the whitelist", whitelist=whitelist)


SPECS = """
["os", "system"] ["builtins", "eval"] ["builtins", "__import__"] ["subprocess", "Popen"] ["pickle", "loads"] ["", "x"]
["awkward0", "JaggedArray", "__subclasses__"] ["awkward0", "JaggedArray", "fromcounts", "__globals__"]
["awkward0.persist", "load"] ["awkward0.persist", "save"] ["awkward0.persist", "topython"] ["awkward", "fromiter"]
["awkward0", "numpy", "fromfile"] ["awkward0", "numpy", "frombuffer", "x"] ["numpy", "load"] ["zlib", "compress"]
["awkward0.arrow", "_ParquetFile", "fromjson"] ["sheetarray", "read"] ["awkward0.", "JaggedArray"] ["awkward0*", "*"]
["AWKWARD0", "JaggedArray"] ["awkward0", "jaggedarray"] ["awkward0", "JaggedArray "] ["antigravity", "x"]
"""


@pytest.mark.parametrize("spec", values_of(SPECS), ids=repr)
def test_no_other_name_is_known_by_default(spec: list[str]) -> None:
    blobs = Blobs(x=b"abc")
    args = [{"read": "x"}, {"json": "int8"}]
    for whitelist in (WHITELIST, [*WHITELIST], [*map(list, WHITELIST)]):
        refused(blobs, {"call": spec, "args": args}, None, whitelist=whitelist)
        refused(blobs, {"list": [{"function": spec}]}, None, "schema.list[0]", whitelist=whitelist)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module that leaves a mark when it is imported."""
    (tmp_path / "imported_by_a_file.py").write_text(
        "from pathlib import Path\nimport os\nPath(__file__).with_name('marker').touch()\n"
        "def double(content, *args, **kwargs):\n    return content * 2\n"
        "def _private(content):\n    return content\n"
        "class Point:\n    @staticmethod\n    def of(content):\n        return content + 1\n    number = 5\n"
        "def fails(content):\n    raise ZeroDivisionError('mine')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "imported_by_a_file"
    sys.modules.pop("imported_by_a_file", None)


def _imported(module: str) -> bool:
    return module in sys.modules


def test_only_a_pattern_of_the_callers_lets_a_module_be_imported(module: str, tmp_path: Path) -> None:
    blobs = Blobs()
    for whitelist in (WHITELIST, [*WHITELIST, ["other", "*"]], [*WHITELIST, [module, "double", "x"]]):
        refused(
            blobs, _objects(blobs, [module, "double"]), "is not in the whitelist", "schema.args[1]", whitelist=whitelist
        )
    assert not _imported(module)
    assert not (tmp_path / "marker").exists()
    for whitelist in (
        "*",
        [*WHITELIST, [module, "double"]],
        [*WHITELIST, [module]],
        [*WHITELIST, ["imported_*", "d*"]],
    ):
        assert blobs.read(_objects(blobs, [module, "double"]), whitelist=whitelist).tolist() == [0, 2, 4, 6]
    assert (tmp_path / "marker").exists()
    nested = [*WHITELIST, [module, "Point"]]
    assert blobs.read(_objects(blobs, [module, "Point", "of"]), whitelist=nested).tolist() == [1, 2, 3, 4]


WAYS = {
    "is private": ["_private", "__doc__", "Point __subclasses__", "Point __class__ mro", "Point.of", "double()", "1"],
    "cannot be imported": ["nothing", "Point nothing"],
    "leads to another module": ["os", "os getcwd"],
    "is not a function": ["Point number"],
}


@pytest.mark.parametrize(("match", "names"), [(match, names) for match, ways in WAYS.items() for names in ways])
def test_private_names_and_ways_through_other_modules_are_refused_whatever_the_whitelist(
    names: str, match: str, module: str
) -> None:
    blobs = Blobs()
    refused(blobs, _objects(blobs, [module, *names.split()]), match, "schema.args[1]", whitelist="*")


@pytest.mark.parametrize(
    "name", ["os._x", "_io", "os.__init__", "importlib._bootstrap", ".os", "os.", "a b", "no_such_module"]
)
def test_private_and_missing_modules_are_refused_whatever_the_whitelist(name: str) -> None:
    blobs = Blobs()
    refused(blobs, _objects(blobs, [name, "open"]), "private|cannot be imported", "schema.args[1]", whitelist="*")


def test_nothing_of_awkward0_itself_is_ever_imported() -> None:
    blobs = Blobs()
    for spec in ("awkward0.persist load", "awkward from_iter", "awkward.persist save", "awkward0 fromiter"):
        refused(blobs, {"call": spec.split()}, "has no counterpart here", whitelist="*")


# Functions of the caller ---------------------------------------------------------------------------------------------


def test_a_function_of_the_caller_makes_an_object_array() -> None:
    blobs = Blobs()
    seen = []

    def point(content: ak.Array, *args: Any, **kwargs: Any) -> ak.Array:
        seen.append((type(content), content.tolist(), args, kwargs))
        return ak.zip({"x": content}, with_name="Point")

    functions = {("geometry", "Point"): point}
    result = blobs.read(_objects(blobs, ["geometry", "Point"], 1, [2], unit="cm"), functions=functions)
    assert result.tolist() == [{"x": n} for n in range(4)]
    assert ak.parameters(result)["__record__"] == "Point"
    assert seen == [(ak.Array, [0, 1, 2, 3], (1, [2]), {"unit": "cm"})]
    assert blobs.read(
        _objects(blobs, ["geometry", "Point"]), functions=functions, whitelist=[["awkward0"]]
    ).x.tolist() == [0, 1, 2, 3]
    lists = call("JaggedArray.fromcounts", blobs.array([1, 3]), _objects(blobs, ["geometry", "Point"]))
    assert blobs.read(lists, functions=functions).x.tolist() == [[0], [1, 2, 3]]


def test_what_is_no_array_is_refused_from_a_function() -> None:
    blobs = Blobs()
    for given, match in (
        (5, "what.* gave 5|gave 5, not an array"),
        (None, "gave None"),
        ([1, 2], "gave a list"),
        ("x", "gave 'x'"),
        (np.arange(3), "an array of 3 elements for 4"),
        (ak.Array([[1]]), "an array of 1 elements for 4"),
        (np.array([None] * 4), "Python objects"),
        (np.array(5), "without dimensions"),
    ):
        functions = {("m", "f"): lambda *_, given=given: given}
        refused(blobs, _objects(blobs, ["m", "f"]), match, functions=functions)
    assert (
        blobs.read(_objects(blobs, ["m", "f"]), functions={("m", "f"): lambda _: np.arange(4) * 2.5}).tolist()[3] == 7.5
    )


def test_what_a_function_of_the_callers_raises_is_not_caught() -> None:
    def fails(*_: Any) -> None:
        raise ZeroDivisionError("mine")

    blobs = Blobs()
    with pytest.raises(ZeroDivisionError, match="mine"):
        blobs.read(_objects(blobs, ["m", "f"]), functions={("m", "f"): fails})


def test_what_a_decompressor_of_the_callers_raises_is_an_error_in_the_blob() -> None:
    blobs = Blobs()
    blobs["damaged"] = b"damaged"
    inner = {"call": ["m", "inflate"], "args": [{"read": "damaged"}]}
    expression = buffer(inner, "int64", 1)
    with pytest.raises(sa.FormatError, match=r"m.inflate does not take the blob .*error: Error -3") as caught:
        blobs.read(expression, functions={("m", "inflate"): zlib.decompress})
    assert isinstance(caught.value.__cause__, zlib.error)
    assert caught.value.location == "schema.args[0]"


def test_generators_that_are_no_functions_are_refused() -> None:
    blobs = Blobs()
    ints = blobs.array(INTS)
    refused(blobs, call("ObjectArray", ints, {"json": "os.system"}), "the generator is 'os.system', not a function")
    refused(blobs, call("VirtualArray", {"json": None}), "the generator is None")
    wrong = call("VirtualArray", {"function": ["m", "f"]}, {"tuple": []}, {"list": []})
    refused(blobs, wrong, "kwargs is a list", functions={("m", "f"): np.arange})


def test_functions_are_named_by_tuples() -> None:
    for functions in ({"m.f": len}, {("m",): len}, {("m", "f"): 5}, {"m": len}, [("m", "f")], len):
        with pytest.raises(TypeError, match="functions must map"):
            deserialize({"": b"{}"}, functions=functions)  # type: ignore[arg-type]


def test_a_function_may_be_called_anywhere_and_gets_plain_things() -> None:
    seen: dict[str, Any] = {}

    def f(*args: Any, **kwargs: Any) -> Any:
        seen.update(args=args, kwargs=kwargs)
        return np.arange(3)

    blobs = Blobs(x=b"abc", y=np.arange(2))
    shared = {"list": [blobs.array(INTS), {"json": {"a": 1}}], "id": 5}
    pairs = {"pairs": [["a", {"tuple": [{"json": None}]}]]}
    arguments = [{"read": "x"}, {"read": "y"}, shared, {"ref": 5}, {"dtype": "int16"}, {"function": ["m", "f"]}, pairs]
    reader = {"cacheable": True, "whitelistable": True}
    whole = {"call": ["m", "f"], "args": arguments, "kwargs": {"k": {"json": 1}}, **reader}
    cache: dict[str, Any] = {}
    assert blobs.read(whole, functions={("m", "f"): f}, cache=cache).tolist() == [0, 1, 2]
    data, array, one, two, *others = seen["args"]
    assert (data, array is blobs["y"], one is two) == (b"abc", True, True)
    assert (one[0].tolist(), one[1]) == ([0, 1, 2, 3], {"a": 1})
    assert others == [np.dtype("<i2"), f, [("a", (None,))]]
    assert seen["kwargs"] == {"k": 1, "cache": cache, "whitelist": WHITELIST}


def test_a_function_of_the_callers_takes_the_place_of_a_constructor() -> None:
    blobs = Blobs()
    functions = {("awkward0", "JaggedArray", "fromcounts"): lambda counts, content: content[: len(counts)]}
    expression = call("JaggedArray.fromcounts", blobs.array([1, 2]), blobs.array(INTS))
    assert blobs.read(expression, functions=functions).tolist() == [0, 1]
    old = {**expression, "call": ["awkward", "JaggedArray", "fromcounts"]}
    assert blobs.read(old, functions=functions).tolist() == [0, 1]


# Virtual arrays ------------------------------------------------------------------------------------------------------


def test_virtual_arrays_are_made_at_once_by_constructors_too() -> None:
    blobs = Blobs()
    made = _virtual(["awkward0", "JaggedArray", "fromcounts"], blobs.array([1, 3]), blobs.array(INTS), cacheable=True)
    assert blobs.read(made).tolist() == [[0], [1, 2, 3]]
    assert blobs.read(_virtual(["m", "f"], {"json": 3}), functions={("m", "f"): np.arange}).tolist() == [0, 1, 2]
    bare = call("VirtualArray", {"function": ["m", "f"]}, {"json": 3})
    assert blobs.read(bare, functions={("m", "f"): np.arange}).tolist() == [0, 1, 2]
    refused(blobs, _virtual(["m", "f"]), r"the function m\.f is not in the whitelist", "schema.args[0]")
