"""Places: tells URLs from paths, finds the name and the suffix in a URL, and makes a path of a file under a URL.

A URL is what fsspec calls one: `s3://bucket/run.csv`, `https://host/run.csv?signature=..`, `memory://run.csv`, and
chains such as `zip://run.csv::s3://bucket/runs.zip`. `file://` is a path in another spelling. A text that looks like a
URL, and is the path of a file that there is, is that path.
"""

from __future__ import annotations

import io
import ipaddress
import os
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import IO, Any, TypeVar
from urllib.parse import unquote

from ..errors import DTypeError, NotFoundError

PathLike = str | os.PathLike[str]
STORAGE_HINT = 'pip install "sheetarray[remote]"'
COMPRESSIONS = (".gz", ".zst")  # suffixes that may follow any other

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]+"
_URL = re.compile(rf"(?:{_SCHEME}::)*({_SCHEME})://")
_SCHEMES = re.compile(rf"(?:^|(?<=::)){_SCHEME}(?=://|::)")
_LOCAL = ("file://", "local://")
_LOGIN = re.compile(r"(?<=://)(?:(?:[^/@?#:]*+:)++[^/?#\s'\"]*|[^/@?#:\s]{20,}+)@")  # a name so long is a token
_PARAMETER = re.compile(r"[?&#]([^=&]*+)(=?)")  # a name, which may begin after another mark, and what ends it
_SECRET_NAME = re.compile("sig|token|secret|pass|pwd|credential|key|auth(?!or)|jwt|session|hmac", re.IGNORECASE)
_TOKEN = re.compile(  # what stands after the words of a header, and what Google's tokens and keys begin with
    r"\b(?:(Bearer |Basic )[\w.~+/=-]{8,}+|()(?:ya29\.|AIza|GOCSPX-|eyJ|1//)[\w./+=-]{16,}+)"
)
_VALUE = re.compile("[^&#]*")
_HOST_OF_NUMBERS = re.compile(r"(?<=://)([^/@?#\[\]]*@)?\[([0-9A-Fa-f:.]*::[0-9A-Fa-f:.]*)\]")
_SHORTEST_SECRET = 4  # characters; shorter values would be found in any text
_NO_SECRETS = ("endpoint_url", "region_name", "project")

_Place = TypeVar("_Place", bound=IO[Any])


class RemoteFile(os.PathLike[str]):
    """A file under a URL, which every read through this object must find unchanged.

    As a path it is the URL without passwords and signatures; so messages never show any.

    Attributes:
        url: as it was given, except that schemes are in small letters, and that a host such as `[::1]` is written
            without two colons in a row, since file systems understand nothing else.
        options: for the file system.
        state: the size, times and checksums that the file had when it was first opened or listed, by which a change is
            noticed; None before.
        head: its first bytes, as far as they were read.

    Example:
        >>> os.fspath(RemoteFile("https://me:secret@host/run.csv?sig=abc"))
        'https://***@host/run.csv?sig=***'
    """

    __slots__ = ("head", "options", "state", "url")  # there may be a hundred thousand of them

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        self.url: str = _SCHEMES.sub(lambda scheme: scheme.group().lower(), expand_hosts(url))
        self.options = dict(options or {})
        self.state: dict[str, Any] | None = None
        self.head: bytes = b""

    def __fspath__(self) -> str:
        return conceal_secrets(self.url)

    __str__ = __fspath__

    def __repr__(self) -> str:
        return f"RemoteFile({os.fspath(self)!r})"

    def forget(self) -> None:
        """Forget the state and the first bytes, since the file is being written anew."""
        self.state, self.head = None, b""

    def conceal(self, message: str) -> str:
        """Return a message without the values of the storage options, the URL's password and its signature."""
        for secret in sorted(_secrets(self.options), key=len, reverse=True):
            message = message.replace(secret, "***")
        return conceal_secrets(message)


def conceal_secrets(text: str) -> str:
    """Return a text without the passwords, tokens and signatures of the URLs in it.

    Example:
        >>> conceal_secrets("https://me:secret@host/run.csv?sig=abc#token=def")
        'https://***@host/run.csv?sig=***#token=***'
    """
    text = _TOKEN.sub(r"\1\2***", _LOGIN.sub("***@", text))
    shown, place = [], 0
    at = 0
    while parameter := _PARAMETER.search(text, at):
        at = parameter.end()
        if parameter[2] and _SECRET_NAME.search(parameter[1]):
            shown += [text[place:at], "***"]
            place = at = _VALUE.match(text, at).end()  # type: ignore[union-attr]
    return "".join([*shown, text[place:]])


def _secrets(options: Mapping[str, Any]) -> set[str]:
    """Return every text among options that may be a secret."""
    texts: set[str] = set()
    for key, value in options.items():
        if isinstance(value, Mapping):
            texts |= _secrets(value)
        elif isinstance(value, (list, tuple)):
            texts |= _secrets({str(number): item for number, item in enumerate(value)})
        elif isinstance(value, str) and len(value) >= _SHORTEST_SECRET and key not in _NO_SECRETS:
            texts.add(value)
    return texts


