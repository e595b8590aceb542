"""Where Redis is, as a URL says it: one server, a service that Sentinels watch, or a Cluster. Settings read this."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

SCHEMES = "redis://, rediss://, redis+sentinel://, rediss+sentinel://, redis+cluster:// and rediss+cluster://"
SENTINEL_OPTIONS = frozenset({"sentinel_username", "sentinel_password"})
# Never quotes what it read: a password with an unescaped character may have ended up there.
UNREADABLE = "holds no host:port where one belongs; in a password write / ? # @ as %2F %3F %23 %40"
PORTS = {"": 6379, "sentinel": 26379, "cluster": 6379}


class Topology(StrEnum):
    STANDALONE = ""
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisAddress:
    """`nodes` are the server, the Sentinels, or some nodes of the Cluster; `url` is what was read.

    `username` and `password` are those of Redis itself; Sentinels may have others.
    """

    url: str = field(repr=False)
    topology: Topology
    nodes: tuple[tuple[str, int], ...]
    db: int = 0
    service: str = ""
    tls: bool = False
    username: str = ""
    password: str = field(default="", repr=False)
    sentinel_username: str = ""
    sentinel_password: str = field(default="", repr=False)

    @property
    def credentials(self) -> dict[str, str]:
        """As redis-py names them; nothing where there are none."""
        return _given(username=self.username, password=self.password)

    @property
    def sentinel_credentials(self) -> dict[str, str]:
        return _given(username=self.sentinel_username, password=self.sentinel_password)

    @property
    def kombu_url(self) -> str:
        """What Celery takes for these Sentinels."""
        user = f"{quote(self.username, safe='')}:{quote(self.password, safe='')}@" if self.credentials else ""
        return ";".join(f"sentinel://{user}{_joined(*node)}/{self.db}" for node in self.nodes)


def parse(url: str) -> RedisAddress:
    """Raises ValueError with what is wrong, without the password. See SCHEMES and docs/operating.md for the forms."""
    parts = urlsplit(url)
    scheme, _, kind = parts.scheme.partition("+")
    if scheme not in {"redis", "rediss"} or kind not in PORTS or url.count("://") != 1:
        raise ValueError(f"starts with {parts.scheme or 'nothing'!r}; it takes {SCHEMES}")
    topology = Topology(kind)
    username, password, nodes = _authority(parts, default_port=PORTS[kind])
    if topology is Topology.STANDALONE and len(nodes) > 1:
        raise ValueError("names several servers; several are redis+sentinel:// or redis+cluster://")
    service, db = _path(parts.path, topology)
    options = _options(parts.query, topology)
    return RedisAddress(
        url=url,
        topology=topology,
        nodes=nodes,
        db=db,
        service=service,
        tls=scheme == "rediss",
        username=username,
        password=password,
        sentinel_username=options.get("sentinel_username", ""),
        sentinel_password=options.get("sentinel_password", ""),
    )


def _authority(parts: SplitResult, *, default_port: int) -> tuple[str, str, tuple[tuple[str, int], ...]]:
    credentials, _, hosts = parts.netloc.rpartition("@")
    username, _, password = credentials.partition(":")
    nodes = tuple(_node(host.strip(), default_port) for host in hosts.split(","))
    return unquote(username), unquote(password), nodes


def _node(text: str, default_port: int) -> tuple[str, int]:
    try:
        node = urlsplit(f"//{text}")
        host, port = node.hostname, node.port
    except ValueError as error:
        raise ValueError(UNREADABLE) from error
    if not host:
        raise ValueError(UNREADABLE)
    return host, port or default_port


def _path(path: str, topology: Topology) -> tuple[str, int]:
    """The service and the database: `/service/db` for Sentinels, `/db` for one server, nothing for a Cluster."""
    words = [unquote(word) for word in path.strip("/").split("/") if word]
    service = words.pop(0) if topology is Topology.SENTINEL and words else ""
    if topology is Topology.SENTINEL and not service:
        raise ValueError("names no service; Sentinels are asked for one: redis+sentinel://host:26379/<service>/<db>")
    if len(words) > 1 or (words and not words[0].isdigit()):
        raise ValueError("ends with something else than the number of a database")
    db = int(words[0]) if words else 0
    if topology is Topology.CLUSTER and db:
        raise ValueError(f"names database {db}; a Cluster has number 0 alone")
    return service, db


def _options(query: str, topology: Topology) -> Mapping[str, str]:
    """Those of one server are redis-py's own, and pass on in the URL."""
    if topology is Topology.STANDALONE:
        return {}
    options = dict(parse_qsl(query))
    known = SENTINEL_OPTIONS if topology is Topology.SENTINEL else frozenset()
    if unknown := set(options) - known:
        raise ValueError(f"has the option {', '.join(sorted(unknown))}; known: {', '.join(sorted(known)) or 'none'}")
    return options


def _given(**values: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
