"""What every object store refuses alike: unsafe names, impossible ranges, URLs that would live too long."""

import re

MAX_URL_SECONDS = 7 * 24 * 3600  # no SigV4 URL lives longer
MAX_NAME = 512
MAX_NAME_PART = 200

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


def check_name(name: str) -> str:
    """The name itself, when it is safe as a path, as an S3 key and unquoted in a URL; ValueError otherwise.

    No part may start with a dot: that keeps `..` out, and leaves dotted names to the stores' own use.
    """
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        raise ValueError(f"not an object name: {name[:MAX_NAME]!r}")
    if max(len(part) for part in name.split("/")) > MAX_NAME_PART:
        raise ValueError(f"a part of this object name is longer than {MAX_NAME_PART} characters: {name!r}")
    return name


def check_range(start: int, end: int) -> None:
    """`start` and `end` are both included, so the shortest range has them equal."""
    if not 0 <= start <= end:
        raise ValueError(f"not a byte range: {start}-{end}")


def check_expiry(seconds: int) -> int:
    """The same number of seconds, when a signed URL may live so long; ValueError otherwise."""
    if not 1 <= seconds <= MAX_URL_SECONDS:
        raise ValueError(f"a signed URL lives 1 to {MAX_URL_SECONDS} seconds, not {seconds}")
    return seconds
