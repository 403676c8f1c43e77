"""One array as a flat list: the `header` of the exchange format, the `array` itself, and `named` arrays of a file."""
