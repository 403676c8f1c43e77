"""The cells of other people's workbooks, sheet by sheet: .xlsx, .xlsm, .xlsb, .xls, .ods.

`opening` finds out which kind of workbook a file is. Each kind has a class with the methods of `cells.WorkbookReader`
(`ooxml`, `xlsb`, `excel97`, `opendocument`), which gives the cells of a sheet as runs: NumPy arrays of their rows,
columns and kinds, and a polars Series of their values. `column_runs` sorts these runs into the columns that are wanted.

A worksheet of .xlsx is inflated block by block (`blocks`) and cut into whole rows (`cutting`). A block of rows takes
the first of these ways that is sure of its cells: rows that are all alike are compared byte by byte (`regular`), short
blocks go through one regular expression (`short`), others are cut at their tags and taken apart by vectorised rules
(`worksheet`), and what those do not know goes through an XML parser (`row_events`).
"""
