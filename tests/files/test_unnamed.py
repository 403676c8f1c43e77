"""Files without a name, and systems that have none."""

import errno
import os
import stat

import pytest

import sheetarray as sa

pytestmark = pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="every file of this system has a name")


def write_twice(path):
    """Write a file, and write it again with other permissions; return its arrays and its permissions."""
    sa.write(path, {"t": [1]})
    first = stat.S_IMODE(path.stat().st_mode)
    path.chmod(0o604)
    sa.write(path, {"t": [2, 3]})
    return sa.read(path)["t"].tolist(), first, stat.S_IMODE(path.stat().st_mode)


def test_a_file_without_a_name_is_one_like_any_other(tmp_path, monkeypatch):
    (tmp_path / "plain").touch()
    expected = ([2, 3], stat.S_IMODE((tmp_path / "plain").stat().st_mode), 0o604)
    assert write_twice(tmp_path / "unnamed.csv") == expected

    def refuse(*_arguments, **_options):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    with monkeypatch.context() as patch:  # as some containers do
        patch.setattr(os, "link", refuse)
        assert write_twice(tmp_path / "copied.csv") == expected
    monkeypatch.delattr(os, "O_TMPFILE")
    assert write_twice(tmp_path / "named.csv") == expected
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ""}
    texts = {(tmp_path / f"{name}.csv").read_bytes() for name in ("unnamed", "copied", "named")}
    assert len(texts) == 1
