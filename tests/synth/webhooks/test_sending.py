"""The sender against real receivers: what is sent, what is kept of the answer, and every way in which none comes."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from ipaddress import ip_address, ip_network

import pytest

from synth.webhooks.addresses import Address, Policy
from synth.webhooks.http import Answer, NotSent, Sender
from synth.webhooks.names import LookUp
from tests.servers.ports import free_port
from tests.servers.receiver import OK, Behaviour, Receiver, answers, drips, hangs, wait_until

LOOPBACK = (ip_network("127.0.0.0/8"),)
WAIT = 60  # seconds at most for what should take none


def named(*addresses: str) -> LookUp:
    def look_up(_host: str, _port: int) -> list[Address]:
        return [ip_address(address) for address in addresses]

    return look_up


@contextmanager
def sender(*ports: int, timeout: float = 30.0, look_up: LookUp | None = None) -> Iterator[Sender]:
    policy = Policy(False, frozenset(ports), LOOPBACK)
    with Sender(policy, timeout, look_up=look_up or named("127.0.0.1")) as opened:
        yield opened


def sent(behaviour: Behaviour, *, timeout: float = 30.0) -> Answer:
    with Receiver(behaviour) as receiver, sender(receiver.port, timeout=timeout) as opened:
        return opened.start(f"http://127.0.0.1:{receiver.port}/", {}, b"{}").result(WAIT)


def failed(behaviour: Behaviour, *, timeout: float = 30.0) -> NotSent:
    with pytest.raises(NotSent) as failure:
        sent(behaviour, timeout=timeout)
    return failure.value


def head(*lines: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


def test_the_request_is_the_callers_and_the_host_is_the_urls():
    with Receiver() as receiver, sender(receiver.port) as opened:
        url = f"http://Hooks.example.com:{receiver.port}/in?tenant=7"
        given = {"Webhook-Id": "evt_1", "Content-Type": "application/json", "Host": "elsewhere.example"}
        answer = opened.start(url, given, '{"a":"é"}'.encode()).result(WAIT)
    [visit] = receiver.visits
    assert visit.line == "POST /in?tenant=7 HTTP/1.1"
    assert visit.body == '{"a":"é"}'.encode()
    assert visit.headers["host"] == f"hooks.example.com:{receiver.port}"
    assert visit.head.lower().count("\nhost:") == 1
    assert visit.headers["webhook-id"] == "evt_1"
    assert visit.headers["user-agent"].startswith("Refrain-Webhooks/")
    assert visit.headers["content-length"] == "10"
    assert (answer.status, answer.body, answer.retry_after) == (200, "ok", None)
    assert answer.seconds > 0


@pytest.mark.parametrize("status", [204, 301, 307, 400, 410, 429, 500, 503])
def test_every_status_is_an_answer(status):
    assert sent(answers(head("Content-Length: 0", status=f"{status} So"))).status == status


def test_a_redirect_is_not_followed():
    with Receiver() as target:
        answer = sent(answers(head(f"Location: http://127.0.0.1:{target.port}/", "Content-Length: 0", status="307 So")))
        assert answer.status == 307
        assert target.accepted == 0


def test_no_proxy_of_the_environment_is_asked(monkeypatch):
    with Receiver() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert sent(answers()).status == 200
        assert proxy.accepted == 0


def test_one_kilobyte_of_the_answer_is_kept_and_the_rest_not_waited_for():
    endless = head("Transfer-Encoding: chunked") + b"800\r\n" + b"a" * 2048 + b"\r\n"

    def behave(visit):
        visit.send(endless)
        hangs(visit)

    assert sent(behave).body == "a" * 1024


def test_an_answer_that_is_no_text_is_kept_as_text_without_nuls():
    assert sent(answers(head("Content-Length: 6") + b"a\0b\xff\xe9\0")).body == "ab\ufffd\ufffd"


def test_a_compressed_answer_is_not_unpacked():
    answer = sent(answers(head("Content-Encoding: gzip", "Content-Length: 4") + b"\x1f\x8b\x08\x00"))
    assert answer.status == 200


@pytest.mark.parametrize(
    ("value", "expected"),
    [("120", 120.0), ("0", 0.0), (" 7 ", 7.0), ("-5", None), ("soon", None), ("1.5", None), ("²", None),
     ("9" * 400, float("inf")), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
     ("1 Jan 2030 99999999999999999999:00 GMT", None)],
)  # fmt: skip
def test_retry_after_is_read(value, expected):
    answered = head(f"Retry-After: {value}", "Content-Length: 0", status="503 So").decode().encode("latin-1")
    assert sent(answers(answered)).retry_after == expected


def test_retry_after_may_be_a_date():
    moment = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    wished = sent(answers(head(f"retry-after: {moment}", "Content-Length: 0", status="429 So"))).retry_after
    assert wished == pytest.approx(3600, abs=120)


@pytest.mark.parametrize(
    "behaviour",
    [hangs, drips(b""), drips(b"HTTP/1.1 200 OK\r\nX-Slow: "), drips(head("Content-Length: 5000"))],
    ids=["no answer", "dripping status", "dripping header", "dripping body"],
)
def test_one_deadline_holds_over_all_of_the_answer(behaviour):
    began = time.monotonic()
    failure = failed(behaviour, timeout=1.0)
    assert failure.code == "timed_out"
    assert "1 second" in failure.detail
    assert 1.0 <= failure.seconds <= time.monotonic() - began


@pytest.mark.parametrize(
    "data",
    [b"", b"hello\r\n\r\n", b"HTTP/1.1 twohundred OK\r\n\r\n", head("Content-Length: 50") + b"cut",
     head("X: " + "y" * 200_000)],
    ids=["nothing", "no HTTP", "no status", "cut body", "endless header"],
)  # fmt: skip
def test_an_answer_that_is_none(data):
    assert failed(answers(data)).code == "bad_answer"


def test_nobody_listens():
    port = free_port()
    with sender(port) as opened, pytest.raises(NotSent) as failure:
        opened.start(f"http://127.0.0.1:{port}/", {}, b"").result(WAIT)
    assert failure.value.code == "connect_failed"


def test_a_name_without_an_address():
    def look_up(_host: str, _port: int) -> list[Address]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    for lookup in (look_up, named()):
        with sender(80, look_up=lookup) as opened, pytest.raises(NotSent) as failure:
            opened.start("http://nowhere.example/", {}, b"").result(WAIT)
        assert failure.value.code == "dns_failed"


def test_a_forbidden_url_says_why_and_not_what_a_name_stands_for():
    with sender(80, look_up=named("10.1.2.3")) as opened:
        for url in ("http://10.1.2.3/", "http://inner.example/", "ftp://hooks.example.com/"):
            with pytest.raises(NotSent) as failure:
                opened.start(url, {}, b"").result(WAIT)
            assert failure.value.code == "address_forbidden"
            assert "10.1.2.3" not in failure.value.detail


def test_the_next_address_of_a_name_is_tried_when_the_first_is_dead():
    look_up = named("127.0.0.3", "127.0.0.2")
    with Receiver(host="127.0.0.2") as receiver, sender(receiver.port, look_up=look_up) as opened:
        answer = opened.start(f"http://two.example:{receiver.port}/", {}, b"").result(WAIT)
    assert answer.status == 200
    assert receiver.visits[0].headers["host"] == f"two.example:{receiver.port}"


def test_a_name_is_looked_up_once_for_each_sending():
    asked: list[str] = []

    def look_up(host: str, _port: int) -> list[Address]:
        asked.append(host)
        return [ip_address("127.0.0.1")]

    with Receiver() as receiver, sender(receiver.port, look_up=look_up) as opened:
        for _ in range(2):
            opened.start(f"http://hooks.example.com:{receiver.port}/", {}, b"").result(WAIT)
    assert asked == ["hooks.example.com"] * 2
    assert receiver.accepted == 2


def test_a_hundred_hanging_look_ups_hold_nobody_up():
    released = threading.Event()

    def look_up(host: str, _port: int) -> list[Address]:
        if host.startswith("hanging"):
            released.wait(WAIT)
        return [ip_address("127.0.0.1")]

    with Receiver() as receiver, sender(receiver.port, timeout=WAIT, look_up=look_up) as opened:
        url = "http://{host}.example:{port}/"
        hanging = [opened.start(url.format(host=f"hanging{n}", port=receiver.port), {}, b"") for n in range(100)]
        living = opened.start(url.format(host="living", port=receiver.port), {}, b"")
        assert living.result(WAIT).status == 200
        assert not any(future.done() for future in hanging)
        released.set()
        assert {future.result(WAIT).status for future in hanging} == {200}


def test_a_hanging_look_up_ends_at_the_deadline():
    released = threading.Event()
    with sender(80, timeout=0.5, look_up=lambda *_: released.wait(WAIT) and []) as opened:
        with pytest.raises(NotSent) as failure:
            opened.start("http://hanging.example/", {}, b"").result(WAIT)
        assert not released.is_set()
    released.set()
    assert failure.value.code == "timed_out"


HANGING_PROCESS = """
import threading
from synth.webhooks.addresses import Policy
from synth.webhooks.http import NotSent, Sender

