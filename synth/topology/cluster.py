"""A client of a Redis Cluster whose errors, time-outs and pipelines are those of one server."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from redis import BlockingConnectionPool, RedisCluster, RedisError
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, ClusterPipeline
from redis.crc import REDIS_CLUSTER_HASH_SLOTS
from redis.event import AfterSlotsCacheRefreshEvent, EventDispatcher, EventListenerInterface
from redis.exceptions import ClusterDownError, NoScriptError, RedisClusterException
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import TimeoutError as NoAnswer
from redis.retry import Retry

from synth.topology.address import RedisAddress

SCRIPTED = frozenset({"EVAL", "EVALSHA"})


class ClusterClient(RedisCluster):
    """One per process, shared by its threads. A node that hangs costs one time-out, one that is gone one more try.

    `layout_changed` is called when slots have other masters than before: one was promoted, or slots were moved.
    """

    ERRORS_ALLOW_RETRY = (NoConnection, ClusterDownError)  # type: ignore[assignment]

    # Of the process, since scripts outlive a client.
    _sources: ClassVar[set[Any]] = set()

    def __init__(self, address: RedisAddress, *, layout_changed: Callable[[], None], **options: Any) -> None:
        """`options` are redis-py's, of connections and their pool: there is one pool a node, of BlockingConnectionPool.

        Raises ConnectionError when no node answers.
        """
        self.lost = False
        options |= address.credentials
        dispatcher = EventDispatcher()
        dispatcher.register_listeners({AfterSlotsCacheRefreshEvent: [_LayoutListener(self, layout_changed)]})
        (host, port), *others = address.nodes
        with self.errors_told():
            super().__init__(
                # redis-py heeds the pool's class for what came by URL alone.
                url=f"{'rediss' if address.tls else 'redis'}://{f'[{host}]' if ':' in host else host}:{port}",
                startup_nodes=[ClusterNode(*node) for node in others],  # type: ignore[no-untyped-call]
                connection_pool_class=BlockingConnectionPool,
                retry=Retry(NoBackoff(), 1),
                event_dispatcher=dispatcher,
                require_full_coverage=False,  # a part that is away degrades its own tenants, not all
                **options,
            )

    def execute_command(self, *args: Any, **options: Any) -> Any:
        with self.errors_told():
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]

    def register_script(self, script: Any) -> Any:
        self._sources.add(script)
        return super().register_script(script)

    @contextmanager
    def errors_told(self) -> Iterator[None]:
        """ConnectionError where redis-py has an error of Clusters that is no RedisError.

        A client that found none of the nodes which it knows is `lost`: make another one from the settings.
        """
        try:
            yield
        except RedisClusterException as error:
            self.lost = True
            raise NoConnection(str(error)) from error

    def load_scripts(self) -> None:
        """Give every master the scripts that were registered: a pipeline cannot load them on its way."""
        for source in self._sources:
            self.script_load(source)

    def pipeline(self, transaction: Any = None, shard_hint: Any = None) -> "ScriptPipeline":  # noqa: ARG002
        return ScriptPipeline(self, transaction=transaction)

    def node_of(self, command: tuple[Any, ...]) -> str:
        """The node that this command goes to, or '' where nobody has its slot."""
        slot = self.determine_slot(*command)
        nodes = None if slot is None else self.nodes_manager.slots_cache.get(slot)
        return nodes[0].name if nodes else ""

    def _get_command_keys(self, *args: Any) -> Any:
        return _keys_of_script(args) or super()._get_command_keys(*args)  # type: ignore[no-untyped-call]

    def masters_of_slots(self) -> tuple[str, ...]:
        """Which master has which slot, as far as this client knows."""
        slots = self.nodes_manager.slots_cache
        return tuple(slots[slot][0].name if slot in slots else "" for slot in range(REDIS_CLUSTER_HASH_SLOTS))


class ScriptPipeline(ClusterPipeline):
    """redis-py's pipeline over several nodes, which scripts may be part of, too."""

    def __init__(self, client: ClusterClient, *, transaction: Any) -> None:
        self._client = client
        super().__init__(
            nodes_manager=client.nodes_manager,
            commands_parser=client.commands_parser,
            startup_nodes=list(client.nodes_manager.startup_nodes.values()),
            result_callbacks=client.result_callbacks,
            cluster_response_callbacks=client.cluster_response_callbacks,
            reinitialize_steps=client.reinitialize_steps,
            retry=client.retry,
            lock=client._lock,  # noqa: SLF001 - as RedisCluster.pipeline does
            transaction=transaction,
            event_dispatcher=client._event_dispatcher,  # noqa: SLF001
        )

    def evalsha(self, sha: str, numkeys: int, *keys_and_args: Any) -> Any:
        return self.execute_command("EVALSHA", sha, numkeys, *keys_and_args)  # type: ignore[no-untyped-call]

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        """At least once, like redis-py's: what a connection that broke may have carried is sent again."""
        sent = [command.args for command in self._execution_strategy.command_queue]
        try:
            with self._client.errors_told():
                results = super().execute(raise_on_error=False)
        except (NoConnection, NoAnswer) as error:
            results = self._node_by_node(sent, error)
        if any(isinstance(result, NoScriptError) for result in results):
            self._client.load_scripts()
            results = [
                self._again(command) if isinstance(result, NoScriptError) else result
                for command, result in zip(sent, results, strict=True)
            ]
        if raise_on_error:
            for result in results:
                if isinstance(result, Exception):
                    raise result
        return results

    def _node_by_node(self, sent: list[tuple[Any, ...]], error: Exception) -> list[Any]:
        """So that a node which is away costs the others' tenants nothing."""
        by_node: dict[str, list[int]] = defaultdict(list)
        with self._client.errors_told():
            for position, command in enumerate(sent):
                by_node[self._client.node_of(command)].append(position)
        results: list[Any] = [error] * len(sent)
        for positions in by_node.values() if len(by_node) > 1 else ():
            part = self._client.pipeline()
            for position in positions:
                part.execute_command(*sent[position])  # type: ignore[no-untyped-call]
            for position, result in zip(positions, part.execute(raise_on_error=False), strict=True):
                results[position] = result
        return results

    def _again(self, command: tuple[Any, ...]) -> Any:
        try:
            return self._client.execute_command(*command)
        except RedisError as error:
            return error

    def _get_command_keys(self, *args: Any) -> Any:
        """Of a script they are at hand; redis-py would ask a node, for each command."""
        return _keys_of_script(args) or super()._get_command_keys(*args)  # type: ignore[no-untyped-call]


def _keys_of_script(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return args[3 : 3 + int(args[2])] if args[0] in SCRIPTED else ()


class _LayoutListener(EventListenerInterface):
    """Hears that the client has read, or been told, which node has which slot."""

    def __init__(self, client: ClusterClient, changed: Callable[[], None]) -> None:
        self._client = client
        self._changed = changed
        self._known: tuple[str, ...] = ()

    def listen(self, event: object) -> None:  # noqa: ARG002 - redis-py's signature
        if not hasattr(self._client, "nodes_manager"):  # the first reading, in the constructor
            return
        before, self._known = self._known, self._client.masters_of_slots()
        if before != self._known:
            self._changed()
