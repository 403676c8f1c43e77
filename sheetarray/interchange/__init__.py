"""Other array formats than spreadsheets: each module is usable alone, and reached by suffix from `read` and `write`."""
