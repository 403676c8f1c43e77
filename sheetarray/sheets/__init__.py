"""Spreadsheet adapters: each moves columns of cells into one kind of file or service, and out of it."""
