"""Accepting what people have changed in a workbook: its arrays, names, checksums, views and guards."""
