"""Worksheets, shared strings and tables of OpenDocument, made at random from their grammar.

A document is a list of tokens: the marks, names, quotes and values of its tags, and the texts between them. Most are
plain, as programs write them. Others hold what XML allows beside that: comments, CDATA, processing instructions, both
kinds of quotes, declarations of namespaces anywhere, foreign elements.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from token_changes import Tokens

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OPEN = "urn:oasis:names:tc:opendocument:xmlns:"
EXTENSIONS = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"
NUMERALS = [
    *("1", "0", "-2.5", "1e5", "1.e5", "-0", "007", ".5", "+1", "1e999", "9007199254740993", "inf", "", " 1", "1 "),
]
TEXTS = [
    *("a", "", " a ", "é😀", "version", "_x0041_", "a\nb", "a  b", "a\tb", "]", "]]", ">", "TRUE()", "#N/A"),
    "Err:502",
]
TEXTS += ["a\r\nb", "\u3000", "\ufffd", "x" * 300]
ENTITIES = ["&lt;", "&amp;", "&quot;", "&apos;", "&gt;", "&#65;", "&#x1F600;", "&#32;"]
WHITE = [" ", "\n", "\t", "\r\n", "  "]


class Grammar:
    """Makes documents by some dice.

    Attributes:
        oddity: how often something unusual is put in.
    """

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.oddity = 0.0
        self._prefix = ""

    def document(self, kind: str) -> Tokens:
        """Return a document: `worksheet`, `strings` or `content`."""
        self.oddity = self.dice.choice((0.0, 0.0, 0.01, 0.1))
        makers: dict[str, Callable[[], Tokens]] = {
            "worksheet": self._worksheet,
            "strings": self._strings,
            "content": self._content,
        }
        declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
        return ([declaration, "\n"] if self.dice.randrange(2) else []) + makers[kind]()

    # What all share -------------------------------------------------------------------------------------------

    def _is_odd(self) -> bool:
        return self.dice.random() < self.oddity

    def _white(self) -> Tokens:
        return [self.dice.choice(WHITE)] if self._is_odd() else []

    def _between(self) -> Tokens:
        """Return what may stand between elements without a meaning."""
        if not self._is_odd():
            return []
        pieces = ["<!-- </row></si> -->", "<?row <c/>?>", "\n", "<!-- a-b -->", "<![CDATA[]]>", "text"]
        if self.dice.randrange(2):
            return [self.dice.choice(pieces)]
        names = ["q:x", "x", "q:row", "row", "c", "si", "t"]
        return self._tag(self.dice.choice(names), {"xmlns:q": self.dice.choice(["urn:q", MAIN, f"{OPEN}table:1.0"])})

    def _tag(self, name: str, attributes: Mapping[str, str], *children: Tokens) -> Tokens:
        """Return an element with its attributes and content."""
        tokens = ["<", name]
        listed = dict(attributes)
        for _ in range(self.dice.choice((1, 2)) if self._is_odd() else 0):
            odd = ["xml:space", "xml:lang", "q:y", "r:y", "xmlns:q", "xmlns:r", "zz", "x14ac:d", "q:r", "ref", "é"]
            key = self.dice.choice(odd)
            listed.setdefault(
                key, "preserve" if key == "xml:space" else self.dice.choice(["urn:q", "urn:r", "1", MAIN])
            )
        items = list(listed.items())
        if self._is_odd():
            self.dice.shuffle(items)
        for key, value in items:
            quote = '"' if not self._is_odd() else "'"
            tokens += [self.dice.choice(WHITE) if self._is_odd() else " ", key, *self._white(), "=", *self._white()]
            tokens += [quote, value.replace(quote, "&quot;"), quote]
        tokens += self._white()
        content = [token for child in children for token in (*self._between(), *child)] + self._between()
        if not content and self.dice.randrange(2):
            return [*tokens, "/>"]
        return [*tokens, ">", *content, "</", name, *self._white(), ">"]

    def _main(self, name: str, attributes: Mapping[str, str], *children: Tokens) -> Tokens:
        return self._tag(self._prefix + name, attributes, *children)

    def _text(self, texts: list[str]) -> Tokens:
        """Return a text: whole, with entities, or as CDATA."""
        tokens = [self.dice.choice(texts)]
        if self._is_odd():
            tokens.append(self.dice.choice(ENTITIES))
        if self._is_odd():
            tokens = ["<![CDATA[", self.dice.choice(texts), "]]>", *tokens]
        return [token for token in tokens if token]

    def _spaces(self, own: Mapping[str, str]) -> dict[str, str]:
        """Return the namespaces of a root element."""
        spaces = dict(own)
        if self.dice.randrange(2):
            spaces["xmlns:r"] = "urn:r"
        if self._is_odd():
            spaces[self.dice.choice(["xmlns:q", "xmlns:x", "xmlns:xr"])] = self.dice.choice(["urn:q", "urn:r", MAIN])
        return spaces

    # Worksheets and shared strings ----------------------------------------------------------------------------

    def _worksheet(self) -> Tokens:
        dice, rows = self.dice, []
        self._prefix = "x:" if self._is_odd() else ""
        for row in range(dice.randint(1, 5)):
            cells = [self._cell(row, column) for column in range(dice.randrange(4))]
            attributes = {"r": str(row + 1)} if dice.randrange(4) else {}
            attributes |= {"spans": "1:3"} if not dice.randrange(4) else {}
            rows.append(self._main("row", attributes, *cells))
        spaces = self._spaces({"xmlns:x" if self._prefix else "xmlns": MAIN})
        before = [self._main("sheetViews", {})] if self._is_odd() else []
        after = [self._main("x", {}, *rows)] if self._is_odd() else []
        return self._main("worksheet", spaces, *before, self._main("sheetData", {}, *rows), *after)

    def _cell(self, row: int, column: int) -> Tokens:
        dice, children = self.dice, []
        type_ = dice.choice(["", "", "", "n", "s", "str", "inlineStr", "b", "e", "d", "z" if self._is_odd() else ""])
        attributes = {"r": f"{'ABCD'[column]}{row + 1}"} if dice.randrange(4) else {}
        attributes |= {"s": dice.choice(["0", "1", "12", "x"])} if not dice.randrange(4) else {}
        attributes |= {"t": type_} if type_ else {}
        if not dice.randrange(5):
            own = dice.choice([{}, {"aca": "1"}, {"t": "shared", "si": "0"}, {"t": "array", "ref": "A1:B2"}])
            children.append(self._main("f", own, self._text(["A1", "TRUE()", "FALSE()", "1+1", "", "x" * 201])))
        if type_ == "inlineStr":
            children.append(self._item("is"))
        elif dice.randrange(8):
            usual = NUMERALS if type_ in ("", "n", "s", "b", "z") else TEXTS
            children.append(self._main("v", {}, self._text(usual[:4] if dice.randrange(3) else usual)))
        if self._is_odd():
            children += [self._main("v", {}, ["1"])]
        return self._main("c", attributes, *children)

    def _item(self, name: str) -> Tokens:
        """Return a string item, or an inline string."""
        children = []
        if self.dice.randrange(6):
            own = {"xml:space": self.dice.choice(["preserve", "default"])} if not self.dice.randrange(3) else {}
            children.append(self._main("t", own, self._text(TEXTS)))
        if not self.dice.randrange(6):
            weight = self._main("rPr", {}, self._main("b", {}))
            children += [self._main("r", {}, weight, self._main("t", {}, self._text(TEXTS))) for _ in range(2)]
        if not self.dice.randrange(9):
            children.append(self._main("rPh", {"sb": "0", "eb": "1"}, self._main("t", {}, ["sound"])))
            children.append(self._main("phoneticPr", {"fontId": "1"}))
        return self._main(name, {}, *children)

    def _strings(self) -> Tokens:
        self._prefix = "x:" if self._is_odd() else ""
        items = [self._item("si") for _ in range(self.dice.randint(1, 6))]
        return self._main("sst", self._spaces({"xmlns:x" if self._prefix else "xmlns": MAIN}), *items)

    # OpenDocument -----------------------------------------------------------------------------------------------

    def _content(self) -> Tokens:
        spaces = {f"xmlns:{name}": f"{OPEN}{name}:1.0" for name in ("office", "table", "text", "style")}
        spaces |= {"xmlns:calcext": EXTENSIONS} if self.dice.randrange(4) else {}
        tables = []
        for number in range(self.dice.randint(1, 2)):
            rows = [self._table_row() for _ in range(self.dice.randint(1, 4))]
            rows[:1] = [self._tag("table:table-header-rows", {}, *rows[:1])] if self._is_odd() else rows[:1]
            first = self._tag("table:shapes", {}, *rows) if self._is_odd() else []
            column = self._tag("table:table-column", {"table:number-columns-repeated": "3"})
            tables.append(self._tag("table:table", {"table:name": f"sheet{number}"}, first, column, *rows))
        sheet = self._tag("office:spreadsheet", {}, *tables)
        return self._tag("office:document-content", self._spaces(spaces), self._tag("office:body", {}, sheet))

    def _table_row(self) -> Tokens:
        cells = [self._table_cell() for _ in range(self.dice.randint(0, 4))]
        times = self.dice.choice(["2", "3", "0", "x", "", "1048577" if self._is_odd() else "4"])
        return self._tag(
            "table:table-row", {"table:number-rows-repeated": times} if not self.dice.randrange(5) else {}, *cells
        )

    def _table_cell(self) -> Tokens:
        dice, attributes, children = self.dice, {}, []
        types = {"float": "value", "percentage": "value", "currency": "value", "boolean": "boolean-value"}
        types |= {"date": "date-value", "time": "time-value", "string": "string-value"}
        values = {"boolean": ["true", "false", "1", "x"], "time": ["PT1H", "P1DT2H3M4,5S", "x"], "string": TEXTS}
        if not dice.randrange(6):
            attributes["table:number-columns-repeated"] = dice.choice(
                ["2", "0", "x", "16385" if self._is_odd() else "5"]
            )
        if not dice.randrange(5):
            attributes["table:formula"] = dice.choice(["of:=[.A1]", "of:=TRUE()", "", "of:=1&lt;2"])
        type_ = dice.choice([*types, "", "float", "string", "zz" if self._is_odd() else ""])
        if type_:
            attributes["office:value-type"] = type_
        if type_ in types and dice.randrange(6) and (type_ != "string" or not dice.randrange(3)):
            attributes[f"office:{types[type_]}"] = dice.choice(values.get(type_, NUMERALS))
        attributes |= {"calcext:value-type": dice.choice(["error", "float"])} if self._is_odd() else {}
        for _ in range(dice.choice((0, 1, 1, 1, 2 if self._is_odd() else 1))):
            inner = [self._text(TEXTS)]
            if self._is_odd():
                inner += [self._tag("text:s", {"text:c": "2"}), self._tag("text:span", {}, self._text(TEXTS))]
            children.append(self._tag("text:p", {}, *inner))
        name = "table:covered-table-cell" if self._is_odd() else "table:table-cell"
        return self._tag(name, attributes, *children)
