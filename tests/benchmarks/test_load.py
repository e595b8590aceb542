"""The loads of the benchmarks: a closed loop has so many requests at a time, an open one waits for nobody."""

from __future__ import annotations

import subprocess
import sys
import threading

from benchmarks.load import Answer, closed_loop, open_loop, quantile
from benchmarks.processes import session_cpu

BUSY = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"


def test_a_closed_loop_keeps_order_and_its_number_of_clients() -> None:
    at_once, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(4)

    def send(item: int) -> int:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        together.wait(30)
        with lock:
            at_once -= 1
        return item * item

    assert closed_loop(send, range(40), clients=4) == [item * item for item in range(40)]
    assert most == 4


def test_an_open_loop_sends_while_the_first_is_still_unanswered_and_counts_from_the_due_time() -> None:
    last = threading.Event()

    def send(item: int) -> Answer:
        if item == 2:
            last.set()
        assert last.wait(30)
        return Answer(200, {"item": item}, 0.0)

    answers = open_loop(send, [0, 1, 2], [0.0, 0.0, 0.3], clients=3)
    assert [answer.body["item"] for answer in answers] == [0, 1, 2]
    assert answers[0].seconds > 0.25


def test_a_quantile_is_one_of_the_values() -> None:
    answers = [Answer(200, {}, float(number)) for number in range(1, 101)]
    assert (quantile(answers, 0.5), quantile(answers, 0.95), quantile(answers, 1.0)) == (51.0, 96.0, 100.0)


def test_the_cpu_of_a_session_counts_its_child() -> None:
    command = [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        assert session_cpu(process.pid) >= 0.28
        process.stdin.close()
    assert session_cpu(process.pid) == 0
