"""What is secret stays out of every process' log: keys, passwords, codes, secrets of webhooks, right and wrong ones."""

from __future__ import annotations

import re

import httpx
import pytest
from django.urls import reverse

from tenants import keys
from tests.servers.inbox import Inbox, Reply
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.any_database]

PASSWORD = "a long password that no log may hold"
WRONG = "another one that somebody mistyped"
CODE = "924417"
SECRET_KEY = "the secret key of this platform, fifty characters and more"


def log_in(client: httpx.Client, password: str) -> int:
    address = reverse("admin:login")
    client.get(address)
    form = {"username": "root", "password": password, "otp_token": CODE}
    form |= {"csrfmiddlewaretoken": client.cookies["csrftoken"], "next": reverse("admin:index")}
    return client.post(address, data=form, headers={"Referer": str(client.base_url)}).status_code


def make_user(stack: Stack) -> None:
    made = f"User.objects.create_superuser('root', password='{PASSWORD}')"
    stack.run("shell", "--command", f"from django.contrib.auth.models import User; {made}")


def test_nothing_secret_is_written(make_stack) -> None:
    minted = keys.mint(keys.Kind.LIVE, {1: "never stored"}).token
    with Inbox(lambda _: Reply(status=500)) as inbox:
        stack = make_stack(env={
            "REFRAIN_SECRET_KEY_FALLBACKS": SECRET_KEY,
            "REFRAIN_WEBHOOK_HTTP": "yes",
            "REFRAIN_WEBHOOK_NETWORKS": "127.0.0.0/8",
            "REFRAIN_WEBHOOK_PORTS": str(inbox.port),
        })  # fmt: skip
        stack.api()
        stack.engine_worker()
        stack.io_worker()
        stack.beat()
        make_user(stack)
        stack.wait_for_engines()
        with stack.client() as client:
            endpoint = client.post("/v1/webhooks", json={"url": inbox.url}).json()
            secret = endpoint["secret"]
            assert client.post(f"/v1/webhooks/{endpoint['id']}/test").status_code == 202
            assert client.post("/v1/speech", json={"text": "Hello there."}).status_code == 200
            assert client.post("/v1/speech", json={"text": ["no text"]}).status_code == 422
            assert client.post("/v1/speech", content=b"{").status_code == 400
        for token in (minted, f"{stack.seeded.owner}x", "garbage"):
            with stack.client(token=token) as client:
                assert client.get("/v1/speech").status_code == 401
        url = stack.children[0].url
        with httpx.Client(base_url=url, trust_env=False) as client:
            assert [log_in(client, WRONG) for _number in range(5)][-1] == 429
        with httpx.Client(base_url=url, trust_env=False, headers={"User-Agent": "another"}) as client:
            assert log_in(client, PASSWORD) == 429
        stack.wait_until(lambda: inbox.received, seconds=60, what="a webhook")
        written = "\n".join(child.output() for child in stack.children)
        signatures = [each.headers["webhook-signature"].partition(",")[2] for each in inbox.received]
    secrets = [stack.seeded.owner, minted, secret, PASSWORD, WRONG, CODE, SECRET_KEY, *signatures]
    secrets += [token.rsplit("_", 1)[1] for token in (stack.seeded.owner, minted)]  # nor the part that counts
    assert [item for item in secrets if item in written] == []
    assert re.search(r"INFO|WARNING", written)  # it does write
