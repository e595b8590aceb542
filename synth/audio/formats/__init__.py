"""Output formats: the folder is the extension point; each module has a `FORMAT`. Asked by spec.py and encoding.py."""

from functools import cache

from synth.audio.formats.base import Format
from synth.extensions import ExtensionPoint

FORMATS = ExtensionPoint("synth.audio.formats")

__all__ = ["FORMATS", "Format", "format_names", "get_format"]


@cache
def format_names() -> tuple[str, ...]:
    return FORMATS.names()


@cache
def get_format(name: str) -> Format:
    """Raises LookupError for an unknown name; what a broken format's own import raises passes through."""
    found: Format = FORMATS.load(name).FORMAT
    return found
