"""ObjectArray and VirtualArray: made by functions that the caller supplies, and by no other.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array/objects.py and virtual.py. awkward 2 has
no arrays of Python objects: a function for an ObjectArray takes the whole content, an `ak.Array`, and gives an array as
long, for example `lambda content: ak.with_name(content, "Point")`. One for a VirtualArray gives its array, at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import FormatError
from .builder import Builder, Content, said
from .calls import Named, called


def object_array(build: Builder, content: Any, generator: Any, args: Any = (), kwargs: Any = None) -> Content:
    """`ObjectArray(content, generator, args, kwargs)`."""
    inner = build.layout(content, "content")
    found = generated(build, generator, (inner, *build.sequence(args, "args")), kwargs)
    if found.length != inner.length:
        raise FormatError(f"{generator.name} gave an array of {found.length} elements for {inner.length}")
    return found


def virtual_array(
    build: Builder,
    generator: Any,
    args: Any = (),
    kwargs: Any = None,
    cache: Any = None,
    persistentkey: Any = None,
    type: Any = None,  # noqa: ARG001  (what the array says itself)
    nbytes: Any = None,  # noqa: ARG001  (the protocol's arguments)
    persistvirtual: Any = True,  # noqa: ARG001  (the same)
) -> Content:
    """`VirtualArray(generator, args, kwargs, cache=, persistentkey=, type=)`.

    An array that has a key is taken from the caller's cache, or put there.
    """
    keyed = cache is not None and isinstance(persistentkey, str)
    if keyed and persistentkey in cache:
        return build.layout(cache[persistentkey], "an array from the cache")
    arguments = args if isinstance(args, (list, tuple)) else (args,)
    found = generated(build, generator, tuple(arguments), kwargs)
    if keyed:
        cache[persistentkey] = build.ak.Array(found)
    return found


def json2type(build: Builder, obj: Any, whitelist: Any = None) -> Any:  # noqa: ARG001  (the same)
    """`awkward0.persist.json2type(obj)`: the type that a VirtualArray will have, which its array says itself."""
    return obj


def generated(build: Builder, generator: Any, args: tuple[Any, ...], kwargs: Any) -> Content:
    """The layout that a generator gives.

    Raises:
        FormatError: it is no function, or gives no array.
    """
    if not isinstance(generator, Named):
        raise FormatError(f"the generator is {said(generator)}, not a function")
    keywords = {} if kwargs is None else kwargs
    if not isinstance(keywords, dict):
        raise FormatError(f"kwargs is {said(keywords)}, not a dict")
    found = called(build, generator, args, keywords)
    if isinstance(found, (np.ndarray, build.ak.Array, build.ak.contents.Content)):
        return build.layout(found, f"what {generator.name} gave")
    raise FormatError(f"{generator.name} gave {said(found)}, not an array")
