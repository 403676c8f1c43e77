"""The zip package that a workbook is: read without unpacking it, and written part by part.

`directory` finds the members, `parts` gives their content within bounds, `packing` writes others, through a fast
`deflate`, or copies their packed bytes. `markup` changes XML in place; `relations`, `contents`, `properties` and
`styles` know the parts that every workbook has.
"""
