"""The OpenAPI document is whole and true to the API, and its page needs nothing from elsewhere."""

import re
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from synth.models import EventType
from synth.service.webhooks.payloads import API_VERSION
from synth.spec import FIELDS

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

OPERATIONS = {
    ("/v1/speech", "get"): "listSpeech",
    ("/v1/speech", "post"): "speak",
    ("/v1/speech/{speech_id}", "get"): "getSpeech",
    ("/v1/speech/{speech_id}", "delete"): "cancelSpeech",
    ("/v1/speech/{speech_id}/audio", "get"): "getSpeechAudio",
    ("/v1/batches", "get"): "listBatches",
    ("/v1/batches", "post"): "createBatch",
    ("/v1/batches/{batch_id}", "get"): "getBatch",
    ("/v1/batches/{batch_id}", "delete"): "deleteBatch",
    ("/v1/batches/{batch_id}/cancel", "post"): "cancelBatch",
    ("/v1/batches/{batch_id}/items", "get"): "listBatchItems",
    ("/v1/batches/{batch_id}/manifest", "get"): "getBatchManifest",
    ("/v1/batches/{batch_id}/audio.zip", "get"): "getBatchAudio",
    ("/v1/cache/entries", "get"): "listCacheEntries",
    ("/v1/cache/purges", "post"): "purge",
    ("/v1/cache/refreshes", "post"): "refresh",
    ("/v1/cache/pins", "post"): "pin",
    ("/v1/cache/unpins", "post"): "unpin",
    ("/v1/cache/warmings", "post"): "warm",
    ("/v1/cache/actions", "get"): "listCacheActions",
    ("/v1/cache/actions/{action_id}", "get"): "getCacheAction",
    ("/v1/cache/actions/{action_id}", "delete"): "cancelCacheAction",
    ("/v1/cache/actions/{action_id}/failures", "get"): "listCacheActionFailures",
    ("/v1/cache/misses", "get"): "getMisses",
    ("/v1/cache/misses/examples", "get"): "listMissExamples",
    ("/v1/voices", "get"): "listVoices",
    ("/v1/voices", "post"): "createVoice",
    ("/v1/voices/{voice_id}", "get"): "getVoice",
    ("/v1/voices/{voice_id}", "delete"): "deleteVoice",
    ("/v1/engines", "get"): "listEngines",
    ("/v1/encryption-keys", "get"): "listEncryptionKeys",
    ("/v1/encryption-keys", "post"): "registerEncryptionKey",
    ("/v1/encryption-keys/{key_id}", "delete"): "forgetEncryptionKey",
    ("/v1/lexicon", "get"): "listWords",
    ("/v1/lexicon", "post"): "saveWord",
    ("/v1/lexicon/{word_id}", "delete"): "deleteWord",
    ("/v1/webhooks", "get"): "listWebhooks",
    ("/v1/webhooks", "post"): "createWebhook",
    ("/v1/webhooks/{webhook_id}", "get"): "getWebhook",
    ("/v1/webhooks/{webhook_id}", "patch"): "changeWebhook",
    ("/v1/webhooks/{webhook_id}", "delete"): "deleteWebhook",
    ("/v1/webhooks/{webhook_id}/rotate", "post"): "rotateWebhookSecret",
    ("/v1/webhooks/{webhook_id}/disable", "post"): "disableWebhook",
    ("/v1/webhooks/{webhook_id}/enable", "post"): "enableWebhook",
    ("/v1/webhooks/{webhook_id}/test", "post"): "testWebhook",
    ("/v1/webhooks/{webhook_id}/replay", "post"): "replayWebhook",
    ("/v1/webhooks/{webhook_id}/deliveries", "get"): "listWebhookDeliveries",
    ("/v1/webhooks/{webhook_id}/deliveries/{delivery_id}", "get"): "getWebhookDelivery",
    ("/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay", "post"): "replayWebhookDelivery",
    ("/v1/policies", "get"): "listPolicies",
    ("/v1/policies", "post"): "createPolicy",
    ("/v1/policies/{policy_id}", "get"): "getPolicy",
    ("/v1/policies/{policy_id}", "put"): "replacePolicy",
    ("/v1/policies/{policy_id}", "delete"): "deletePolicy",
    ("/v1/tenant", "get"): "getTenant",
    ("/v1/keys", "get"): "listKeys",
    ("/v1/keys", "post"): "createKey",
    ("/v1/keys/{key_id}", "get"): "getKey",
    ("/v1/keys/{key_id}", "patch"): "changeKey",
    ("/v1/keys/{key_id}", "delete"): "revokeKey",
    ("/v1/usage", "get"): "listUsage",
    ("/v1/usage/days", "get"): "getUsageByDay",
    ("/v1/usage/quotas", "get"): "getQuotas",
    ("/v1/usage/totals", "get"): "listUsageTotals",
    ("/v1/audit", "get"): "listAudit",
    ("/v1/audit/export", "get"): "exportAudit",
    ("/v1/savings", "get"): "getSavings",
}