with Sender(Policy(False, frozenset([80]), ()), 0.5, look_up=lambda *_: threading.Event().wait()) as sender:
    try:
        sender.start("http://hanging.example.com/", {}, b"").result()
    except NotSent as error:
        print(error.code)
"""


def test_a_hanging_look_up_does_not_keep_its_process():
    command = [sys.executable, "-c", HANGING_PROCESS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False)
    assert (done.returncode, done.stdout) == (0, "timed_out\n"), done.stderr


def test_many_are_under_way_at_once():
    together = threading.Barrier(40, timeout=WAIT)

    def behave(visit):
        together.wait()
        visit.send(OK)

    with Receiver(behave) as receiver, sender(receiver.port, timeout=WAIT) as opened:
        futures = [opened.start(f"http://127.0.0.1:{receiver.port}/", {}, b"") for _ in range(40)]
        assert {future.result(WAIT).status for future in futures} == {200}


def test_what_is_under_way_at_the_end_is_cancelled_and_its_connection_closed():
    closed = threading.Event()

    def behave(visit):
        if visit.connection.recv(1) == b"":
            closed.set()

    with Receiver(behave) as receiver:
        with sender(receiver.port, timeout=WAIT) as opened:
            future = opened.start(f"http://127.0.0.1:{receiver.port}/", {}, b"")
            assert wait_until(lambda: bool(receiver.visits))
        assert future.cancelled()
        assert closed.wait(WAIT)


def test_a_future_that_is_cancelled_frees_its_connection():
    closed = threading.Event()

    def behave(visit):
        if visit.connection.recv(1) == b"":
            closed.set()

    with Receiver(behave) as receiver, sender(receiver.port, timeout=WAIT) as opened:
        future = opened.start(f"http://127.0.0.1:{receiver.port}/", {}, b"")
        assert wait_until(lambda: bool(receiver.visits))
        assert future.cancel()
        assert closed.wait(WAIT)


def test_a_sender_leaves_no_thread_and_no_connection():
    before = threading.active_count()
    with Receiver(hangs) as receiver, sender(receiver.port, timeout=0.3) as opened:
        for _ in range(5):
            with pytest.raises(NotSent):
                opened.start(f"http://127.0.0.1:{receiver.port}/", {}, b"").result(WAIT)
    assert wait_until(lambda: threading.active_count() <= before)
