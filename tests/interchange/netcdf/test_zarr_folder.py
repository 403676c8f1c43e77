"""What a Zarr folder may hold: codecs of a list, in whatever metadata; files that lie in it, and no links."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sheetarray as sa

zarr: Any = pytest.importorskip("zarr")
numcodecs: Any = pytest.importorskip("numcodecs")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


class Exploit:
    """A value whose pickle writes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def write_old(path: Path, **settings: Any) -> Path:
    """Write a folder of version 2 by hand, with one array of one chunk in it."""
    array = {"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|O", "order": "C", "fill_value": None}
    (path / "a").mkdir(parents=True)
    (path / ".zgroup").write_text('{"zarr_format": 2}')
    (path / "a" / ".zarray").write_text(json.dumps(array | {"compressor": None, "filters": None} | settings))
    (path / "a" / ".zattrs").write_text('{"_ARRAY_DIMENSIONS": ["x"]}')
    return path


def write_new(path: Path, codecs: Any, **settings: Any) -> Path:
    """Write a folder of version 3 by hand."""
    (path / "a").mkdir(parents=True)
    (path / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group", "attributes": {}}')
    grid = {"name": "regular", "configuration": {"chunk_shape": [2]}}
    keys = {"name": "default", "configuration": {"separator": "/"}}
    array = {"zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "int64", "chunk_grid": grid}
    array |= {"chunk_key_encoding": keys, "fill_value": 0, "codecs": codecs, "attributes": {}, "dimension_names": ["x"]}
    (path / "a" / "zarr.json").write_text(json.dumps(array | settings))
    return path


BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
SHARDS = {
    "chunk_shape": [1],
    "codecs": [BYTES],
    "index_codecs": [BYTES, {"name": "crc32c"}],
    "index_location": "end",
}


def refuse(path: Path, match: str) -> None:
    """Assert that all verbs refuse a folder."""
    for verb in (sa.read, sa.scan, sa.read_dataset):
        with pytest.raises(sa.FormatError, match=match):
            verb(path)
    assert [finding.severity for finding in sa.check(path)] == ["error"]


@pytest.mark.parametrize("where", ["filters", "compressor"])
@pytest.mark.parametrize("consolidated", [False, True])
def test_no_pickle_is_loaded(where: str, consolidated: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard of newer releases of numcodecs is off here, as if there were none."""
    if hasattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE"):
        monkeypatch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True)
    codec = {"id": "pickle", "protocol": 5}
    path = write_old(tmp_path / "t.zarr", **{where: [codec] if where == "filters" else codec})
    (path / "a" / "0").write_bytes(pickle.dumps(Exploit(tmp_path / "proof")))
    if consolidated:
        names = [".zgroup", "a/.zarray", "a/.zattrs"]
        metadata = {name: json.loads((path / name).read_text()) for name in names}
        (path / ".zmetadata").write_text(json.dumps({"zarr_consolidated_format": 1, "metadata": metadata}))
        (path / "a" / ".zarray").unlink()
    refuse(path, "the codec 'pickle' is not read")
    assert not (tmp_path / "proof").exists()


@pytest.mark.parametrize(
    "codecs",
    [
        [{"name": "numcodecs.pickle"}],
        [{"name": "pickle"}],
        ["pickle"],
        [{"name": "my_package.codec"}],
        [BYTES, {"name": "numcodecs.msgpack2"}],
        [{"id": "pickle"}],
        [BYTES, [{"name": "pickle"}]],
        [{"name": "sharding_indexed", "configuration": SHARDS | {"codecs": [{"name": "numcodecs.pickle"}]}}],
        [{"name": "sharding_indexed", "configuration": SHARDS | {"index_codecs": [{"name": "numcodecs.pickle"}]}}],
        [
            {
                "name": "sharding_indexed",
                "configuration": SHARDS
                | {"codecs": [{"name": "sharding_indexed", "configuration": SHARDS | {"codecs": [{"name": "x"}]}}]},
            }
        ],
        [{"name": 5}],
        [5],
        {"name": "pickle"},
        [BYTES, {"name": "numcodecs.astype", "configuration": {"encode_dtype": "|O", "decode_dtype": "i8"}}],
    ],
)
def test_codecs_of_version_3_are_those_of_the_list_at_any_depth(codecs: Any, tmp_path: Path) -> None:
    refuse(write_new(tmp_path / "t.zarr", codecs), "the codec .* (is not read|has the dtype)")


def test_metadata_of_groups_within_and_consolidated_ones_are_looked_at(tmp_path: Path) -> None:
    path = write_new(tmp_path / "t.zarr", [BYTES])
    bad = json.loads((path / "a" / "zarr.json").read_text()) | {"codecs": [{"name": "numcodecs.pickle"}]}
    (path / "inner" / "deep").mkdir(parents=True)
    (path / "inner" / "deep" / "zarr.json").write_text(json.dumps(bad))
    refuse(path, "numcodecs.pickle")
    shutil.rmtree(path / "inner")
    root = json.loads((path / "zarr.json").read_text())
    for inside in ({"b": bad}, {"inner/deep": bad}):
        root["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": inside}
        (path / "zarr.json").write_text(json.dumps(root))
        refuse(path, "numcodecs.pickle")
    del root["consolidated_metadata"]
    (path / "zarr.json").write_text(json.dumps(root))
    assert sa.read(path)["a"].tolist() == [0, 0]


def test_attributes_may_be_called_like_codecs(tmp_path: Path) -> None:
    import xarray as xr

    for version in (2, 3):
        path = tmp_path / f"{version}.zarr"
        dataset = xr.Dataset(
            {"t": ("x", [1, 2], {"filters": "none", "codecs": [1, 2]})}, attrs={"compressor": "pickle"}
        )
        dataset.to_zarr(path, zarr_format=version, consolidated=version == 2)
        assert sa.read(path)["t"].tolist() == [1, 2]


@pytest.mark.parametrize("encoding", ["../x", "my_package.keys", None])
def test_chunks_have_the_names_that_zarr_gives_them(encoding: Any, tmp_path: Path) -> None:
    path = write_new(tmp_path / "t.zarr", [BYTES], chunk_key_encoding={"name": encoding})
    refuse(path, "chunks are named by")


def test_names_in_consolidated_metadata_do_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    outside = write_old(tmp_path / "outside.zarr", dtype="<i8")
    (outside / "a" / "0").write_bytes(np.array([42, 43]).tobytes())
    path = write_old(tmp_path / "t.zarr", dtype="<i8")
    array, attributes = (json.loads((path / "a" / name).read_text()) for name in (".zarray", ".zattrs"))
    for place in ("../outside.zarr/a", str(outside / "a")):
        metadata = {f"{place}/.zarray": array, f"{place}/.zattrs": attributes, ".zgroup": {"zarr_format": 2}}
        (path / ".zmetadata").write_text(json.dumps({"zarr_consolidated_format": 1, "metadata": metadata}))
        assert "42" not in repr({name: array.tolist() for name, array in sa.read(path).items()})


CODECS = [
    *([codec] for codec in ("Zlib", "GZip", "BZ2", "LZMA", "Zstd", "LZ4", "Blosc")),
    *([codec, "Zstd"] for codec in ("Shuffle", "CRC32", "Fletcher32", "Adler32")),
]


@pytest.mark.parametrize("codecs", CODECS, ids=" ".join)
def test_what_other_programs_compress_by_is_read(codecs: list[str], tmp_path: Path) -> None:
    array = np.arange(1000).reshape(10, 100)
    group = zarr.open_group(tmp_path / "t.zarr", mode="w", zarr_format=2)
    *filters, compressor = [getattr(numcodecs, name)() for name in codecs]
    group.create_array("a", data=array, chunks=(3, 40), filters=filters or None, compressors=compressor)
    assert np.array_equal(sa.read(tmp_path / "t.zarr")["a"], array)
    assert list(sa.check(tmp_path / "t.zarr")) == []


def test_shards_are_read_and_damage_in_them_is_found(tmp_path: Path) -> None:
    array = np.arange(1000).reshape(10, 100)
    codecs = {"zstd": zarr.codecs.ZstdCodec(), "blosc": zarr.codecs.BloscCodec(), "gzip": zarr.codecs.GzipCodec()}
    for name, compressor in codecs.items():
        for shards in (None, (10, 50)):
            path = tmp_path / f"{name} {shards}.zarr"
            group = zarr.open_group(path, mode="w", zarr_format=3)
            group.create_array("a", data=array, chunks=(5, 10), shards=shards, compressors=compressor)
            assert np.array_equal(sa.read(path)["a"], array)
            assert list(sa.check(path)) == []
            place = next(path.glob("a/c/*/*"))
            for content in (b"", place.read_bytes()[: 40 if shards else -1], b"\xff" * 500):
                place.write_bytes(content)
                with pytest.raises(sa.FormatError):
                    sa.read(path)


@cache
def inflating(codec: str, size: int) -> bytes:
    """Bytes of a codec that make `size` zeros."""
    import bz2
    import lzma
    import zlib

    if codec in ("zstd", "lz4", "blosc"):
        codecs = {"zstd": numcodecs.Zstd, "lz4": numcodecs.LZ4, "blosc": numcodecs.Blosc}
        return bytes(codecs[codec]().encode(bytes(size)))
    if codec == "zstd without a size":
        import zstandard

        packer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    else:
        makers: dict[str, Any] = {"zlib": zlib.compressobj, "bz2": bz2.BZ2Compressor, "lzma": lzma.LZMACompressor}
        packer = makers[codec]() if codec in makers else zlib.compressobj(wbits=31)
    return b"".join([*(packer.compress(bytes(2**20)) for _ in range(size // 2**20)), packer.flush()])


BOMBS = ["zlib", "gzip", "bz2", "lzma", "zstd", "zstd without a size", "lz4", "blosc"]


@pytest.mark.parametrize("codec", BOMBS)
@pytest.mark.parametrize("version", [2, 3])
def test_a_chunk_inflates_to_no_more_than_its_elements(codec: str, version: int, tmp_path: Path) -> None:
    """1,137 bytes of bz2 took 3.2 GB. 2**20 elements are read; a chunk that makes four times as many is refused."""
    name, shape = codec.partition(" ")[0], {"shape": [2**20], "dtype": "<i8"}
    if version == 2:
        path = write_old(tmp_path / "t.zarr", **shape, chunks=[2**20], compressor={"id": name})
        place = path / "a" / "0"
    else:
        prefix = "" if name in ("gzip", "zstd", "blosc") else "numcodecs."
        settings = {"level": 3, "checksum": False} if name == "zstd" else {"level": 5} if name == "gzip" else {}
        if name == "blosc":
            settings = {"typesize": 8, "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0}
        codecs = [BYTES, {"name": f"{prefix}{name}", "configuration": settings}]
        grid = {"name": "regular", "configuration": {"chunk_shape": [2**20]}}
        path = write_new(tmp_path / "t.zarr", codecs, shape=[2**20], chunk_grid=grid)
        place = path / "a" / "c" / "0"
        place.parent.mkdir()
    place.write_bytes(inflating(codec, 2**23))
    assert sa.read(path)["a"].shape == (2**20,)
    assert list(sa.check(path)) == []
    place.write_bytes(inflating(codec, 2**25))
    with pytest.raises(sa.FormatError, match="inflates to more than its elements"):
        sa.read(path)


@pytest.mark.parametrize(
    "settings",
    [
        {"filters": [{"id": "zlib"}], "compressor": {"id": "zlib"}},
        {"filters": [{"id": "bz2"}, {"id": "shuffle"}]},
        {"filters": [{"id": "zlib"}, {"id": "crc32"}]},
    ],
)
def test_compressions_of_compressed_chunks_are_not_read(settings: dict[str, Any], tmp_path: Path) -> None:
    refuse(write_old(tmp_path / "t.zarr", dtype="<i8", **settings), "one after the other are not read")


def test_fill_values_take_no_more_memory_than_the_files_may(tmp_path: Path) -> None:
    """At the limit of 512 MiB an array of which nothing is stored is read, beyond it it is refused."""
    for more, shape in ((0, [2**29]), (1, [2**29 + 1]), (2, [2**40]), (3, [2**62, 2**62])):
        settings = {"shape": shape, "chunks": [min(size, 2**20) for size in shape], "dtype": "|i1", "fill_value": 7}
        path = write_old(tmp_path / f"{more}.zarr", **settings)
        (path / "a" / ".zattrs").unlink()  # so that 7 is not a mark of missing elements, for which floats are needed
        assert [finding.severity for finding in sa.check(path)] == ["error"] * bool(more)
        if more:
            with pytest.raises(sa.FormatError, match="more than is read at once"):
                sa.read(path)
    settings = {"shape": [4], "chunks": [2**40], "dtype": "|i1", "fill_value": 7}
    with pytest.raises(sa.FormatError, match="more than is read at once"):
        sa.read(write_old(tmp_path / "chunk.zarr", **settings))


# Links ---------------------------------------------------------------------------------------------------------------

pytest_links = pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="the system has no symbolic links to try")


def write_folder(path: Path) -> Path:
    sa.write(path, {"a": np.arange(3.0), "b": np.arange(4.0)})
    return path


@pytest_links
@pytest.mark.parametrize("suffix", [".zarr", ".ra"])
def test_no_link_in_a_folder_is_followed(suffix: str, tmp_path: Path) -> None:
    """`{'leak': b'SECRET'}` was read through a link."""
    secret = write_folder(tmp_path / f"secret{suffix}")
    inner = "a" if suffix == ".zarr" else "a.ra"
    for number, (link, target) in enumerate(
        [
            ("leak.ra" if suffix == ".ra" else "leak", secret / inner),
            (inner, secret / inner),
            ("folder", secret),
            ("dangling", tmp_path / "absent"),
            ("to itself", Path("to itself")),
            ("inside", Path(inner)),
            *([("a/0", secret / "a" / "0"), ("a/.zarray", secret / "a" / ".zarray")] if suffix == ".zarr" else []),
        ]
    ):
        path = write_folder(tmp_path / f"t{number}{suffix}")
        place = path / link
        if place.is_dir():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        place.symlink_to(target)
        for verb in (sa.read, sa.scan):
            with pytest.raises(sa.FormatError, match="links are not followed"):
                verb(path)
        assert [finding.severity for finding in sa.check(path)] == ["error"]
    (tmp_path / f"link{suffix}").symlink_to(secret)  # one that the caller names
    assert sa.read(tmp_path / f"link{suffix}", ["a"])["a"].tolist() == [0, 1, 2]


@pytest_links
@pytest.mark.parametrize("suffix", [".zarr", ".ra"])
@pytest.mark.parametrize("whole", [False, True])
def test_a_link_that_comes_while_the_folder_is_read_is_not_followed(
    suffix: str, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes the place of a file, or of a folder on the way to it, after everything was looked at."""
    sa.write(tmp_path / f"secret{suffix}", {"a": np.array([42.0, 42.0, 42.0]), "b": np.arange(4.0)})
    path = write_folder(tmp_path / f"t{suffix}")
    if suffix == ".ra" and whole:
        pytest.skip("the files of such a folder lie in it itself")
    opens, place = os.open, path / ("a.ra" if suffix == ".ra" else "a" if whole else "a/0")

    def swap(name: Any, flags: int, *mode: int, dir_fd: int | None = None) -> int:
        if name == place.name and dir_fd is not None:
            monkeypatch.setattr(os, "open", opens)
            place.rename(tmp_path / "away")
            place.symlink_to(tmp_path / f"secret{suffix}" / place.relative_to(path))
        return opens(name, flags, *mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swap)
    with pytest.raises(sa.FormatError, match="links are not followed"):
        sa.read(path)


@pytest_links
def test_pipes_in_a_folder_are_refused_and_not_waited_for(tmp_path: Path) -> None:
    for suffix in (".zarr", ".ra"):
        path = write_folder(tmp_path / f"t{suffix}")
        os.mkfifo(path / "pipe.ra")
        with pytest.raises(sa.FormatError, match="neither a file nor a folder"):
            sa.read(path)
