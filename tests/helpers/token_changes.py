"""Texts as lists of tokens, some of which are dropped, doubled, swapped, cut, replaced or moved."""

from __future__ import annotations

import random

BROKEN = ["not", "well-formed", "\x01", "\ufffe", "&nbsp;", "&#0;", "]]>", "<b>", '"', "'"]
ODD_BYTES = "<>/=\"'&;!?[]-: \n\t\r\x00\x0bxr1é\ufffe"

Tokens = list[str]


def change(tokens: Tokens, dice: random.Random, changes: int) -> Tokens:
    """Return tokens in which some were dropped, doubled, swapped, cut, replaced, moved, or the end was cut off."""
    tokens = list(tokens)
    for _ in range(changes):
        at = dice.randrange(len(tokens)) if tokens else 0
        more = [*BROKEN, "<", "</", "/>", ">", "=", '"', "'", "/", "/<", "", " ", dice.choice(tokens or [""])]
        match dice.randrange(10):
            case 0:
                del tokens[at : at + 1]
            case 1:
                tokens[at:at] = tokens[at : at + 1]
            case 2:
                tokens[at : at + 2] = tokens[at : at + 2][::-1]
            case 3:
                tokens[at : at + 1] = [dice.choice(more)]
            case 4:
                tokens[at:at] = [dice.choice(more)]
            case 5:
                tokens[at : at + 1] = [token[: dice.randrange(len(token) + 1)] for token in tokens[at : at + 1]]
            case 6:
                start = dice.randrange(len(tokens) + 1)
                tokens[at:at] = tokens[start : start + dice.randrange(20)]
            case 7:
                del tokens[at : at + dice.randrange(20)]
            case 8:
                token = "".join(tokens[at : at + 1])
                place = dice.randrange(len(token) + 1)
                tokens[at : at + 1] = [token[:place] + dice.choice(ODD_BYTES) + token[place:]]
            case _ if not dice.randrange(4):
                del tokens[at:]
            case _:
                names = [place for place, token in enumerate(tokens) if place and tokens[place - 1] in ("<", "</")]
                if names:
                    tokens[dice.choice(names)] = tokens[dice.choice(names)]
    return tokens
