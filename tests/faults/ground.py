"""Whole stacks for the rows of the scoreboard, and the servers that some of them have of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.faults.scoreboard import MakeStack
from tests.servers.redis import RedisServer
from tests.stack import Stack


def started(
    make_stack: MakeStack, env: Mapping[str, str], *, apis: int = 1, engine_workers: int = 2, io_workers: int = 1
) -> Stack:
    """A stack of all that Refrain is made of, ready."""
    stack = make_stack(env=env)
    with stack.at_once():
        stack.api(apis)
        stack.engine_worker(engine_workers)
        stack.io_worker(io_workers)
        stack.beat()
    stack.wait_for_engines()
    return stack


@contextmanager
def cache_of_its_own() -> Iterator[RedisServer]:
    """A Redis for the cache alone, so that a stack's own is but the broker."""
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder)) as redis:
        yield redis


def dead(stack: Stack) -> int:
    """Processes that ended though nobody ended them."""
    return sum(not child.alive for child in stack.children)
