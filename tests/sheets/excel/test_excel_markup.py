"""Changes to XML by its bytes: against a parser that makes a tree of it, on documents no serialiser would write."""

from __future__ import annotations

import string
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray.sheets.excel.package.markup import (
    HEAD,
    Element,
    Markup,
    children_named,
    local_name,
    parse_tree,
    read_first_tag,
    read_tags,
)
from sheetarray.sheets.workbooks import escape_text, quote_attribute

NAMES = st.text(string.ascii_letters, min_size=1, max_size=3)
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), max_size=8
)
SPACES = st.sampled_from([" ", "\n", "\t ", "  "])
BESIDE = st.sampled_from(["", " ", "<!-- </a> ' -->", '<?x <b> " ?>', "<![CDATA[<a>&]]>", "&amp;&#x41;", "é\U0001f600"])


@st.composite
def attributes(draw: st.DrawFn) -> str:
    result = draw(st.dictionaries(NAMES, TEXTS, max_size=3))
    return "".join(
        f"{draw(SPACES)}{name}{draw(st.sampled_from(['=', ' = ']))}"
        + draw(st.sampled_from([quote_attribute(value), "'" + escape_text(value).replace("'", "&apos;") + "'"]))
        for name, value in result.items()
    )


def around(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    @st.composite
    def element(draw: st.DrawFn) -> str:
        name, end = draw(NAMES), draw(st.sampled_from(["", " ", "\n"]))
        content = "".join(draw(BESIDE) + child for child in draw(st.lists(inner, max_size=3))) + draw(BESIDE)
        return f"<{name}{draw(attributes())}{end}>{content}</{name}{end}>"

    return element()


@st.composite
def empty(draw: st.DrawFn) -> str:
    return f"<{draw(NAMES)}{draw(attributes())}{draw(st.sampled_from(['', ' ']))}/>"


DOCUMENTS = around(st.recursive(empty(), around, max_leaves=6)).map(lambda text: f"<!-- < -->\n{text}\n")


def every(element: Element) -> list[Element]:
    return [element, *(inner for child in element.children for inner in every(child))]


def canonical(content: str | bytes) -> str:
    """Elements, attributes and text, without comments and instructions."""
    return ElementTree.canonicalize(ElementTree.tostring(ElementTree.fromstring(content), "unicode"))


@given(DOCUMENTS, st.integers(1, 20))
def test_elements_are_where_they_are_said_to_be(text: str, index: int) -> None:
    content = text.encode()
    part = Markup(content, location="x", depth=99)
    result = every(part.root)
    tree = list(ElementTree.fromstring(text).iter())
    assert [element.name for element in result] == [element.tag for element in tree]
    for element, other in zip(result, tree, strict=True):
        assert element.attributes == other.attrib
        assert element.text == (other.text or "") + "".join(child.tail or "" for child in other)
        other.tail = None
        assert canonical(content[element.start : element.end]) == canonical(ElementTree.tostring(other, "unicode"))
    assert list(read_tags(content, location="x")) == [(element.name, element.attributes) for element in result]
    assert Markup(content, location="x", depth=1).root.children == []
    assert part.to_bytes() == content
    gone = result[index % len(result)]
    part.remove(gone)
    assert part.to_bytes() == content[: gone.start] + content[gone.end :]


@given(DOCUMENTS, st.integers(0, 20), TEXTS)
def test_changes_are_those_of_a_tree(text: str, index: int, value: str) -> None:
    part, tree = Markup(text.encode(), location="x", depth=99), ElementTree.fromstring(text)
    element, other = every(part.root)[index % len(every(part.root))], list(tree.iter())[index % len(every(part.root))]
    for name in ("new", *element.attributes):
        part.set(element, name, value)
        other.set(name, value)
    for _ in range(2):
        part.append(element, f"<n>{escape_text(value)}</n>")
        ElementTree.SubElement(other, "n").text = value
    assert canonical(part.to_bytes()) == canonical(ElementTree.tostring(tree, "unicode"))


def test_namespaces_are_resolved() -> None:
    text = '<x:a xmlns:x="1" xmlns="2"><b/><x:b/><c xmlns=""><b x:id="7" id="8"/></c></x:a>'
    root = Markup(text.encode(), location="x").root
    assert [element.space for element in every(root)] == ["1", "2", "1", "", ""]
    assert [element.prefix for element in root.children_named("b")] == ["x:"]
    inner = root.children[2].children[0]
    assert (inner.get("id"), inner.get_in(frozenset({"1"}), "id"), inner.get_in(frozenset({"2"}), "id")) == (
        "8",
        "7",
        "",
    )


def test_an_attribute_is_found_though_its_name_stands_in_another() -> None:
    part = Markup(b"""<a b=" c='1' " c2='2' c='3'/>""", location="x")
    part.set(part.root, "c", "4")
    assert part.to_bytes() == b"""<a b=" c='1' " c2='2' c="4"/>"""


def test_a_head_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    content = b'<x:table xmlns:x="1" name="t"><a b="1">' + b"<row/>" * 50_000
    assert read_first_tag(content[:HEAD], "table", location="x")["name"] == "t"
    assert read_first_tag(content[:HEAD], "other", location="x") == {}
    assert read_first_tag(b"", "table", location="x") == {}
    assert read_first_tag(
        '<?xml version="1.0" encoding="UTF-16"?><table name="é">'.encode("utf-16"), "table", location="x"
    ) == {"name": "é"}


@pytest.mark.parametrize(
    "content",
    [b"<a", b"<a></b>", b"<!DOCTYPE a><a/>", b"a", b"<a/><b/>", b"<a b='1' b='2'/>", b"<a b='<'/>", b"<a>\xff</a>"],
)
def test_what_is_no_xml_is_refused_with_its_line(content: bytes) -> None:
    with pytest.raises(sa.FormatError) as caught:
        Markup(b"<!---->\n" + content, location="part.xml")
    assert caught.value.location in ("part.xml, line 2", "part.xml")
    with pytest.raises(sa.FormatError) as caught:
        parse_tree(b"<!---->\n" + content, location="part.xml")
    assert caught.value.location in ("part.xml, line 2", "part.xml")
    with pytest.raises(sa.FormatError):
        list(read_tags(content, location="part.xml"))


def test_a_tree_has_names_with_their_namespaces_in_any_encoding_of_packages() -> None:
    text = '<x:a xmlns:x="urn:x" xmlns="urn:y" xmlns:r="urn:r"><x:b r:id="é"/><b/><x:c><x:b/></x:c></x:a>'
    declared = b"<?xml version='1.0'?>" + text.encode()
    for content in (text.encode(), text.encode("utf-8-sig"), text.encode("utf-16"), declared):
        root = parse_tree(content, location="x")
        assert local_name(root) == "a"
        assert [child.attrib for child in children_named(root, "b")] == [{"{urn:r}id": "é"}]


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (b'<?xml version="1.0" encoding="latin-1"?>', "latin-1"),
        (b"<!DOCTYPE a>", "definition"),
        (b'<?xml version="1.0"?>\n<!-- <a> --><?b ?> <!DOCTYPE a [<!ENTITY e "x">]>', "definition"),
        (b"<!-- > -- -->", "well-formed"),
    ],
)
def test_a_tree_is_refused_for_what_stands_before_it(before: bytes, reason: str) -> None:
    with pytest.raises(sa.FormatError, match=reason):
        parse_tree(before + b"<a/>", location="x")


def test_a_definition_in_a_comment_or_a_text_is_none() -> None:
    content = b"<!-- <!DOCTYPE a> --><?b <!DOCTYPE a> ?><a>&lt;!DOCTYPE<![CDATA[<!DOCTYPE a>]]></a>"
    assert parse_tree(content, location="x").text == "<!DOCTYPE<!DOCTYPE a>"


@pytest.mark.parametrize("count", [9, 10, 11])
def test_a_tree_has_so_many_elements_and_bytes_and_no_more(count: int) -> None:
    content = b"<a>" + b"<b></b>" * (count - 1) + b"</a>"
    for limits in ({"most": 10}, {"limit": len(content) - count + 10}):
        if count > 10:
            with pytest.raises(sa.FormatError, match=r"elements|bytes"):
                parse_tree(content, location="x", **limits)
        else:
            assert len(parse_tree(content, location="x", **limits)) == count - 1
