"""Adapters for formats other than spreadsheets. You can use each module alone, or by suffix with `read` and `write`."""
