"""Each transcript says what is printed; tests/helpers/transcripts.py describes one, and `--rewrite` renews it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from adapters_deleted import DELETED
from transcripts import FOLDER, ROOT, find_difference, list_transcripts, parse, render, run

pytestmark = pytest.mark.skipif(bool(DELETED), reason="transcripts list all formats, and an adapter was deleted")


@pytest.mark.parametrize("name", list_transcripts())
def test_a_transcript_says_what_is_printed(name, tmp_path, monkeypatch, request):
    text = (FOLDER / name).read_text(encoding="utf-8")
    steps, after = parse(text)
    assert render(steps, after) == text
    done = run(steps, tmp_path, monkeypatch)
    difference = find_difference(name, steps, done)
    if difference is not None and request.config.getoption("rewrite"):
        (FOLDER / name).write_text(render(done, after), encoding="utf-8")
        pytest.fail(f"{name} was rewritten: is this meant? {difference}", pytrace=False)
    if difference is not None:
        pytest.fail(f"{difference}\n\nIf this is meant: pytest tests/{FOLDER.name} --rewrite", pytrace=False)


def test_a_command_in_a_process_of_its_own_prints_the_same(tmp_path, monkeypatch):
    steps, _ = parse((FOLDER / "process.txt").read_text(encoding="utf-8"))
    assert find_difference("process.txt", steps, run(steps, tmp_path, monkeypatch, in_shell=True)) is None


ODD = r"""# Output that looks like something else.
$ printf '$ a\n>>> b\n# c\n! d\n\n[1]\n> e\n...\n\\\nx\n\n\n'; printf '\nto stderr\n' >&2; exit 3
\$ a
\>>> b
\# c
\! d

\[1]
\> e
\...
\\
x

\
!
! to stderr
[3]

# Then further lines.
$ cat <<'END'
> one
>
> two
> END
one

two

>>> for word in ("a", "b"):
...     print(word)
...
a
b
>>> import warnings; warnings.warn("old", DeprecationWarning); 1 / 0
! DeprecationWarning: old
! ZeroDivisionError: division by zero
"""


def test_any_output_can_stand_in_a_transcript(tmp_path, monkeypatch):
    steps, after = parse(ODD)
    assert render(steps, after) == ODD
    done = run(steps, tmp_path, monkeypatch)
    assert render(done, after) == ODD
    assert find_difference("odd.txt", steps, done) is None


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        ("\nx\n", "\ny\n", "odd.txt:2: standard output differs: $ printf"),
        ("! to stderr", "! to another", "odd.txt:2: standard error differs: $ printf"),
        ("[3]", "[2]", "odd.txt:2: the exit status differs: $ printf"),
        ("[3]\n", "", "odd.txt:2: the exit status differs: $ printf"),
        ("\na\nb\n", "\na\n", "odd.txt:29: standard output differs: >>> for word"),
        ("! ZeroDivisionError", "! OverflowError", "odd.txt:34: standard error differs: >>> import"),
    ],
)
def test_the_first_step_that_prints_something_else_is_named(then, now, told):
    difference = find_difference("odd.txt", parse(ODD.replace(then, now))[0], parse(ODD)[0])
    assert difference is not None
    assert difference.startswith(told)
    assert "\n-" in difference or "\n+" in difference


def test_nobody_rewrites_transcripts_where_nobody_looks(monkeypatch, request):
    conftest = request.config.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py"))
    config = SimpleNamespace(getoption={"rewrite": True}.get)
    monkeypatch.delenv("CI", raising=False)
    conftest.pytest_configure(config)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.UsageError, match="--rewrite is for people"):
        conftest.pytest_configure(config)