IDEMPOTENT = {
    "speak",
    "purge",
    "refresh",
    "pin",
    "unpin",
    "warm",
    "createVoice",
    "saveWord",
    "createBatch",
    "createPolicy",
    "registerEncryptionKey",
}
TAKES_THE_OWN_KEY = {"speak", "getSpeech", "getSpeechAudio", "createVoice", "getVoice"}


@pytest.fixture
def document() -> dict[str, Any]:
    response = Client().get("/v1/openapi.json")
    assert response.status_code == 200
    assert "json" in response["Content-Type"]
    body: dict[str, Any] = response.json()
    return body


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(path, method): told for path, methods in document["paths"].items() for method, told in methods.items()}


def test_it_is_made_without_a_warning(tmp_path: Any) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "openapi.yaml"))


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/vnd.oai.openapi+json"])
def test_it_is_json_for_everyone_without_a_key(accept: str) -> None:
    assert Client().get("/v1/openapi.json", headers={"Accept": accept}).json()["openapi"].startswith("3.")


def test_it_holds_every_operation(document: dict[str, Any]) -> None:
    assert {where: told["operationId"] for where, told in operations(document).items()} == OPERATIONS


def test_every_operation_needs_a_bearer_key(document: dict[str, Any]) -> None:
    ((name, scheme),) = document["components"]["securitySchemes"].items()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert all(told["security"] == [{name: []}] for told in operations(document).values())


def test_a_request_has_the_fields_that_are_read(document: dict[str, Any]) -> None:
    assert set(document["components"]["schemas"]["SpeechRequest"]["properties"]) == FIELDS


def test_every_list_has_the_parameters_of_its_pages(document: dict[str, Any]) -> None:
    listed = 0
    for told in operations(document).values():
        kind = str(told["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema"))
        named = {parameter["name"] for parameter in told.get("parameters", []) if parameter["in"] == "query"}
        assert ("Paginated" in kind) is ("limit" in named) is bool({"cursor", "offset"} & named), told["operationId"]
        listed += "limit" in named
    assert listed >= 12


def test_it_says_which_operations_take_an_idempotency_key(document: dict[str, Any]) -> None:
    for told in operations(document).values():
        named = {parameter["name"] for parameter in told.get("parameters", []) if parameter["in"] == "header"}
        assert ("Refrain-Encryption-Key" in named) == (told["operationId"] in TAKES_THE_OWN_KEY)
        named -= {"Refrain-Encryption-Key"}
        assert named == ({"Idempotency-Key"} if told["operationId"] in IDEMPOTENT else set())
        if named:
            assert {"400", "409", "422"} <= set(told["responses"])
            done = [told["responses"][status] for status in ("200", "201", "202") if status in told["responses"]]
            assert all("Idempotency-Replayed" in answer["headers"] for answer in done)


def test_every_refusal_is_described_as_problem_json(document: dict[str, Any]) -> None:
    for told in operations(document).values():
        refusals = {status: answer for status, answer in told["responses"].items() if status >= "400"}
        assert {"401", "403"} <= set(refusals)
        for answer in refusals.values():
            assert set(answer["content"]) == {"application/problem+json"}


def test_every_type_of_event_has_its_payload(document: dict[str, Any]) -> None:
    assert set(document["webhooks"]) == set(EventType.values)
    schemas = document["components"]["schemas"]
    for kind, told in document["webhooks"].items():
        content = told["post"]["requestBody"]["content"]["application/json"]
        payload = schemas[content["schema"]["$ref"].rpartition("/")[2]]["properties"]
        assert set(payload) == {"id", "type", "api_version", "created_at", "data"}
        assert payload["type"]["enum"] == [kind]
        assert payload["api_version"]["enum"] == [API_VERSION]


def test_the_page_is_whole_without_a_network(settings: Any) -> None:
    settings.DEBUG = False
    page = Client().get("/docs/")
    assert page.status_code == 200
    html = page.content.decode()
    assert re.findall(r"https?://", html) == []
    assets = [address.replace("&amp;", "&") for address in re.findall(r'(?:src|href)="(/[^"]+)"', html)]
    assert len(assets) >= 3
    for asset in assets:
        assert Client().get(asset).status_code == 200, asset
    (script,) = [asset for asset in assets if asset.startswith("/docs/")]
    assert "/v1/openapi.json" in Client().get(script).content.decode()
