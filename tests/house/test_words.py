"""Names are plain words: each says what it holds, one name means one type, and a docstring begins with a sentence."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from adapters_deleted import needing
from ladder import MODULES

EMPTY_WORDS = {
    *("found", "there", "each", "told", "nth", "looks"),
    *("chosen", "gathered", "examined", "judged", "give_back", "stem"),
}
PARTICIPLES = {  # besides those that end in -ed
    *("found", "told", "known", "given", "taken", "made", "said", "seen", "kept", "held", "left", "written", "drawn"),
    *("shown", "hidden", "sent", "built", "chosen", "lost", "meant", "torn", "worn", "begun", "done", "gone"),
}
PUBLIC = {("registry.row", "stem")}  # a field of `Format`, which the rows of other packages fill in


Documented = ast.Module | ast.ClassDef | ast.FunctionDef


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    return {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in MODULES.items()}


@pytest.fixture(scope="module")
def walks(trees: dict[str, ast.Module]) -> dict[str, list[ast.AST]]:
    """All nodes of each module, which are walked through once."""
    return {module: list(ast.walk(tree)) for module, tree in trees.items()}


@pytest.fixture(scope="module")
def nodes(walks: dict[str, list[ast.AST]]) -> list[tuple[str, ast.AST]]:
    """All modules, classes and functions."""
    return [(module, node) for module, walk in walks.items() for node in walk if isinstance(node, Documented)]


@cache
def docstring_of(node: Documented) -> str | None:
    return ast.get_docstring(node)


def names_of(walk: list[ast.AST]) -> set[str]:
    """What a module calls its functions, classes, arguments, variables and attributes of its own."""
    names: set[str] = set()
    for node in walk:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr.lstrip("_"))
    return names


def is_type_alias(node: ast.stmt) -> bool:
    """Whether a statement names a type: in capital and small letters, and no string, number or call."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return False
    name = node.targets[0].id
    plain = not name.startswith("_") and name[0].isupper() and not name.isupper()
    return plain and not isinstance(node.value, (ast.Call, ast.Constant))


def types_of(tree: ast.Module) -> set[str]:
    """The classes and type aliases that other modules may import."""
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
    aliases = {node.targets[0].id for node in tree.body if is_type_alias(node)}  # type: ignore[attr-defined]
    return classes | aliases


def test_no_name_says_nothing_of_what_it_holds(walks: dict[str, list[ast.AST]]) -> None:
    assert {module for module in walks if set(module.split(".")) & EMPTY_WORDS} == set()
    assert {(module, name) for module, walk in walks.items() for name in names_of(walk) & EMPTY_WORDS} == PUBLIC


def test_no_function_is_a_bare_participle(nodes: list[tuple[str, ast.AST]]) -> None:
    """A function does something: `join`, not `joined`; a property and a context manager may stand for a state."""
    functions = [(module, node) for module, node in nodes if isinstance(node, ast.FunctionDef)]
    participles = set()
    for module, node in functions:
        word, states = node.name.strip("_"), [ast.unparse(mark) for mark in node.decorator_list]
        bare = "_" not in word and (word.endswith("ed") or word in PARTICIPLES)
        if bare and not any("property" in mark or "contextmanager" in mark for mark in states):
            participles.add(f"{module}.{node.name}")
    assert participles == set()
    assert len(functions) > 1000


def test_no_variable_of_a_test_says_nothing_of_what_it_holds() -> None:
    """Searched as text: to parse all tests would take longer than many of them."""
    words = "|".join(sorted(EMPTY_WORDS - {"stem"}))  # `stem` as paths have it
    assigned = re.compile(rf"^ *(?:def |(?:\w+, )*)({words})\b(?:\(|(?:, \w+)* =)|\bfor ({words}) in ", re.MULTILINE)
    root = Path(__file__).parents[2]
    files = [
        *(root / "benchmarks").glob("*.py"),
        *(root / "tests").glob("*.py"),
        *(root / "tests").glob("[!j]*/**/*.py"),
    ]
    assert [
        path.name for path in files if path != Path(__file__) and assigned.search(path.read_text(encoding="utf-8"))
    ] == []
    assert all(map(assigned.search, ("    a, told = 1, 2", "x\nfound = 1", "[each for each in x]", "def nth(")))
    assert len(files) > 200


def test_one_name_means_one_type(trees: dict[str, ast.Module]) -> None:
    modules = defaultdict(list)
    for module, tree in trees.items():
        for name in types_of(tree):
            modules[name].append(module)
    assert {name: where for name, where in modules.items() if len(where) > 1} == {}
    assert len(modules) > 150


def test_a_docstring_begins_with_a_sentence(nodes: list[tuple[str, ast.AST]]) -> None:
    sentences = 0
    for module, node in nodes:
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (text := docstring_of(node)):
            sentence = text.partition("\n\n")[0].rstrip()
            where = getattr(node, "name", Path(module).name)
            assert sentence.endswith((".", "?", ":")), f"{module}.{where}: {sentence}"
            assert sentence[0].isupper() or sentence[0] in "`." or isinstance(node, ast.Module), f"{module}.{where}"
            sentences += 1
    assert sentences > 1000


