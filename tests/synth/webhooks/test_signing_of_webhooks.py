"""Secrets, signatures that the library of receivers verifies, and secrets sealed for the database."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from synth.webhooks.signing import Seal, SealedByAnotherKey, new_secret, signature

BODY = '{"type":"speech.succeeded","data":{"text":"朝ごはん"}}'.encode()
SEAL = Seal(["a secret text of this installation"])


def headers(secrets: list[str], moment: datetime, *, body: bytes = BODY, message: str = "evt_1") -> dict[str, str]:
    return {
        "webhook-id": message,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": signature(secrets, message, moment, body=body),
    }


def test_a_secret_is_thirty_two_random_bytes():
    first, second = new_secret(), new_secret()
    assert first.startswith("whsec_")
    assert len(base64.b64decode(first.removeprefix("whsec_"), validate=True)) == 32
    assert first != second


def test_the_receivers_library_verifies():
    secret = new_secret()
    assert Webhook(secret).verify(BODY, headers([secret], datetime.now(UTC))) == json.loads(BODY)


def test_each_secret_of_a_rotation_verifies():
    old, new = new_secret(), new_secret()
    sent = headers([new, old], datetime.now(UTC))
    assert len(sent["webhook-signature"].split(" ")) == 2
    for secret in (old, new):
        Webhook(secret).verify(BODY, sent)
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret()).verify(BODY, sent)


def test_a_moment_of_any_zone_is_signed_as_the_same():
    secret, moment = new_secret(), datetime.now(UTC)
    elsewhere = moment.astimezone(timezone(timedelta(hours=9)))
    assert signature([secret], "evt_1", moment, body=BODY) == signature([secret], "evt_1", elsewhere, body=BODY)
    Webhook(secret).verify(BODY, headers([secret], elsewhere))


@pytest.mark.parametrize(
    "change",
    [
        lambda body, sent: (body.replace(b"succeeded", b"failed"), sent),
        lambda body, sent: (body, {**sent, "webhook-id": "evt_2"}),
        lambda body, sent: (body, {**sent, "webhook-timestamp": str(int(sent["webhook-timestamp"]) + 1)}),
        lambda body, sent: (body, {**sent, "webhook-signature": sent["webhook-signature"].replace("v1,", "v2,")}),
    ],
)
def test_what_was_altered_is_refused(change):
    secret = new_secret()
    body, sent = change(BODY, headers([secret], datetime.now(UTC)))
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, sent)


def test_an_old_one_is_refused():
    secret = new_secret()
    with pytest.raises(WebhookVerificationError, match="too old"):
        Webhook(secret).verify(BODY, headers([secret], datetime.now(UTC) - timedelta(minutes=6)))


@settings(deadline=None)
@given(st.text())
def test_what_is_sealed_opens_again(secret):
    sealed = SEAL.seal(secret)
    assert SEAL.open(sealed) == secret
    assert sealed.isascii()
    assert len(secret) < 6 or secret not in sealed


def test_sealing_twice_does_not_show_that_it_is_the_same():
    assert SEAL.seal("whsec_x") != SEAL.seal("whsec_x")


def test_what_the_key_before_sealed_still_opens():
    before, after = Seal(["old key text"]), Seal(["new key text", "old key text"])
    assert after.open(before.seal("whsec_x")) == "whsec_x"
    with pytest.raises(SealedByAnotherKey):
        before.open(after.seal("whsec_x"))


@pytest.mark.parametrize(
    "alter",
    [lambda _: "", lambda _: "whsec_x", lambda _: "é", lambda sealed: sealed[:-5] + "AAAA=", lambda sealed: sealed[1:]],
    ids=["nothing", "plain", "not ascii", "another end", "another beginning"],
)
def test_what_was_altered_does_not_open(alter):
    with pytest.raises(SealedByAnotherKey):
        SEAL.open(alter(SEAL.seal("whsec_x")))
