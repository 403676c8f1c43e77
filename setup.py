"""Builds `sheetarray._scan`, the compiled loops; where there is no C++17 compiler, the package is installed without."""

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

LIMITED_API = "0x030B0000"  # CPython 3.11 and newer share one wheel
FLAGS = {"msvc": ["/std:c++17", "/O2", "/EHsc"]}
OTHER_FLAGS = ["-std=c++17", "-O3", "-fvisibility=hidden"]


class BuildScan(build_ext):
    """`build_ext` with the flags that the compiler at hand knows."""

    def build_extension(self, ext: Extension) -> None:
        """Build the extension; setuptools says so and goes on if an optional one cannot be built."""
        ext.extra_compile_args = FLAGS.get(self.compiler.compiler_type, OTHER_FLAGS)
        super().build_extension(ext)


setup(
    ext_modules=[
        Extension(
            "sheetarray._scan",
            ["sheetarray/_scan.cpp"],
            define_macros=[("Py_LIMITED_API", LIMITED_API)],
            language="c++",
            optional=True,
            py_limited_api=True,
        )
    ],
    cmdclass={"build_ext": BuildScan},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
