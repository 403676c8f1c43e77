"""The cells of other people's workbooks, sheet by sheet: .xlsx, .xlsm, .xlsb, .xls, .ods.

Each kind of workbook is a `Container` (`cells`), which gives the cells of a sheet in runs of arrays. A worksheet of
.xlsx is inflated block by block (`blocks`), cut at its tags (`tags`) and taken apart by vectorised rules (`worksheet`);
what those do not know goes through an XML parser (`events`). `column_runs` sorts the runs into the columns wanted.
"""
