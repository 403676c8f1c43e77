"""The colours of numbers, in the terminal and in pages alike.

Both tables are read between their entries, and safe for colour-blind eyes: the first rises evenly in lightness, the
second is for differences, with its middle at zero.
"""

from __future__ import annotations

Colour = tuple[int, int, int]  # red, green and blue, from 0 to 255

# viridis: perceptually even, safe for colour-blind eyes, and without red, which is left to NaN
RISING: tuple[Colour, ...] = (
    (68, 1, 84),
    (72, 40, 120),
    (62, 73, 137),
    (49, 104, 142),
    (38, 130, 142),
    (31, 158, 137),
    (53, 183, 121),
    (110, 206, 88),
    (181, 222, 43),
    (253, 231, 37),
)
# blue, almost white, orange: which of the two is larger
DIVERGING: tuple[Colour, ...] = (
    (8, 48, 107),
    (33, 102, 172),
    (103, 155, 205),
    (178, 205, 228),
    (243, 243, 240),
    (247, 208, 160),
    (238, 156, 82),
    (196, 94, 20),
    (127, 46, 4),
)
MISSING: Colour = (214, 39, 40)


def blend(colours: tuple[Colour, ...], share: float) -> Colour:
    """Return the colour at a share, from 0 to 1, of a table.

    Example:
        >>> blend(((0, 0, 0), (10, 20, 30)), 0.5)
        (5, 10, 15)
    """
    place = min(max(share, 0.0), 1.0) * (len(colours) - 1)
    below = min(int(place), len(colours) - 2)
    weight = place - below
    red, green, blue = (
        round(channel + weight * (other - channel))
        for channel, other in zip(colours[below], colours[below + 1], strict=True)
    )
    return red, green, blue
