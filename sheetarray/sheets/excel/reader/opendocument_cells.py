"""Plain cells of OpenDocument: their kinds and values, read from tags and the texts between them.

Most cells have one of a few forms (`opendocument_forms`). All others are grouped by the names of their attributes, of
which a document has a few sets, and each group is read at once.

Source: OASIS OpenDocument 1.3 part 3, 9.1.4 (table-cell), 19.385 (values).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ....dtypes import Mask, Positions
from .cells import BOOLEAN, LONGEST_TEXT, NUMBER
from .opendocument_forms import (
    CELLS_REPEATED,
    IN_ATTRIBUTE,
    IN_FORM,
    IN_PARAGRAPH,
    LONGEST_COUNT,
    OF_CELLS,
    TYPES,
    learn_cell,
    match_forms,
)
from .opendocument_runs import TRUTH_VALUES
from .opendocument_tags import PARAGRAPH, P, RowTags, read_joined
from .serials import are_plain_doubles
from .texts import all_without_entities

if TYPE_CHECKING:
    import polars as pl

_VALUE = r'="(?:[^"a-z]|of:|ce)[^"]*"'  # of an attribute, if it may be different in each cell
_SKELETON = re.compile(r"table:table-(?:cell|row)((?: [a-z]+:[a-z-]+=(?:\"[a-z][^\"]*)?\")*) ?/?")
_ATTRIBUTE = re.compile(r" ([a-z]+:[a-z-]+)=(?:\"([a-z][^\"]*))?\"")
_MOST_SETS = 256  # of attributes
_ENTITIES = ["&lt;", "&gt;", "&quot;", "&apos;", "&amp;"]
_CONSTANT = r'table:formula="of:=(?:TRUE|FALSE)\(\)"'
_LIKE_AN_ERROR = r"^(?:#|Err:)"
_AMPERSAND, _QUOTE = b'&"'


class PlainCells:
    """The cells that tags and their texts stand for, in arrays that run in parallel.

    `cells`: the indices of the tags that begin a cell.

    Attributes:
        repeats: how often each cell stands in its row, one after the other.
        kinds: of each cell; 0 for a blank.
        formulas: a mask of the cells that are formulas.
        sure: a mask of the cells that these rules can read; the others need the XML parser.
    """

    def __init__(self, tags: RowTags, cells: Positions) -> None:
        self._tags, self._cells = tags, cells
        self._matched = matched = match_forms(tags, cells, learn_cell)
        self.repeats, self.kinds = matched.repeats(), matched.kinds()
        self._places = matched.places()
        self.formulas, self.sure = np.zeros(len(cells), np.bool_), matched.form >= 0
        self._join_values()
        self._rest = np.flatnonzero(matched.form < 0)
        if len(self._rest):
            self._read_rest()

    def _join_values(self) -> None:
        """Cut the values of cells of known forms out of the text, and find those that are not sure.

        That are texts that are too long, entities in attributes, quotes that end an attribute, and unknown entities.
        """
        tags, cells = self._tags, self._cells
        starts = tags.starts[cells] + self._matched.lengths("head")
        lengths = tags.nexts[cells] - self._matched.lengths("tail") - starts
        within = np.flatnonzero(self._places == IN_PARAGRAPH)
        if len(within):
            starts[within], lengths[within] = self._paragraphs(within)
        cut = np.flatnonzero(((self._places == IN_ATTRIBUTE) | (self._places == IN_PARAGRAPH)) & (lengths > 0))
        if len(within):
            long = lengths[cut] > LONGEST_TEXT
            self.sure[cut[long]] = False
            cut = cut[~long]
        self._cut = cut
        self._joined, ends = tags.join(starts[cut], lengths[cut])
        units = np.frombuffer(self._joined, np.uint8)
        attributes = self._places[cut] == IN_ATTRIBUTE
        marked = np.zeros(len(cut), np.bool_)
        if b"&" in self._joined:
            marked[np.searchsorted(ends, np.flatnonzero(units == _AMPERSAND))] = True
        self._with_entities = np.flatnonzero(marked & ~attributes)
        marked &= attributes
        if b'"' in self._joined:
            quoted = np.searchsorted(ends, np.flatnonzero(units == _QUOTE))
            marked[quoted[attributes[quoted]]] = True
        self.sure[cut[marked]] = False
        self._expanded: pl.Series | None = None
        if len(self._with_entities):
            some = cut[self._with_entities]
            texts = tags.texts(starts[some], lengths[some])
            if texts is None:
                self.sure[some] = False
                self._with_entities = self._with_entities[:0]
            else:
                unsure, self._expanded = _expand_entities(texts)
                self.sure[some[unsure]] = False

    def _paragraphs(self, cells: Positions) -> tuple[Positions, Positions]:
        """Return the byte at which each cell's paragraph begins, and its length in bytes: 0 without a paragraph."""
        after = np.minimum(self._cells[cells] + 1, len(self._tags.starts) - 1)
        starts = self._tags.starts[after] + PARAGRAPH
        return starts, np.where(self._tags.kinds[after] == P, self._tags.nexts[after] - starts, 0)

    def values(self, keep: Positions, *, numeric: bool) -> pl.Series | None:
        """Return the values of some cells that are sure; None if the engine refuses them.

        `keep`: the indices of the cells. `numeric`: give the values as Float64 if all are numbers that doubles hold
        for certain.
        """
        import polars as pl

        whole = len(self._cut) == len(keep) and bool((self._cut == keep).all())
        if numeric and whole and bool((self.kinds[keep] == NUMBER).all()):
            numbers = read_joined(self._joined, len(keep), pl.Float64)
            if numbers is not None and are_plain_doubles(numbers.to_numpy()):
                return numbers
        texts = read_joined(self._joined, len(self._cut), pl.String)
        if texts is None:
            return None
        if self._expanded is not None:
            texts = texts.scatter(self._with_entities, self._expanded)
        if whole:
            return texts
        values = pl.repeat("", len(self._cells), dtype=pl.String, eager=True).scatter(self._cut, texts)
        constant = np.flatnonzero(self._places == IN_FORM)
        if len(constant):
            known = pl.Series([*(form.value for form in self._matched.forms), ""])
            values = values.scatter(constant, known.gather(self._matched.form[constant]))
        if len(self._rest):
            values = values.scatter(self._rest, self._rest_values)
        return values if len(keep) == len(values) else values.gather(keep)

    # Cells of no known form ----------------------------------------------------------------------------------

    def _read_rest(self) -> None:
        """Read the cells of no known form, grouped by their attributes."""
        import polars as pl

        rest = self._rest
        starts = self._tags.starts[self._cells[rest]] + 1
        own = self._tags.texts(starts, self._tags.nexts[self._cells[rest]] - starts - 1)
        texts = self._tags.texts(*self._paragraphs(rest))
        if own is None or texts is None:
            self._rest_values = pl.repeat("", len(rest), dtype=pl.String, eager=True)
            return
        odd = own.str.contains(f'&|"error"|{_CONSTANT}') | (texts.str.len_bytes() > LONGEST_TEXT)
        unsure, texts = _expand_entities(texts)
        odd |= pl.Series(unsure)
        values = [pl.Series([], dtype=pl.String)]
        order = [np.zeros(0, np.int64)]
        for skeleton, places in group_by_attributes(own) or ():
            of_set = self._read_set(skeleton, rest[places], own.gather(places), texts.gather(places))
            if of_set is not None:
                values.append(of_set)
                order.append(places)
        blank = pl.repeat("", len(rest), dtype=pl.String, eager=True)
        self._rest_values = blank.scatter(np.concatenate(order), pl.concat(values))
        self.sure[rest[odd.to_numpy()]] = False

    def _read_set(self, skeleton: str, cells: Positions, tags: pl.Series, texts: pl.Series) -> pl.Series | None:
        """Return the values of cells that have the same attributes; None if the rules do not know these.

        `skeleton`: the tag of these cells without the values that may be different in each. `cells`: their indices.
        """
        names = attributes_in(skeleton)
        if names is None:
            return None
        kind, attribute = TYPES.get(names.get("office:value-type", "none"), (-1, ""))
        if kind < 0 or not set(names) <= OF_CELLS | {attribute} or (attribute and attribute not in names):
            return None
        formula = "table:formula" in names
        if kind == 0 and (formula or (texts != "").any()):
            return None
        self.kinds[cells], self.repeats[cells], self.sure[cells], self.formulas[cells] = kind, 1, True, formula
        if CELLS_REPEATED in names:
            self.repeats[cells], self.sure[cells] = read_counts(tags, CELLS_REPEATED)
        if formula:
            unlike = texts.str.contains(_LIKE_AN_ERROR) | tags.str.contains('table:formula=""', literal=True)
            self.sure[cells] &= ~unlike.to_numpy()
        if attribute:
            before = 2 * list(names).index(attribute) + 1
            texts = tags.str.splitn('"', before + 2).struct.field(f"field_{before}")
        return texts.replace(TRUTH_VALUES) if kind == BOOLEAN else texts


