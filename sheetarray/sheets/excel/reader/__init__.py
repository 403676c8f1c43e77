"""The cells of other people's workbooks, sheet by sheet: .xlsx, .xlsm, .xlsb, .xls, .ods.

Each kind of workbook has a class with the methods of `cells.WorkbookReader` (`book`, `opendocument`, `legacy`), which
gives the cells of a sheet as runs: NumPy arrays of their rows, columns and kinds, and a polars Series of their values.
`columns` sorts these runs into the columns that are asked for, and makes numbers, dates or text of each.

A part is inflated by blocks. The compiled loop reads its rows or strings, and an XML parser reads whatever the loop
refuses (`xml_elements`). Both give runs of cells (`raw_cells`); `book` looks up their styles, shared strings and texts.
"""
