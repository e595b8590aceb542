"""Row A1 of the scoreboard: whatever is sent, an answer is one that the OpenAPI document describes, and never a 5xx.

Schemathesis draws the requests from the document, valid ones and broken ones. A short form here; `make test-schema`
draws SCHEMA_EXAMPLES for each operation and mode.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as drawn_by
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from synth.models import ClonedVoice, CurationAction, LexiconWord
from tests.api.caller import Caller
from tests.api.test_openapi import OPERATIONS
from tests.deliveries import deliver
from tests.finished import finish
from ttsproject.wsgi import application

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

EXAMPLES = int(os.environ.get("SCHEMA_EXAMPLES", "3"))
load_all_checks()
HELD = [
    CHECKS.get_one(name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    )
]


@pytest.fixture
def ids(owner: Caller) -> dict[str, str]:
    """Of what there is, so that not every request ends at a 404."""
    tenant = owner.member.tenant
    voice = ClonedVoice.objects.create(
        tenant=tenant, name="anna", engine="counting", language="en", state="succeeded", upload="gone", upload_size=1,
        fingerprint="ref:anna", consent_when=timezone.now().date(),
    )  # fmt: skip
    action = CurationAction.objects.create(kind="purge", tenant=tenant, state="succeeded")
    batch = CurationAction.objects.create(kind="batch", tenant=tenant, state="succeeded", matched=1, metadata={})
    word = LexiconWord.objects.create(tenant=tenant, text="SQL", kind="alias", value="sequel")
    delivery = deliver(owner.member, state="failed")
    return {
        "speech_id": finish(owner.member, {"text": "Hello."}).job.public_id,
        "batch_id": batch.public_id,
        "action_id": action.public_id,
        "voice_id": voice.public_id,
        "word_id": word.public_id,
        "webhook_id": delivery.endpoint.public_id,
        "delivery_id": delivery.public_id,
    }


@pytest.fixture(autouse=True)
def _connection_stays_open(settings: Any) -> Iterator[None]:
    """As with Django's own test client: no request closes the connection that the test's transaction is on.

    One that waits for its speech would, so there is no seat to wait in.
    """
    settings.REFRAIN = {**settings.REFRAIN, "MAX_WAITERS": 0}
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = Client().get("/v1/openapi.json").json()
    return found


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["valid", "broken"])
@pytest.mark.parametrize("where", sorted(OPERATIONS), ids=" ".join)
def test_every_answer_is_as_the_document_says(
    where: tuple[str, str], mode: GenerationMode, owner: Caller, ids: dict[str, str], document: dict[str, Any]
) -> None:
    schema = schemathesis.openapi.from_dict(document)
    schema.app = application
    path, method = where
    operation = schema[path][method.upper()]

    @given(case=operation.as_strategy(generation_mode=mode), known=st.booleans())
    @drawn_by(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=EXAMPLES < 10,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def holds(case: Any, known: bool) -> None:
        if known:
            case.path_parameters.update({name: ids[name] for name in case.path_parameters if name in ids})
        case.call_and_validate(headers=owner.member.headers, checks=HELD)

    holds()
