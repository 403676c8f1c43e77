"""Formats and colours as the service keeps and answers them, which differs a little from what was sent."""

from __future__ import annotations

from typing import Any

import numpy as np

_CHANNELS = {"red", "green", "blue"}
_COLORS = {
    "backgroundColor",
    "color",
    "firstBandColor",
    "footerColor",
    "foregroundColor",
    "headerColor",
    "secondBandColor",
    "tabColor",
}


def normalize_look(look: Any) -> Any:
    """Return a format or a colour as the service keeps it.

    Channels of colours are multiples of 1/255 in single precision, and left out if they are zero. Each colour stands
    under a second name as well, such as `backgroundColorStyle` besides `backgroundColor`.
    """
    if isinstance(look, float):
        return int(look) if look.is_integer() else look
    if not isinstance(look, dict):
        return look
    if look and look.keys() <= _CHANNELS | {"alpha"}:
        return {name: _channel(value) for name, value in look.items() if value}
    parts = {name: normalize_look(part) for name, part in look.items() if part is not None}
    for name in _COLORS & parts.keys():
        parts.setdefault(f"{name}Style", {"rgbColor": parts[name]})
    return parts


def widen_mask(mask: dict[str, Any]) -> dict[str, Any]:
    """Return a mask that names the `...Style` of each colour that it names (see `normalize_look`)."""
    wide = {name: widen_mask(branch) for name, branch in mask.items()}
    for name in _COLORS & wide.keys():
        wide.setdefault(f"{name}Style", {})
    return wide


def _channel(value: float) -> int | float:
    """Return a channel, from 0 to 1, as the service answers it: a multiple of 1/255 in single precision."""
    step = int(np.float32(value) * np.float32(255) + np.float32(1e-4))
    return step // 255 if step in (0, 255) else float(str(np.float32(step / 255)))
