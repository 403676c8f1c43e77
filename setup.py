"""Builds `sheetarray._scan`, the compiled loops; where there is no C++17 compiler, the package is installed without.

With `SOURCE_DATE_EPOCH` in the environment, two builds of one commit give the same bytes.
"""

import gzip
import io
import os
import tarfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

LIMITED_API = "0x030B0000"  # CPython 3.11 and newer share one wheel
FLAGS = {"msvc": ["/std:c++17", "/O2", "/EHsc"]}
OTHER_FLAGS = ["-std=c++17", "-O3", "-g0", "-fvisibility=hidden"]  # debugging information names the folder of the build


class BuildScan(build_ext):
    """`build_ext` with the flags that the compiler at hand knows."""

    def build_extension(self, ext: Extension) -> None:
        """Build the extension; setuptools says so and goes on if an optional one cannot be built."""
        ext.extra_compile_args = FLAGS.get(self.compiler.compiler_type, OTHER_FLAGS)
        super().build_extension(ext)


class SameSdist(sdist):
    """`sdist` whose archive holds no time and no owner of its own."""

    def make_archive(self, *args: object, **options: object) -> str:
        """Return the path of the archive; its files have the time that `SOURCE_DATE_EPOCH` says."""
        path = Path(super().make_archive(*args, **options))
        if (epoch := os.environ.get("SOURCE_DATE_EPOCH")) and path.name.endswith(".tar.gz"):
            packed = io.BytesIO()
            with (
                tarfile.open(path) as old,
                gzip.GzipFile("", "wb", fileobj=packed, mtime=int(epoch)) as file,
                tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as new,
            ):
                for member in sorted(old.getmembers(), key=lambda member: member.name):
                    member.mtime, member.pax_headers = int(epoch), {}
                    member.uid = member.gid = 0
                    member.uname = member.gname = ""
                    new.addfile(member, old.extractfile(member) if member.isreg() else None)
            path.write_bytes(packed.getvalue())
        return str(path)


setup(
    ext_modules=[
        Extension(
            "sheetarray._scan",
            ["sheetarray/_scan.cpp"],
            depends=["sheetarray/_digits.hpp"],
            define_macros=[("Py_LIMITED_API", LIMITED_API)],
            language="c++",
            optional=True,
            py_limited_api=True,
        )
    ],
    cmdclass={"build_ext": BuildScan, "sdist": SameSdist},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
