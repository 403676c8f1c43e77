"""Uploads of web frameworks are open files without a path: they are read as they come."""

from __future__ import annotations

import io
import tempfile
import zipfile
from typing import Any

import numpy as np
import pytest
from adapters_deleted import needing

import sheetarray as sa

FORMATS = ["csv", "json", "xlsx", "npz", "parquet"]


def written(name: str) -> bytes:
    file = io.BytesIO()
    sa.write(file, {"t": np.array([[0.1, np.nan]])}, format=name)
    return file.getvalue()


def check_read(file: Any) -> None:
    assert sa.scan(file)["t"].shape == (1, 2)
    file.seek(0)
    assert list(sa.check(file)) == []
    file.seek(0)
    assert sa.read(file)["t"].tolist()[0][0] == 0.1


@needing(*FORMATS)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("held", [10, 2**20])
def test_an_upload_of_starlette_is_read_by_its_file(name: str, held: int) -> None:
    datastructures = pytest.importorskip("starlette.datastructures")
    file = tempfile.SpooledTemporaryFile(max_size=held)  # noqa: SIM115  (as Starlette makes it)
    file.write(written(name))
    file.seek(0)
    upload = datastructures.UploadFile(file, filename=f"t.{name}")
    check_read(upload.file)
    with pytest.raises(TypeError, match=r"coroutines: give the file in it, such as UploadFile\.file"):
        sa.read(upload)
    file.close()


@needing(*FORMATS)
@pytest.mark.parametrize("name", FORMATS)
def test_uploads_of_django_are_read(name: str) -> None:
    conf = pytest.importorskip("django.conf")
    uploads = pytest.importorskip("django.core.files.uploadedfile")
    if not conf.settings.configured:
        conf.settings.configure()
    content = written(name)
    check_read(uploads.InMemoryUploadedFile(io.BytesIO(content), "file", f"t.{name}", None, len(content), None))
    check_read(uploads.SimpleUploadedFile(f"t.{name}", content))
    with uploads.TemporaryUploadedFile(f"t.{name}", None, len(content), None) as upload:
        upload.write(content)
        upload.seek(0)
        check_read(upload)


@needing("csv", "xlsx")
def test_a_file_at_its_end_and_a_path_in_an_archive_say_what_to_do() -> None:
    file = io.BytesIO()
    sa.write(file, {"t": [1.5]}, format="xlsx")
    with pytest.raises(sa.NotFoundError, match=r"file\.seek\(0\) goes to its start"):
        sa.read(file)
    file.seek(0)
    assert sa.read(file)["t"].tolist() == [1.5]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        path = zipfile.Path(archive, "a.csv")
        with pytest.raises(TypeError, match=r"with path.open") as caught:
            sa.write(path, {"t": [1.5]})
        exec(str(caught.value).partition("; ")[2], {"path": path, "sheetarray": sa, "arrays": {"t": [1.5]}})
    assert sa.read(zipfile.Path(made, "a.csv"))["t"].tolist() == [1.5]
