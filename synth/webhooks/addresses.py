"""Where webhooks may go. Asked when a tenant saves a URL and at each sending; the address, before each connection.

The tables are our own: `ipaddress.is_global` is true of NAT64 and 6to4 forms of 127.0.0.1, of multicast and fec0::.
"""

import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Any
from urllib.parse import urlsplit

import idna

from tenants.errors import untranslated as _

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LONGEST_URL = 2000
LONGEST_HOST = 253
DEFAULT_PORTS = {"https": 443, "http": 80}

_NOT_PUBLIC = tuple(
    ip_network(block)
    for block in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        # What Azure answers its machines at, their credentials too. It looks public.
        "168.63.129.16/32",
        # Of 2000::/3: protocols (Teredo, benchmarks, ORCHID), documentation, 6to4.
        "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    )
)  # fmt: skip
# All global unicast of IPv6. What is outside is loopback, mapped, NAT64, unique local, link or site local, multicast.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
# These end in an IPv4 address, which is where the packets go.
_CARRIERS = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))

# Some parsers leave these out, some end the host at a backslash, some stop at them.
_SKIPPED = re.compile(r"[\x00-\x20\x7f\\]")
_PRINTABLE = re.compile(r"[!-~]*")
_AUTHORITY = re.compile(r"(?:\[(?P<literal>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:%]+))(?::(?P<port>[0-9]{1,5}))?")
_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
# A last label that is a number makes the whole an address to every resolver, in whatever spelling.
_ENDS_IN_A_NUMBER = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$")
# Names without a dot, and those that only mean something inside a network.
_INNER_NAME = re.compile(
    r"[^.]*|(?:.*\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|onion|test|invalid)"
)


class ForbiddenAddress(Exception):  # noqa: N818
    """Webhooks do not go there. `code` is stable; `message` is an untranslated template, filled from `params`."""

    def __init__(self, code: str, message: str, **params: Any) -> None:
        self.code, self.message, self.params = code, message, params
        super().__init__(message % params)


@dataclass(frozen=True, slots=True)
class Target:
    """A URL, read once for the check, the connection and the request. An address as host has its usual spelling."""

    scheme: str
    host: str
    port: int
    path: str
    address: Address | None = None

    @property
    def authority(self) -> str:
        """What the `Host` header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Policy:
    """What operators allow. `networks` are private ones that are allowed besides; with any, inner names are, too."""

    https_only: bool
    ports: frozenset[int]
    networks: tuple[Network, ...] = ()

    def check_url(self, url: str) -> None:
        """Raises ForbiddenAddress. Looks nothing up: what a name stands for is checked when it is connected to."""
        self.target(url)

    def check_address(self, address: Address) -> None:
        if not self._permits(address):
            raise _private()

    def target(self, url: str) -> Target:
        """The URL in its parts, once it is checked."""
        target = _read(url, schemes=("https",) if self.https_only else ("https", "http"))
        if target.port not in self.ports:
            raise ForbiddenAddress("port_not_allowed", _("Webhooks are not sent to port %(port)d."), port=target.port)
        if target.address is not None:
            self.check_address(target.address)
        elif not self.networks and _INNER_NAME.fullmatch(target.host):
            raise _private()
        return target

    def _permits(self, address: Address) -> bool:
        named = any(address in network for network in self.networks)
        if isinstance(address, IPv6Address) and any(address in carrier for carrier in _CARRIERS):
            return named and self._permits(IPv4Address(address.packed[-4:]))
        return named or _is_public(address)


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    return not any(address in network for network in _NOT_PUBLIC)


def _read(url: str, *, schemes: tuple[str, ...]) -> Target:
    """Strictly: a spelling that two parsers could read in two ways is refused."""
    if _SKIPPED.search(url):
        raise _unreadable()
    if len(url) > LONGEST_URL:
        raise ForbiddenAddress("invalid_url", _("The URL is longer than %(most)d characters."), most=LONGEST_URL)
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise _unreadable() from error
    if parts.scheme not in schemes:
        named = ", ".join(f"{scheme}://" for scheme in schemes)
        raise ForbiddenAddress("scheme_not_allowed", _("The URL must begin with one of: %(schemes)s."), schemes=named)
    if "@" in parts.netloc:
        raise ForbiddenAddress("credentials_in_url", _("The URL must not hold a user name or a password."))
    if "#" in url:
        raise ForbiddenAddress("fragment_in_url", _("The URL must not have a part after #."))
    authority = _AUTHORITY.fullmatch(parts.netloc)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not authority or not _PRINTABLE.fullmatch(path):
        raise _unreadable()
    host, address = _host(authority)
    port = int(authority["port"] or DEFAULT_PORTS[parts.scheme])
    return Target(parts.scheme, host, port, path, address)


def _host(authority: re.Match[str]) -> tuple[str, Address | None]:
    """The host as it is looked up, or the address that it is."""
    try:
        if authority["literal"]:
            literal = IPv6Address(authority["literal"])
            return str(literal), literal
        name = _ascii(authority["name"])
        if _ENDS_IN_A_NUMBER.search(name):
            address = IPv4Address(socket.inet_aton(name))
            return str(address), address
    except (ValueError, OSError) as error:
        raise _unreadable() from error
    if len(name) > LONGEST_HOST or not _NAME.fullmatch(name):
        raise _unreadable()
    return name, None


def _ascii(name: str) -> str:
    """In lower case, without the dot of the root. Full-width and circled digits become plain ones here."""
    if not name.isascii():
        name = idna.encode(name, uts46=True).decode("ascii")
    return name.lower().removesuffix(".")


def _private() -> ForbiddenAddress:
    """Does not say which address it is: what inner names stand for is none of a tenant's business."""
    return ForbiddenAddress("address_forbidden", _("Webhooks are sent to public addresses only."))


def _unreadable() -> ForbiddenAddress:
    return ForbiddenAddress("invalid_url", _("This is not a URL that webhooks can be sent to."))
