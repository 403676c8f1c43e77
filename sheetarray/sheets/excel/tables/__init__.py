"""Ordinary tables of workbooks: their cells, the functions of the adapter, recorded tables, and changes in place."""
