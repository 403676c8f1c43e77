"""Formats and colours as the service keeps them, which is not quite as they were sent."""

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
    """Return a format or a colour: channels in 255 steps and single precision, zeros left out, a style for
    each colour.
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
    """Return a mask that takes the style of a colour along with the colour."""
    wide = {name: widen_mask(branch) for name, branch in mask.items()}
    for name in _COLORS & wide.keys():
        wide.setdefault(f"{name}Style", {})
    return wide


def _channel(value: float) -> int | float:
    """Return a channel as the service does: one of 256 steps, with the digits that a number of single precision has."""
    step = int(np.float32(value) * np.float32(255) + np.float32(1e-4))
    return step // 255 if step in (0, 255) else float(str(np.float32(step / 255)))
