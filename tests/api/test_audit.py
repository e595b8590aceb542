"""Every request of the API is in its tenant's audit within a round: hits, work, reads and refusals; `GET /v1/audit`."""

import csv
import io
import json
from typing import Any

import pytest

from synth import service, wiring
from tenants import service as tenant_service
from tenants.audit.events import Event
from tenants.audit.verifying import verify
from tenants.models import AuditEvent, AuditNote
from tenants.models.audit import PLATFORM
from tenants.scopes import ALL, AUDIT_READ
from tests.api.caller import TEXT, Caller, content, refused_fields
from tests.finished import finish
from tests.servers.redis import RedisServer

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _folder(settings: Any, tmp_path: Any) -> None:
    options = settings.REFRAIN["STORAGE_OPTIONS"]
    files = {**options["files"], "root": str(tmp_path / "audio")}
    settings.REFRAIN = {**settings.REFRAIN, "STORAGE_OPTIONS": {**options, "files": files}}
    wiring.forget_parts()


def events(**filters: Any) -> list[AuditEvent]:
    """Once they are written."""
    service.drain_usage()
    return list(AuditEvent.objects.filter(**filters).order_by("sequence"))


def last(**filters: Any) -> AuditEvent:
    return events(**filters)[-1]


def test_a_hit_tells_who_what_where_and_how(owner: Caller) -> None:
    done = finish(owner.member, {"text": TEXT})
    for _ in range(3):
        answer = owner.speak()
    assert (answer.json()["cache"], answer.by_express) == ("hit", True)
    found = sorted(events(tenant=owner.member.tenant), key=lambda row: row.at)
    assert [row.cache for row in found] == ["restored", "hit", "hit"]
    row = next(row for row in found if row.request_id == answer["X-Request-Id"])
    assert (row.action, row.status, row.outcome, row.object) == ("POST /v1/speech", 200, "ok", done.entry_id)
    assert (row.actor_kind, row.actor_id, row.actor_name) == ("key", str(owner.member.key.id), "Owner's key")
    assert (row.address, row.characters, row.text_kind) == ("127.0.0.1", len(TEXT), "hash")
    assert TEXT not in row.text


def test_work_reads_and_refusals(owner: Caller) -> None:
    job = owner.speak(text="Something else.").json()["id"]
    owner.get(f"/v1/speech/{job}")
    owner.get("/v1/voices")
    owner.get(f"/v1/speech/job_{'0' * 32}")
    owner.speak(speed="fast")
    owner.get("/v1/nowhere")
    owner.client.put("/v1/speech")
    told = [(row.action, row.status, row.outcome, row.object) for row in events(tenant=owner.member.tenant)]
    assert told == [
        ("POST /v1/speech", 202, "ok", job),
        ("GET /v1/speech/{speech_id}", 200, "ok", job),
        ("GET /v1/voices", 200, "ok", ""),
        ("GET /v1/speech/{speech_id}", 404, "not_found", f"job_{'0' * 32}"),
        ("POST /v1/speech", 422, "not_a_number", ""),
        ("PUT /v1/speech", 405, "method_not_allowed", ""),
    ]
    assert last(chain=PLATFORM).object == "/v1/nowhere"


def test_limited_and_forbidden_ones_are_their_tenants(owner: Caller, world: Any) -> None:
    finish(owner.member, {"text": TEXT})
    tenant_service.limit_tenant(owner.member.tenant, rate=0.001, burst=1)
    assert [owner.speak().status_code for _ in range(3)] == [200, 429, 429]
    assert [row.outcome for row in events(tenant=owner.member.tenant)] == ["ok", "rate_limited", "rate_limited"]
    assert {row.actor_id for row in events(tenant=owner.member.tenant)} == {str(owner.member.key.id)}
    Caller(world.suspended).get("/v1/voices")
    assert last(tenant=world.suspended.tenant).outcome == "tenant_suspended"
    tenant_service.revoke_key(owner.member.key)
    assert owner.get("/v1/voices").status_code == 401
    assert last(tenant=owner.member.tenant).outcome == "unauthenticated"


def test_whoever_is_nobody_is_in_the_platforms_chain(owner: Caller) -> None:
    owner.client.get("/v1/voices", headers={"Authorization": "Bearer nonsense"})
    row = last(chain=PLATFORM)
    assert (row.tenant_id, row.actor_kind, row.status, row.address) == (None, "nobody", 401, "127.0.0.1")