def _expand_entities(texts: pl.Series) -> tuple[Mask, pl.Series]:
    """Return a mask of the texts with entities that XML does not have, and the texts with all others replaced."""
    others = texts.str.replace_many(_ENTITIES, [""] * len(_ENTITIES))
    unsure = others.str.contains("&", literal=True)
    if not unsure.any():
        return unsure.to_numpy(), all_without_entities(texts)
    return unsure.to_numpy(), all_without_entities(texts.scatter(unsure.arg_true(), ""))


# Attributes by their names ----------------------------------------------------------------------


def group_by_attributes(tags: pl.Series) -> list[tuple[str, Positions]] | None:
    """Return the skeletons of tags, and the indices of the tags that have each; None if there are very many.

    A skeleton is a tag without the values of attributes that may be different in each cell.
    """
    import polars as pl

    tag = pl.col("tag")
    groups = (
        pl.DataFrame({"tag": tags})
        .select(
            names=tag.str.replace_all(_VALUE, '="'),
            place=pl.int_range(pl.len(), dtype=pl.Int64),
        )
        .group_by("names", maintain_order=True)
        .agg("place")
    )
    if len(groups) > _MOST_SETS:
        return None
    return [(names, np.array(places, np.int64)) for names, places in groups.iter_rows()]


def attributes_in(skeleton: str) -> dict[str, str] | None:
    """Return the attributes of a skeleton, with the values that it still has; None where an attribute comes twice."""
    match = _SKELETON.fullmatch(skeleton)
    attributes = [] if match is None else _ATTRIBUTE.findall(match[1])
    values = dict(attributes)
    return None if match is None or len(values) < len(attributes) else values


def read_counts(tags: pl.Series, name: str) -> tuple[Positions, Mask]:
    """Return the number of times that the cell or row of each tag stands, and a mask of the tags that say it.

    `tags`: without their brackets.
    """
    import polars as pl

    texts = tags.str.extract(f' {name}="([0-9]{{1,{LONGEST_COUNT}}})"')
    return np.maximum(texts.cast(pl.Int64).fill_null(1).to_numpy(), 1), texts.is_not_null().to_numpy()
