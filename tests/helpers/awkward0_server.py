"""A process that has imported the real awkward0, and forks off a child for each script: it starts at once.

Run as a program by awkward0_real.py, with the interpreter that has awkward0.
"""

from __future__ import annotations

import gc
import warnings

from child_server import serve

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import awkward0  # noqa: F401  (each child needs it)

    gc.freeze()
    serve()