def expand_hosts(url: str) -> str:
    """Return a URL in which no host has two colons in a row, since these part the links of a chain of URLs.

    Example:
        >>> expand_hosts("http://[::1]:8000/run.csv"), expand_hosts("zip://run.csv::s3://bucket/runs.zip")
        ('http://[0:0:0:0:0:0:0:1]:8000/run.csv', 'zip://run.csv::s3://bucket/runs.zip')
    """

    def expand(match: re.Match[str]) -> str:
        try:
            address = ipaddress.IPv6Address(match[2])
        except ValueError:
            return match[0]
        groups = ":".join(f"{int(group, 16):x}" for group in address.exploded.split(":"))
        return f"{match[1] or ''}[{groups}]"

    return _HOST_OF_NUMBERS.sub(expand, url)


def is_url(place: object) -> bool:
    """Return whether a place is a URL, and no file's path.

    Example:
        >>> is_url("s3://bucket/run.csv"), is_url("run.csv"), is_url("zip://run.csv::runs.zip")
        (True, False, True)
    """
    if isinstance(place, RemoteFile):
        return True
    return isinstance(place, str) and _URL.match(place) is not None and not os.path.exists(place)


def takes_options(place: object) -> bool:
    """Return whether storage options apply to a place: to a URL, unless it means a file of this machine.

    Example:
        >>> takes_options("s3://bucket/run.csv"), takes_options("file:///data/run.csv"), takes_options("run.csv")
        (True, False, False)
    """
    return is_url(place) and not (isinstance(place, str) and place.lower().startswith(_LOCAL))


def name_part(place: PathLike) -> str:
    """Return the part of a path or URL that holds the file's name and suffix: of a URL, no query and no fragment.

    Example:
        >>> name_part("https://host/runs/run.csv.gz?sig=a/b.c#top"), name_part("zip://in/run.csv::s3://bucket/runs.zip")
        ('host/runs/run.csv.gz', 'in/run.csv')
    """
    text = place.url if isinstance(place, RemoteFile) else os.fspath(place)
    if not is_url(place):
        return text
    if text.lower().startswith(_LOCAL):
        return _local_path(text)
    link = next(part for part in expand_hosts(text).split("::") if "://" in part)
    scheme, _, path = link.partition("://")
    cut = re.split("[?#]", path, maxsplit=1)[0]
    is_web = scheme.lower() in ("http", "https")
    return cut if is_web or os.path.splitext(cut)[1] else path  # a key of an object store may have both characters


def stem_of(place: PathLike) -> str:
    """Return the name of a file without its suffix, nor the one of its compression.

    Example:
        >>> stem_of("runs/run.2024.csv.gz"), stem_of("https://host/t.npy?sig=a")
        ('run.2024', 't')
    """
    name = os.path.basename(name_part(place))
    packed = next((suffix for suffix in COMPRESSIONS if name.lower().endswith(suffix)), "")
    return os.path.splitext(name[: len(name) - len(packed)])[0]


def locate(place: Any, storage_options: Mapping[str, Any] | None = None) -> Any:
    """Return a path, a `RemoteFile` for a URL, or an open file as it is.

    `storage_options`: for the file system of a URL, such as `key` and `secret`, or `anon`.

    Raises:
        DTypeError: a workbook in memory, of openpyxl, XlsxWriter or pandas.
        NotFoundError: a `file://` URL of another machine.
        TypeError: storage options that are no mapping of text.
        ValueError: storage options without a URL that takes them.

    Example:
        >>> locate("file:///data/run%201.csv"), locate("memory://run.csv")
        ('/data/run 1.csv', RemoteFile('memory://run.csv'))
    """
    if not isinstance(place, (str, PurePath, RemoteFile, io.IOBase)):
        _refuse_workbook(place)
    if storage_options is not None:
        _check_options(storage_options, place)
    if not isinstance(place, str) or not is_url(place):
        return place
    return RemoteFile(place, storage_options) if takes_options(place) else _local_path(place)


def _refuse_workbook(place: object) -> None:
    """Refuse a workbook or a worksheet in memory: a `pandas.ExcelWriter` has a path, whose file it writes last."""
    for kind in type(place).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in ("openpyxl", "xlsxwriter") or (package == "pandas" and kind.__name__ == "ExcelWriter"):
            break
    else:
        return
    raise DTypeError(
        f"expected a path, a URL or an open file, not the {kind.__name__} of {package}: "
        "sheetarray.write and write_table put arrays and tables into it, and read and read_columns take it"
    )


def _check_options(options: object, place: Any) -> None:
    """Refuse storage options that are no mapping of text, or whose place is no URL that takes them."""
    if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
        raise TypeError(
            f"storage_options names values, such as {{'anon': True}}: this is another {type(options).__name__}"
        )
    if options and not takes_options(place):
        name = (
            f"{os.fspath(place)!r:.300} is" if isinstance(place, (str, os.PathLike)) else "an open file or a buffer is"
        )
        raise ValueError(f"storage_options are for a URL such as s3://bucket/run.csv, and {name} no such URL")


def _local_path(url: str) -> str:
    """Return the path that a `file://` URL means."""
    text = url.partition("://")[2]
    text = text.removeprefix("localhost") if text.startswith("localhost/") else text
    if not text.startswith("/"):
        raise NotFoundError(f"{url}: names a file of another machine; one of this machine has three slashes, file:///")
    path = text if os.path.exists(text) else unquote(text)
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path


def file_version(place: object) -> tuple[Any, ...] | None:
    """Return a value that differs after a file was saved again; None for an open file, and where no file exists."""
    place = locate(place)
    if isinstance(place, RemoteFile):
        from .remote import read_state

        state = read_state(place)
        return None if state is None else tuple(state.items())
    if not isinstance(place, (str, os.PathLike)):
        return None
    try:
        status = os.stat(place)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
