"""The zip package that a workbook is: read without unpacking all of it, and written part by part.

`parts` reads which members a package has, and their content, with limits for its size. `packing` writes packages: parts
are compressed in a second thread, or copied from another package with their compressed bytes as they are. `markup`
changes XML in place. `relations` reads and changes the small parts that every workbook has: relationships, types,
custom properties, styles.
"""
