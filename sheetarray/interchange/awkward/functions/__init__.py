"""The functions that a schema names: which may be called, and how they are called."""
