"""What the compiled loops take and give."""

from typing_extensions import Buffer as AnyBuffer

class Buffer(AnyBuffer):
    """Bytes that `np.frombuffer` wraps without a copy."""

class Texts:
    """A column of text that `pl.Series` takes without a copy."""

    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

# doubles
def round_doubles(numbers: AnyBuffer, digits: int, half_up: bool, /) -> Buffer: ...
def digits_of_doubles(numbers: AnyBuffer, digits: int, half_up: bool, /) -> tuple[Buffer, Buffer]: ...
