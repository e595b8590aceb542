"""Typed readers of environment variables; `settings.py` alone uses them.

Every reader also looks at NAME_FILE, the path of a file that holds the value (for mounted secrets).
A value that cannot be used stops the start with a sentence that names the variable.
"""

import os
import re
from base64 import b64decode
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off"})


def text(name: str, default: str = "") -> str:
    value = os.environ.get(name)
    if value:
        return value
    path = os.environ.get(f"{name}_FILE")
    if not path:
        return default
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{name}_FILE names {path}, which cannot be read: {error.strerror}.") from error


def flag(name: str, *, default: bool) -> bool:
    value = text(name).lower()
    if not value:
        return default
    if value in TRUE | FALSE:
        return value in TRUE
    raise ImproperlyConfigured(f"{name} is {value!r}; it takes one of {', '.join(sorted(TRUE | FALSE))}.")


def integer(name: str, default: int, *, minimum: int = 0, maximum: int | None = None) -> int:
    return round(_number(name, default, minimum=minimum, maximum=maximum, kind=int))


def number(name: str, default: float, *, minimum: float = 0, maximum: float | None = None) -> float:
    return _number(name, default, minimum=minimum, maximum=maximum, kind=float)


def choice(name: str, options: tuple[str, ...], default: str) -> str:
    value = text(name, default).lower()
    if value in options:
        return value
    raise ImproperlyConfigured(f"{name} is {value!r}; it takes one of {', '.join(options)}.")


def words(name: str, default: str = "") -> list[str]:
    """A list, parted by commas."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def numbers(name: str, default: str, *, minimum: float = 0) -> list[float]:
    """`5,30,120`"""
    return _numbers(name, default, minimum=minimum, kind=float)


def integers(name: str, default: str, *, minimum: int = 0, maximum: int | None = None) -> list[int]:
    """`443,8443`"""
    return [round(number) for number in _numbers(name, default, minimum=minimum, maximum=maximum, kind=int)]


def networks(name: str, default: str) -> list[IPv4Network | IPv6Network]:
    """`10.0.0.0/8,::1/128`; an address alone is the network of that address."""
    try:
        return [ip_network(word) for word in words(name, default)]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name}: {error}; it takes networks such as 10.0.0.0/8, parted by commas."
        ) from error


def by_engine(name: str) -> dict[str, float]:
    """`1.8,kokoro=0.04` -> {"": 1.8, "kokoro": 0.04}: one number for all engines, and others for some."""
    numbers: dict[str, float] = {}
    for item in words(name):
        engine, _, value = item.rpartition("=")
        try:
            numbers[engine.strip()] = float(value)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name} holds {item!r}; it takes numbers, as in 1.8,kokoro=0.04.") from error
        if not 0 <= numbers[engine.strip()] < 1_000_000:
            raise ImproperlyConfigured(f"{name} holds {item!r}; it takes numbers from 0 to a million.")
    return numbers


def numbered_secrets(name: str, default: str) -> dict[int, str]:
    """`1:secret,2:newer` -> {1: …, 2: …}; a value without numbers is number 1."""
    secrets: dict[int, str] = {}
    for position, item in enumerate(words(name, default), start=1):
        number_text, parted, secret = item.partition(":")
        if parted and number_text.isdigit():
            secrets[int(number_text)] = secret
        else:
            secrets[position] = item
    return secrets


def encryption_keys(name: str) -> dict[str, bytes]:
    """`2026b:<base64>,2026a:<base64>` -> {id: 32 bytes}, in this order: the first one wraps, each of them opens."""
    keys: dict[str, bytes] = {}
    for item in words(name):
        key_id, _, encoded = item.partition(":")
        try:
            secret = b64decode(encoded, validate=True)
        except ValueError:
            secret = b""
        # Never the item itself: it is a secret.
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,32}", key_id) or key_id in keys or len(secret) != 32:
            raise ImproperlyConfigured(
                f"{name}: key {len(keys) + 1} is not an id that is used once, a colon and the base64 of 32 bytes."
            )
        keys[key_id] = secret
    return keys


def database(name: str, default: str) -> dict[str, Any]:
    """`sqlite:///path` or `postgresql://user:password@host:port/name` -> an entry of DATABASES."""
    url = urlsplit(text(name, default))
    if url.scheme == "sqlite":
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": unquote(url.path)}
    if url.scheme in {"postgres", "postgresql"}:
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(url.path.lstrip("/")),
            "USER": unquote(url.username or ""),
            "PASSWORD": unquote(url.password or ""),
            "HOST": url.hostname or "",
            "PORT": str(url.port or ""),
        }
    raise ImproperlyConfigured(f"{name} starts with {url.scheme or 'nothing'!r}; it takes sqlite:/// or postgresql://.")


def _numbers(name: str, default: str, *, minimum: float, maximum: float | None = None, kind: type) -> list[float]:
    return [_parsed(name, word, minimum=minimum, maximum=maximum, kind=kind) for word in words(name, default)]


def _number(name: str, default: float, *, minimum: float, maximum: float | None, kind: type) -> float:
    value = text(name)
    return _parsed(name, value, minimum=minimum, maximum=maximum, kind=kind) if value else default


def _parsed(name: str, value: str, *, minimum: float, maximum: float | None, kind: type) -> float:
    bounds = f"at least {minimum}" + ("" if maximum is None else f" and at most {maximum}")
    try:
        parsed = kind(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes a number of {bounds}.") from error
    if not parsed >= minimum or (maximum is not None and parsed > maximum):
        raise ImproperlyConfigured(f"{name} is {value}; it takes {bounds}.")
    return float(parsed)
