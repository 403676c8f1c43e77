"""The group of all commands: it turns an error into one or two lines on standard error and an exit status."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import click
from click.exceptions import Exit, NoArgsIsHelpError

from ..errors import DTypeError, FormatError, LimitError, RemoteError, SheetArrayError, SheetArrayWarning
from ..files import is_url
from ..renamed import nearest
from .arguments import hint_at_option, to_cli_options
from .console import print_note

FINE, FINDINGS, FAILED = 0, 1, 2
_INTERRUPTED, _NO_READER = 130, 141  # what a shell reports for the signals INT and PIPE

EXPECTED = (SheetArrayError, OSError, MemoryError, UnicodeError)  # the last: an encoding that is none for text


class Program(click.Group):
    """The group of all commands. A command returns its exit status; None means that all is fine."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: ARG002  (click's signature; a program is always alone)
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run the command line, and exit."""
        _open_closed_streams()
        _escape_unencodable()
        status: Any = FAILED
        with _shorten_warnings():
            try:
                status = super().main(
                    args, prog_name, complete_var, False, windows_expand_args=windows_expand_args, **extra
                )
            except NoArgsIsHelpError as error:
                error.show()
            except click.Abort:
                status = _INTERRUPTED
            except click.ClickException as error:
                print_error(error)
        sys.exit(status if isinstance(status, int) else FINE)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. It overrides click's own, which ends the program with status 1 where a pipe is broken."""
        try:
            status = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _detach_stdout()
            raise Exit(_NO_READER) from None
        except EXPECTED as error:
            print_error(error)
            with contextlib.suppress(OSError):
                sys.stdout.flush()
                raise Exit(FAILED) from None
            _detach_stdout()
            raise Exit(FAILED) from None
        return status


def print_error(error: BaseException) -> None:
    """Write to standard error what went wrong, and what to do about it."""
    message, hint = explain_error(error)
    print_note("error", message)
    if hint:
        print_note("hint", hint)


def explain_error(error: BaseException) -> tuple[str, str]:
    """Return an error as a sentence, and a hint, which may be empty; both name options of the command line."""
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else ""
        hint = getattr(error, "hint", "") or (f"{command} --help says how it is used" if command else "")
        if not isinstance(error, click.NoSuchOption) or error.ctx is None:
            return error.format_message(), hint
        options = [name for parameter in error.ctx.command.params for name in parameter.opts]
        meant = nearest(error.option_name, options)
        hint = hint_at_option(error.option_name, error.ctx.command) or hint
        return f"{error.message} Did you mean {meant}?" if meant else error.message, hint
    if isinstance(error, click.ClickException):
        return error.format_message(), ""
    if isinstance(error, FormatError):
        plain = FormatError(error.reason, location=error.location, element=error.element, source=error.source)
        return str(plain), to_cli_options(error.hint or "", "--read")
    if isinstance(error, RemoteError):
        return error.reason, to_cli_options(error.hint or "", "--read")
    if isinstance(error, (DTypeError, LimitError)):
        return to_cli_options(str(error), "--write"), ""
    if isinstance(error, MemoryError):
        return "not enough memory" + (f": {error}" if str(error) else ""), ""
    if isinstance(error, OSError) and not isinstance(error, SheetArrayError) and error.strerror:
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
        return f"{where}{error.strerror}", _hint_at_folder(error)
    return str(error) or type(error).__name__, ""


def _hint_at_folder(error: OSError) -> str:
    """Return a hint that names the folder in which a missing file should stand, if the folder is missing too."""
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, (str, bytes)):
        return ""
    path = os.fsdecode(error.filename)
    folder = os.path.dirname(path)
    if is_url(path) or not folder or os.path.exists(folder):  # other machines are not asked for their folders
        return ""
    return f"there is no folder {folder}"


@contextlib.contextmanager
def _shorten_warnings() -> Iterator[None]:
    said: set[str] = set()

    def show(message: Warning | str, *_place: Any, **_more: Any) -> None:
        text = to_cli_options(str(message), "--read") if isinstance(message, SheetArrayWarning) else str(message)
        if text not in said:
            said.add(text)
            print_note("warning", text)

    with warnings.catch_warnings():
        warnings.simplefilter("always", SheetArrayWarning)
        warnings.showwarning = show
        yield


def _open_closed_streams() -> None:
    """Put the null device in place of each standard stream that was closed before the start, as `>&-` does.

    Otherwise the next file that is opened would get its number, and what a library prints.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.open(os.devnull, os.O_RDWR), mode))  # noqa: SIM115  (until the program ends)


def _escape_unencodable() -> None:
    """Let characters that the terminal's encoding lacks come out escaped, not as an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _detach_stdout() -> None:
    """Close standard output if nobody reads it any more or the disk is full, so that Python does not fail to flush it
    at its end.
    """
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