def test_a_signed_address_is_told_of(owner: Caller) -> None:
    finish(owner.member, {"text": TEXT})
    url = owner.speak().json()["url"]
    content(owner.client.get(url[url.index("/files/") :]))
    assert (last(tenant=owner.member.tenant).actor_kind, last(tenant=owner.member.tenant).status) == ("signed_url", 200)
    owner.client.get(url[url.index("/files/") :].replace("signature=", "signature=0"))
    assert (last(chain=PLATFORM).actor_kind, last(chain=PLATFORM).status) == ("nobody", 403)


@pytest.mark.parametrize(("setting", "kept"), [("full", TEXT), ("none", ""), ("hash", None)])
def test_the_text_is_kept_as_the_tenant_says(owner: Caller, setting: str, kept: str | None) -> None:
    tenant_service.keep_audit(owner.member.tenant, text=setting, days=None)
    finish(owner.member, {"text": TEXT})
    for _ in range(2):
        owner.speak()
    owner.speak(text="Something else.")
    restored, hit, miss = sorted(events(tenant=owner.member.tenant), key=lambda row: row.at)
    assert restored.text == hit.text != miss.text or setting == "none"
    assert hit.text == kept if kept is not None else len(hit.text) == 64
    found = owner.get("/v1/audit", {"text": TEXT}).json()["results"]
    assert len(found) == (0 if setting == "none" else 2)


def test_with_redis_away_a_row_stands_in(owner: Caller, redis_server: RedisServer) -> None:
    redis_server.stop()
    answer = owner.get("/v1/voices")
    assert AuditNote.objects.count() == 1
    redis_server.start()
    wiring.forget_parts()
    assert last(tenant=owner.member.tenant).request_id == answer["X-Request-Id"]


def test_what_redis_had_to_cut_is_a_gap(owner: Caller, settings: Any) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "AUDIT_STREAM_LENGTH": 10}
    wiring.audit_streams.cache_clear()
    for _ in range(250):
        service.note_audit(owner.member.tenant.id, Event(action="GET /v1/voices"))
    found = events(tenant=owner.member.tenant)
    (gap,) = [row for row in found if row.outcome == "gap"]
    assert gap.count + len(found) - 1 == 250
    assert gap.count > 0


def test_a_round_anchors_the_heads_and_they_verify(owner: Caller, settings: Any, as_owner: Any) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "AUDIT_ANCHOR_SECONDS": 0}
    owner.get("/v1/voices")
    events()
    anchors = service.anchors_of(owner.member.tenant.id)
    assert [anchor.last for anchor in anchors if anchor] == [1]
    assert verify(owner.member.tenant.id, anchors).sound
    as_owner("DELETE FROM tenants_auditevent WHERE chain = %s", owner.member.tenant.id)
    assert [str(one) for one in service.verify_chain(owner.member.tenant.id).findings] == ["missing: event 1"]


def test_it_lists_pages_filters_and_keeps_to_its_tenant(owner: Caller, stranger: Caller) -> None:
    for path in ("/v1/voices", "/v1/engines", "/v1/speech"):
        owner.get(path)
    stranger.get("/v1/voices")
    events()
    told = owner.get("/v1/audit", {"limit": "2"}).json()
    assert [row["action"] for row in told["results"]] == ["GET /v1/speech", "GET /v1/engines"]
    assert told["results"][0]["object"] == "audit_event"
    assert told["next"]
    row = owner.get("/v1/audit", {"action": "GET /v1/voices"}).json()["results"]
    assert [(one["actor_name"], one["outcome"], one["sequence"]) for one in row] == [("Owner's key", "ok", 1)]
    assert refused_fields(owner.get("/v1/audit", {"who": "me"})) == {"who": "unknown_field"}
    _, token = tenant_service.issue_key(owner.member.tenant, "narrow", ALL - {AUDIT_READ})
    assert owner.client.get("/v1/audit", headers={"Authorization": f"Bearer {token}"}).status_code == 403


def test_it_is_exported_as_csv_and_as_json_lines(owner: Caller) -> None:
    owner.get("/v1/voices")
    owner.get("/v1/speech/=cmd")
    events()
    lines = [json.loads(line) for line in content(owner.get("/v1/audit/export")).splitlines()]
    assert [line["target"] for line in lines] == ["", "=cmd"]
    answer = owner.get("/v1/audit/export", {"format": "csv", "outcome": "not_found"})
    assert answer["Content-Disposition"].endswith('.csv"')
    (row,) = csv.DictReader(io.StringIO(content(answer).decode()))
    assert (row["target"], row["action"], row["mac"]) == ("'=cmd", "GET /v1/speech/{speech_id}", lines[1]["mac"])
