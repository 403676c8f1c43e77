"""The zip package that a workbook is: read without unpacking all of it, and written part by part.

`directory` reads which members a package has, and `parts` their content, with limits for its size. `packing` writes
packages: parts are compressed in a second thread (`deflate`), or copied from another package with their compressed
bytes as they are. `markup` changes XML in place. `relations`, `contents`, `properties` and `styles` read and change the
parts that every workbook has.
"""
