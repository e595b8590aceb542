"""W1: receivers that fail, hang and trickle; a sender and Redis killed; what was given up is listed, and replayed."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from standardwebhooks import WebhookVerificationError

from tests.faults.asking import comes_true, number, rows
from tests.faults.listening import webhook_environment
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.servers.inbox import Delivered, Inbox, Reply
from tests.stack import Child, Stack

NAMES = ("well", "flaky", "hanging", "trickling", "dead", "struck")
FAILURES = 3
OPEN = "state NOT IN ('succeeded', 'failed', 'canceled')"


@dataclass
class _Trap:
    """Holds the answer to one request of `struck`, so that its sender can be killed before it records one."""

    caught: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)

    def reply(self, _: Delivered) -> Reply:
        if not self.caught.is_set():
            self.caught.set()
            self.let_go.wait(60)
        return Reply()


def play(make_stack: MakeStack, *, seed: int, events: int, pauses: list[float], timeout: float) -> Figures:
    trap = _Trap()
    with ExitStack() as running:
        inboxes = {name: running.enter_context(Inbox(_replies(name, trap))) for name in NAMES}
        ports = [inbox.port for inbox in inboxes.values()]
        stack = make_stack(env=webhook_environment(ports, pauses=pauses, timeout=timeout))
        with stack.at_once():
            (worker,) = stack.io_worker()
            stack.beat()
        counts = {name: events // len(NAMES) + (place < events % len(NAMES)) for place, name in enumerate(NAMES)}
        secrets = _make_endpoints(stack, inboxes, {**counts, "struck": 0})
        stuck = _wait_until_ended(stack, events - counts["struck"])
        _at_the_desk(stack, f"tell({{'struck': {counts['struck']}}}, word='storm')")
        _kill_sender_and_redis(stack, trap, worker)
        stuck += _wait_until_ended(stack, events)
        figures = _dead_letters(stack, inboxes["dead"], counts["dead"])
        figures["off_schedule"] = _off_schedule(inboxes["flaky"], pauses)
        return {"events": events, "stuck": stuck, **figures, **_counts(stack, inboxes, secrets, events)}


def _kill_sender_and_redis(stack: Stack, trap: _Trap, worker: Child) -> None:
    """While an answer is under way that nobody will record."""
    trap.caught.wait(60)
    stack.kill(worker)
    stack.redis.kill()
    trap.let_go.set()
    stack.redis.start()
    stack.io_worker()


def _counts(stack: Stack, inboxes: dict[str, Inbox], secrets: dict[str, str], events: int) -> Figures:
    struck = inboxes["struck"]
    return {
        "missing": events - sum(len(inbox.ids()) for inbox in inboxes.values()),
        "not_succeeded": events - _in_state(stack, "succeeded"),
        "lost_by_the_killed": int(len(struck.tries(struck.received[0].id)) < 2),
        "unverified": sum(_unverified(inboxes[name], secrets[name]) for name in NAMES),
        "stale_timestamps": sum(map(_stale, inboxes.values())),
        "tries_not_on_record": _unrecorded(stack, inboxes),
    }


def _replies(name: str, trap: _Trap) -> Callable[[Delivered], Reply] | None:
    """Three failures and then a success, but for the one that is well, and for the one that never answers."""
    replies = {
        "flaky": lambda request: Reply(status=500 if request.number <= FAILURES else 200),
        "hanging": lambda request: Reply(delay=60 if request.number == 1 else 0),
        "trickling": lambda request: Reply(trickle=0.3 if request.number == 1 else 0),
        "dead": lambda _: Reply(status=500),
        "struck": trap.reply,
    }
    return replies.get(name)


def _at_the_desk(stack: Stack, call: str) -> str:
    """The last line of what it printed."""
    printed = stack.run("shell", "-v0", "-c", f"from tests.faults import webhook_desk as desk; desk.{call}")
    return (printed.splitlines() or [""])[-1]


def _make_endpoints(stack: Stack, inboxes: dict[str, Inbox], counts: dict[str, int]) -> dict[str, str]:
    """With so many events for each; their secrets by name."""
    urls = {name: inbox.url for name, inbox in inboxes.items()}
    made: dict[str, str] = json.loads(_at_the_desk(stack, f"make({urls!r}, {counts!r})"))
    return made


def _wait_until_ended(stack: Stack, deliveries: int, *, seconds: float = 150.0) -> int:
    """How many are not, when the time is over."""
    query = f"SELECT count(*) FROM synth_webhookdelivery WHERE NOT ({OPEN})"
    comes_true(stack, lambda: number(stack, query) >= deliveries, seconds=seconds)
    return max(0, deliveries - number(stack, query))


def _in_state(stack: Stack, state: str) -> int:
    return number(stack, f"SELECT count(*) FROM synth_webhookdelivery WHERE state = '{state}'")


def _dead_letters(stack: Stack, inbox: Inbox, expected: int) -> Figures:
    """They are listed, and once their receiver lives again they all come, under their ids."""
    listed, before = _in_state(stack, "failed"), inbox.ids()
    inbox.reply = lambda _: Reply()
    told = json.loads(_at_the_desk(stack, "replay('dead', living='well')"))
    _wait_until_ended(stack, number(stack, "SELECT count(*) FROM synth_webhookdelivery"))
    return {
        "not_in_the_dead_letters": abs(expected - listed),
        "not_replayed": expected - told["replayed"],
        "replayed_under_another_id": len(inbox.ids() - before),
        "longest_wait_of_the_living": told["longest_wait"],
    }


def _unverified(inbox: Inbox, secret: str) -> int:
    unverified = 0
    for request in inbox.received:
        try:
            unverified += request.verified(secret)["id"] != request.id
        except WebhookVerificationError:
            unverified += 1
    return unverified


def _stale(inbox: Inbox) -> int:
    """Tries whose time is not after that of the try before, although more than a second lies between them."""
    tries = [inbox.tries(event_id) for event_id in inbox.ids()]
    pairs = [pair for of_one in tries for pair in itertools.pairwise(of_one)]
    return sum(later.at - earlier.at > 1 and later.timestamp <= earlier.timestamp for earlier, later in pairs)


def _unrecorded(stack: Stack, inboxes: dict[str, Inbox]) -> int:
    recorded = rows(stack, "SELECT count(*) FROM synth_deliveryattempt")[0][0]
    return abs(sum(len(inbox.received) for inbox in inboxes.values()) - int(recorded))


def _off_schedule(inbox: Inbox, pauses: list[float]) -> float:
    """By how much, as a share of it, the worst pause between two tries was not the ladder's."""
    tries = [inbox.tries(event_id) for event_id in inbox.ids()]
    off = [
        abs(of_one[place + 1].at - of_one[place].at - pause) / pause
        for of_one in tries
        for place, pause in enumerate(pauses[: len(of_one) - 1])
    ]
    return max(off, default=1.0)


ROW = Row(
    name="W1",
    title="webhook receivers that fail, hang and trickle; sender killed before it recorded; Redis killed",
    play=play,
    short={"events": 24, "pauses": [1.0, 1.5, 2.0], "timeout": 2.0},
    long={"events": 100, "pauses": [10.0, 15.0, 20.0], "timeout": 3.0},
    limits={
        "missing": 0,
        "stuck": 0,
        "lost_by_the_killed": 0,
        "not_succeeded": 0,
        "unverified": 0,
        "stale_timestamps": 0,
        "not_in_the_dead_letters": 0,
        "not_replayed": 0,
        "replayed_under_another_id": 0,
        "tries_not_on_record": 0,
    },
    long_limits={"off_schedule": 0.2, "longest_wait_of_the_living": 5},
)