VERBS = frozenset(
    [
        "Return",
        "Yield",
        "Accept",
        "Add",
        "Answer",
        "Append",
        "Apply",
        "Ask",
        "Attempt",
        "Change",
        "Check",
        "Collect",
        "Compare",
        "Compress",
        "Convert",
        "Decode",
        "Delete",
        "Describe",
        "Do",
        "Fill",
        "Find",
        "Follow",
        "Freeze",
        "Give",
        "Go",
        "Group",
        "Have",
        "Import",
        "Inflate",
        "Join",
        "Keep",
        "Look",
        "Make",
        "Open",
        "Parse",
        "Pass",
        "Place",
        "Put",
        "Read",
        "Refer",
        "Refuse",
        "Remove",
        "Replace",
        "Run",
        "Scan",
        "See",
        "Send",
        "Serve",
        "Sort",
        "Split",
        "Take",
        "Undo",
        "Write",
    ]
)
NOT_VERBS = ("property", "contextmanager", "command", "fixture")


def test_the_docstring_of_what_returns_something_begins_with_a_verb(nodes: list[tuple[str, ast.AST]]) -> None:
    nouns, count = set(), 0
    for module, node in nodes:
        returns = ast.unparse(node.returns) if isinstance(node, ast.FunctionDef) and node.returns else "None"
        if not isinstance(node, ast.FunctionDef) or returns in ("None", "NoReturn"):
            continue
        if any(word in ast.unparse(mark) for mark in node.decorator_list for word in NOT_VERBS):
            continue
        words = (docstring_of(node) or "").split(maxsplit=1)
        if words and words[0].rstrip(",;:") not in VERBS and not words[0].startswith("`"):  # a call of another library
            nouns.add(f"{module}.{node.name}")
        count += bool(words)
    assert nouns == set()
    assert count > 500


def names_told(text: str, section: str) -> list[str]:
    """The names that stand in a section of a docstring, such as Args."""
    block = text.partition(f"\n{section}:\n")[2].partition("\n\n")[0]
    heads = [line.partition(":")[0] for line in block.splitlines() if re.match(r"    \S", line)]
    return [name.strip(" *").partition(" ")[0] for head in heads for name in head.split(",")]


def parameters_of(node: ast.AST) -> set[str]:
    """What a function takes, or a class on construction."""
    if isinstance(node, ast.ClassDef):
        init = next((part for part in node.body if getattr(part, "name", "") == "__init__"), None)
        return attributes_of(node) if init is None else parameters_of(init)
    return {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}


def attributes_of(node: ast.ClassDef) -> set[str]:
    """What a class defines, and what its methods assign."""
    stored = [part for part in ast.walk(node) if isinstance(getattr(part, "ctx", None), ast.Store)]
    names = {getattr(part, "attr", getattr(part, "id", "")) for part in stored}
    return names | {part.name for part in node.body if isinstance(part, ast.FunctionDef)}


def test_a_docstring_names_no_argument_and_no_attribute_that_does_not_exist(nodes: list[tuple[str, ast.AST]]) -> None:
    wrong, count = [], 0
    for module, node in nodes:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and (text := docstring_of(node)):
            arguments, attributes = names_told(text, "Args"), names_told(text, "Attributes")
            existing = attributes_of(node) if isinstance(node, ast.ClassDef) else set()
            lost = {*arguments} - parameters_of(node) | ({*attributes} - existing)
            wrong += [(module, node.name, name) for name in lost]
            count += len(arguments) + len(attributes)
    assert wrong == []
    assert count > 1500


RIDDLES = ("Return what ", "Return where ", "Return how ", "Return which ", "Return who ")
QUESTIONS = ("What ", "Where ", "How ", "Which ", "Who ")
EMPTY_PHRASE = re.compile(r"\b(where|if) (there|it) (is|are) (none|no such)\b|\bnone of which\b")


def is_noun(node: ast.AST) -> bool:
    """Whether it is a class or a property, which stand for a thing."""
    marks = getattr(node, "decorator_list", [])
    return isinstance(node, ast.ClassDef) or any("property" in ast.unparse(mark) for mark in marks)


def test_what_is_returned_is_a_noun_that_says_what_it_is(nodes: list[tuple[str, ast.AST]]) -> None:
    """A number, a mask, a sentence: `Return what is left` says neither what comes back nor of which type it is."""
    named = [(module, node) for module, node in nodes if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    sentences = [(f"{module}.{node.name}", docstring_of(node) or "") for module, node in named]
    assert [sentence for sentence in sentences if sentence[1].startswith(RIDDLES)] == []
    classes = [(f"{module}.{node.name}", docstring_of(node) or "") for module, node in named if is_noun(node)]
    assert [sentence for sentence in classes if sentence[1].startswith(QUESTIONS)] == []
    assert [(name, text) for name, text in sentences if EMPTY_PHRASE.search(text)] == []
    assert sum(text.startswith("Return the number of ") for _, text in sentences) > 40


@needing("xlsx")
def test_the_mathematics_of_the_fingerprint_is_told_in_one_place(trees: dict[str, ast.Module]) -> None:
    modules = [module for module in trees if module.startswith("sheets.excel.fingerprint")]
    assert len(modules) > 10
    page = (Path(__file__).parents[2] / "docs" / "fingerprint.md").read_text(encoding="utf-8")
    for module in modules:
        assert "docs/fingerprint.md" in (docstring_of(trees[module]) or "")
        assert module.endswith("fingerprint") or f"`{module.rpartition('.')[2]}`" in page, module
