"""Whose process dies in the midst of a batch keeps nobody else from going on for long."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from synth import service
from synth.models import CurationAction, IdempotentRequest
from synth.models.clock import database_now
from synth.service import idempotency
from synth.service.batches.items import ItemReader
from tests.synth.batches.conftest import Sender

pytestmark = pytest.mark.django_db

BODY = json.dumps({"items": [{"text": f"Item {at}."} for at in range(3)]}).encode()


def leases_while_it_is_stored(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> list[timedelta]:
    """How long nobody else may store it: as an upload with a key was taken, and at each of its items."""
    found: list[timedelta] = []
    read = ItemReader.read

    def look(self: Any, item: Any) -> Any:
        found.append(IdempotentRequest.objects.get().lease_until - database_now())
        IdempotentRequest.objects.update(lease_until=database_now())
        return read(self, item)

    monkeypatch.setattr(ItemReader, "read", look)
    assert sender.upload(BODY, **{"Idempotency-Key": "one"}).status_code == 202
    return found


def test_a_batch_that_is_being_stored_is_held_for_seconds_again_and_again(
    owner: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "HOLD_EVERY", 0.0)
    leases = leases_while_it_is_stored(owner, monkeypatch)
    assert len(leases) == 3
    assert all(timedelta(seconds=20) < lease <= idempotency.GRACE for lease in leases)


def test_a_worker_that_died_holds_a_batch_for_a_lease_and_no_longer(
    owner: Sender, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "LEASE": 3.0}
    owner.send({"text": "One item."})
    held: list[datetime] = []

    def die(action: CurationAction) -> None:
        held.append(CurationAction.objects.get(id=action.id).lease_until or database_now())
        raise SystemExit

    monkeypatch.setattr("synth.service.curation.make_portion", die)
    with pytest.raises(SystemExit):
        service.drain_actions()
    assert timedelta() < held[0] - database_now() <= timedelta(seconds=5)
