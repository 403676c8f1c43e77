"""Array formats that are no spreadsheets: each module can be used alone, and `read` and `write` find it by suffix."""
