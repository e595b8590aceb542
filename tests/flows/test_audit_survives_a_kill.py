"""Whatever was answered is in the audit, though the process that answered is killed under load: by real parts."""

import contextlib
import json
import threading
import time

import httpx
import pytest

from tests.stack import Stack

pytestmark = pytest.mark.stack

ASKERS = 6
SECONDS = 3.0
TEXTS = ("Hello there.", "Good morning.")
TOLD = """
import json
from tenants.models import AuditEvent
print(json.dumps(dict(AuditEvent.objects.values_list("request_id", "status"))))
"""


class Askers:
    """Ask for hits, work, reads and refusals until there is no answer; keep the id and the status of each answer."""

    def __init__(self, stack: Stack) -> None:
        self.answered: dict[str, int] = {}
        self._stack = stack
        self._threads = [threading.Thread(target=self._ask, args=[number]) for number in range(ASKERS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(60)

    def _ask(self, number: int) -> None:
        with self._stack.client() as client, contextlib.suppress(httpx.HTTPError):
            for turn in range(100_000):
                self._note(client.post("/v1/speech", json={"text": TEXTS[turn % 2]}))
                self._note(client.get("/v1/voices" if turn % 2 else f"/v1/speech/job_{number:032x}"))
                if turn % 5 == 0:
                    self._note(client.post("/v1/speech", json={"text": f"New {number} {turn}.", "wait": 0}))

    def _note(self, answer: httpx.Response) -> None:
        self.answered[answer.headers["X-Request-Id"]] = answer.status_code


def test_an_api_process_is_killed_under_load(stack: Stack) -> None:
    (api,) = stack.api()
    stack.engine_worker()
    stack.io_worker()
    stack.wait_for_engines()
    with stack.client() as client:
        for text in TEXTS:
            assert client.post("/v1/speech", json={"text": text}).status_code == 200
    askers = Askers(stack)
    askers.start()
    time.sleep(SECONDS)
    stack.kill(api)
    askers.join()
    assert len(askers.answered) > 30
    stack.beat()

    def told() -> bool:
        found = json.loads(stack.run("shell", "--verbosity", "0", "--command", TOLD).splitlines()[-1])
        return all(found.get(name) == status for name, status in askers.answered.items())

    stack.wait_until(told, seconds=60, what=f"{len(askers.answered)} requests in the audit")
    assert "sound" in stack.run("verify_audit")
