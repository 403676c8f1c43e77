"""ObjectArray and VirtualArray -> the arrays that functions of the caller make.

awkward 2 has no arrays of Python objects. A function of the caller takes the whole content of an ObjectArray, an
`ak.Array`, and returns an array of the same length, for example `lambda content: ak.with_name(content, "Point")`. A
function for a VirtualArray returns its array, at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....errors import FormatError
from ..builder import (
    Builder,
    describe_plain_value,
)
from ..functions.calling import call_function
from ..functions.whitelists import NamedFunction
from ..package import AwkwardLayout


def object_array(build: Builder, content: Any, generator: Any, args: Any = (), kwargs: Any = None) -> AwkwardLayout:
    """`ObjectArray(content, generator, args, kwargs)`."""
    inner = build.to_layout(content, "content")
    layout = _generate(build, generator, (inner, *build.to_sequence(args, "args")), kwargs)
    if layout.length != inner.length:
        raise FormatError(f"{generator.name} gave an array of {layout.length} elements for {inner.length}")
    return layout


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
) -> AwkwardLayout:
    """`VirtualArray(generator, args, kwargs, cache=, persistentkey=, type=)`.

    An array that has a key is taken from the caller's cache, or put there.
    """
    keyed = cache is not None and isinstance(persistentkey, str)
    if keyed and persistentkey in cache:
        return build.to_layout(cache[persistentkey], "an array from the cache")
    arguments = args if isinstance(args, (list, tuple)) else (args,)
    layout = _generate(build, generator, tuple(arguments), kwargs)
    if keyed:
        cache[persistentkey] = build.ak.Array(layout)
    return layout


def json2type(build: Builder, obj: Any, whitelist: Any = None) -> Any:  # noqa: ARG001  (the same)
    """`awkward0.persist.json2type(obj)`: the type that a VirtualArray will have, which its array says itself."""
    return obj


def _generate(build: Builder, generator: Any, args: tuple[Any, ...], kwargs: Any) -> AwkwardLayout:
    if not isinstance(generator, NamedFunction):
        raise FormatError(f"the generator is {describe_plain_value(generator)}, not a function")
    keywords = {} if kwargs is None else kwargs
    if not isinstance(keywords, dict):
        raise FormatError(f"kwargs is {describe_plain_value(keywords)}, not a dict")
    value = call_function(build, generator, args, keywords)
    if isinstance(value, (np.ndarray, build.ak.Array, build.ak.contents.Content)):
        return build.to_layout(value, f"what {generator.name} gave")
    raise FormatError(f"{generator.name} gave {describe_plain_value(value)}, not an array")
