"""The cells of other people's workbooks, sheet by sheet: .xlsx, .xlsm, .xlsb, .xls, .ods.

`opening` finds out which kind of workbook a file is. Each kind has a class with the methods of `cells.WorkbookReader`
(`ooxml`, `xlsb`, `excel97`, `opendocument`), which gives the cells of a sheet as runs: NumPy arrays of their rows,
columns and kinds, and a polars Series of their values. `column_runs` sorts these runs into the columns that are wanted.

A worksheet of .xlsx is inflated by blocks (`blocks`) and read element by element (`cutting`) by the compiled loop.
An XML parser (`row_events`) reads where the loop is missing or meets anything odd. `worksheet` keeps the cells for the
next pass over them. Shared strings are read in the same way (`strings`, `events`).
"""
