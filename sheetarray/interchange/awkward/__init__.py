"""awkward0's persistence protocol: nested, ragged and optional data in any container of named blobs.

- `serialize` fills a mapping with blobs and a schema. `deserialize` makes an `awkward.Array` of them. The mapping may
  be a dict, or a folder that `fsspec.get_mapper` opens.
- `save` and `load` are for `.awkd` files, which are zip archives. `hdf5` shows an HDF5 group as a mapping of arrays.
- `to_columns` and `from_columns` put an array into anything that holds named arrays, such as a spreadsheet.
- `read_awkd`, `write_awkd`, `scan_awkd` and `check_awkd` are the functions that `sheetarray.read` and others call.

awkward0 itself reads the files that these functions write. A file cannot choose what is imported or called: it can use
only the constructors in `WHITELIST`. You need the package awkward, 2.6 or newer.
Source: https://github.com/scikit-hep/awkward-0.x/blob/master/docs/serialization.adoc.
"""

from __future__ import annotations

from .adapter import check_awkd, keeps_awkd, read_awkd, scan_awkd, write_awkd
from .archives.reading import ArchiveArrays, load
from .archives.writing import save
from .columns import from_columns, to_columns
from .compression import COMPRESSION, partner
from .constructors.by_name import WHITELIST
from .groups import ArrayGroup, hdf5
from .reading import deserialize
from .writing import serialize

__all__ = [
    "COMPRESSION",
    "WHITELIST",
    "ArchiveArrays",
    "ArrayGroup",
    "check_awkd",
    "deserialize",
    "from_columns",
    "hdf5",
    "keeps_awkd",
    "load",
    "partner",
    "read_awkd",
    "save",
    "scan_awkd",
    "serialize",
    "to_columns",
    "write_awkd",
]
