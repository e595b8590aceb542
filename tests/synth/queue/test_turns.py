"""Few requests of a process compute at a time, the first come first; whoever waits lets others."""

from __future__ import annotations

import threading

from synth.queue.turns import Turns

PATIENCE = 30.0


def turns_for(at_once: int, *, patience: float = PATIENCE) -> Turns:
    return Turns(at_once, patience=patience, deference=patience)


def in_a_thread(call) -> threading.Thread:
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    return thread


def test_no_more_than_so_many_have_a_turn_at_once() -> None:
    turns, lock, present, most = turns_for(3), threading.Lock(), set(), []
    barrier = threading.Barrier(20)

    def visit() -> None:
        barrier.wait(PATIENCE)
        for _ in range(20):
            with turns.taken():
                with lock:
                    present.add(threading.get_ident())
                    most.append(len(present))
                with lock:
                    present.discard(threading.get_ident())

    threads = [in_a_thread(visit) for _ in range(20)]
    for thread in threads:
        thread.join(PATIENCE)
    assert len(most) == 400
    assert max(most) <= 3


def test_whoever_waits_gives_its_turn_up_and_takes_one_again() -> None:
    turns, waits, may_end, other_had_it = (
        turns_for(1),
        *(threading.Event() for _ in range(3)),
    )

    def wait() -> None:
        with turns.taken(), turns.given_up():
            waits.set()
            may_end.wait(PATIENCE)

    def other() -> None:
        with turns.taken():
            other_had_it.set()

    first = in_a_thread(wait)
    assert waits.wait(PATIENCE)
    in_a_thread(other).join(PATIENCE)
    assert other_had_it.is_set()
    may_end.set()
    first.join(PATIENCE)
    assert not first.is_alive()
    in_a_thread(other).join(PATIENCE)
    assert turns._free.acquire(blocking=False), "every turn was given back"


def test_a_request_that_gets_no_turn_goes_on_without() -> None:
    turns, has_it, may_end = turns_for(1, patience=0.01), threading.Event(), threading.Event()

    def hang() -> None:
        with turns.taken():
            has_it.set()
            may_end.wait(PATIENCE)

    hanging = in_a_thread(hang)
    assert has_it.wait(PATIENCE)
    with turns.taken(), turns.given_up():
        pass
    may_end.set()
    hanging.join(PATIENCE)
    assert turns._free.acquire(blocking=False), "who had none gave none back"
    assert not turns._free.acquire(blocking=False)


def test_of_equal_requests_the_first_goes_ahead_until_it_has_ended() -> None:
    turns, seen = turns_for(8), []
    ahead, may_end = threading.Event(), threading.Event()

    def first() -> None:
        with turns.taken(b"a"):
            ahead.set()
            with turns.given_up():
                assert may_end.wait(PATIENCE)
            seen.append("first")

    def follow(name: bytes) -> None:
        with turns.taken(name):
            seen.append(name)

    leader = in_a_thread(first)
    assert ahead.wait(PATIENCE)
    followers = [in_a_thread(lambda: follow(b"a")) for _ in range(5)]
    in_a_thread(lambda: follow(b"b")).join(PATIENCE)
    assert seen == [b"b"], "what is asked by another request does not wait"
    may_end.set()
    for thread in (leader, *followers):
        thread.join(PATIENCE)
    assert seen == [b"b", "first", *[b"a"] * 5]
    assert turns._ahead == {}


def test_nobody_follows_one_that_hangs_for_long() -> None:
    turns, has_it, may_end = turns_for(8, patience=0.01), threading.Event(), threading.Event()

    def hang() -> None:
        with turns.taken(b"a"):
            has_it.set()
            may_end.wait(PATIENCE)

    hanging = in_a_thread(hang)
    assert has_it.wait(PATIENCE)
    with turns.taken(b"a"):
        pass
    may_end.set()
    hanging.join(PATIENCE)
    assert turns._ahead == {}


def test_a_wait_outside_of_a_turn_is_only_a_wait() -> None:
    turns = turns_for(1, patience=0.01)
    with turns.given_up():
        pass
    assert turns._free.acquire(blocking=False)
    assert not turns._free.acquire(blocking=False)
