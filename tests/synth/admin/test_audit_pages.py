"""The audit's screens, and what it tells of operators: every act, in the chain of the tenant that it was about."""

import json

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from synth import service
from synth.models.states import State
from tenants.models import AuditChain, AuditEvent, AuditFlag, AuditNote, Tenant
from tests.synth.admin.pages import words
from tests.synth.admin.rows import CHINESE, make_work
from tests.world import World

pytestmark = [pytest.mark.django_db]
LIST = "admin:tenants_auditevent_changelist"


def events(**filters: object) -> list[AuditEvent]:
    service.drain_usage()
    return list(AuditEvent.objects.filter(**filters).order_by("sequence"))


def tenant_page(world: World) -> str:
    return reverse("admin:tenants_tenant_change", args=[world.owner.tenant.pk])


def form_of(world: World, **fields: str) -> dict[str, str]:
    tenant = world.owner.tenant
    return {"name": tenant.name, "slug": tenant.slug, "audit_text": "hash", **fields}


def test_a_change_is_told_with_its_fields_and_no_values(admin_client, admin_user, world: World):
    assert admin_client.post(tenant_page(world), form_of(world, name="Their secret name")).status_code == 302
    (row,) = events(tenant=world.owner.tenant)
    assert (row.actor_kind, row.actor_id, row.actor_name) == ("operator", str(admin_user.pk), "admin")
    assert (row.action, row.object) == ("POST admin:tenants_tenant_change", f"tenant:{world.owner.tenant.pk}")
    assert (row.status, row.outcome, row.address) == (302, "ok", "127.0.0.1")
    assert row.request_id.startswith("req_")
    assert "name" in row.detail.lower()
    assert "secret" not in row.detail


def test_an_action_is_told_for_each_row_in_its_tenants_chain(admin_client, world: World):
    chosen = [world.owner.tenant.pk, world.stranger.tenant.pk]
    admin_client.post(
        reverse("admin:tenants_tenant_changelist"), {"action": "suspend", "_selected_action": [*map(str, chosen)]}
    )
    assert Tenant.objects.filter(status="suspended").count() == 3
    for tenant in (world.owner.tenant, world.stranger.tenant):
        (row,) = events(tenant=tenant)
        assert (row.object, json.loads(row.detail)["action"]) == (f"tenant:{tenant.pk}", "suspend")


def test_what_is_made_is_named(admin_client, world: World):
    body = {"tenant": str(world.owner.tenant.pk), "name": "new", "kind": "live", "scopes": "speech:read"}
    answer = admin_client.post(reverse("admin:tenants_apikey_add"), body)
    token = answer.context["token"]
    (row,) = events(tenant=world.owner.tenant)
    assert row.object == world.owner.tenant.api_keys.get(name="new").public_id
    assert token not in row.detail


def test_a_form_that_is_refused_and_a_page_that_is_forbidden_are_told_as_such(admin_client, client, world: World):
    admin_client.post(tenant_page(world), form_of(world, slug=""))
    assert events(tenant=world.owner.tenant)[-1].outcome == "invalid"
    work = make_work(world.owner.tenant, CHINESE, state=State.QUEUED)
    staff = User.objects.create_user("staff", password="staff-password", is_staff=True)
    client.logout()
    client.force_login(staff)
    client.post(reverse("admin:synth_job_change", args=[work.job.pk]), {"state": "failed"})
    row = events(tenant=world.owner.tenant)[-1]
    assert (row.actor_name, row.status, row.object) == ("staff", 403, work.job.public_id)


def test_log_ins_are_told_without_what_was_typed(client, admin_user):
    address = reverse("admin:login")
    for name, password in (("admin", "wrong"), ("my password", "x"), ("admin", "password")):
        client.post(address, {"username": name, "password": password})
    told = [(row.actor_kind, row.actor_name, row.outcome) for row in events(action="POST admin:login")]
    assert told == [("nobody", "admin", "refused"), ("nobody", "", "refused"), ("operator", "admin", "ok")]
    assert not [row for row in events() if "password" in row.detail]


def test_an_act_is_noted_before_it_is_done(admin_client, world: World, monkeypatch):
    seen = []
    notes = AuditNote.objects.values_list("event", flat=True)
    monkeypatch.setattr("tenants.service.suspend_tenant", lambda _: seen.extend(notes))
    admin_client.post(
        reverse("admin:tenants_tenant_changelist"),
        {"action": "suspend", "_selected_action": [str(world.owner.tenant.pk)]},
    )
    (event,) = map(json.loads, seen)
    assert (event["outcome"], event["object"]) == ("begun", f"tenant:{world.owner.tenant.pk}")


@pytest.fixture
def some(admin_client, world: World) -> list[AuditEvent]:
    admin_client.post(tenant_page(world), form_of(world, name="Another name"))
    admin_client.post(tenant_page(world), form_of(world, slug=""))
    return events(tenant=world.owner.tenant)


def test_it_lists_filters_and_shows(admin_client, some, world: World):
    def found(**query: str) -> list[AuditEvent]:
        return list(admin_client.get(reverse(LIST), query).context["cl"].result_list)

    assert len(found()) == 2
    assert [row.outcome for row in found(outcome="refused")] == ["invalid"]
    assert len(found(actor_kind="operator")) == 2
    assert found(actor_kind="key") == found(action="GET /v1/voices") == []
    assert len(found(q=some[0].object)) == 2
    page = admin_client.get(reverse("admin:tenants_auditevent_change", args=[some[0].pk]))
    assert some[0].mac in words(page.content.decode())
    assert admin_client.post(reverse("admin:tenants_auditevent_change", args=[some[0].pk]), {}).status_code == 403
    assert admin_client.get(reverse(LIST)).content.decode().count("export/") == 2


def test_what_is_listed_is_exported_and_that_is_told(admin_client, client, some):
    address = reverse("admin:tenants_auditevent_export", args=["jsonl"])
    answer = admin_client.get(address, {"outcome": "refused"})
    (line,) = map(json.loads, b"".join(answer.streaming_content).splitlines())
    assert (line["outcome"], line["mac"]) == ("invalid", some[1].mac)
    assert events(tenant=None)[-1].action == "GET admin:tenants_auditevent_export"
    assert admin_client.get(reverse("admin:tenants_auditevent_export", args=["xml"])).status_code == 404
    client.logout()
    client.force_login(User.objects.create_user("staff", is_staff=True))
    assert client.get(address).status_code == 403


def test_a_chain_is_verified_by_a_button(admin_client, some, world: World, as_owner):
    chosen = {"action": "verify", "_selected_action": str(world.owner.tenant.pk)}
    address = reverse("admin:tenants_auditchain_changelist")
    assert "all as they were sealed" in words(admin_client.post(address, chosen, follow=True).content.decode())
    as_owner("DELETE FROM tenants_auditevent WHERE id = %s", some[0].id)
    assert "missing: event 1" in words(admin_client.post(address, chosen, follow=True).content.decode())
    assert AuditChain.objects.get(id=world.owner.tenant.pk).findings == ["missing: event 1"]


def test_a_long_chain_is_left_to_a_worker(admin_client, some, world: World, monkeypatch):
    monkeypatch.setattr("synth.admin.audit.VERIFIED_AT_ONCE", 1)
    chosen = {"action": "verify", "_selected_action": str(world.owner.tenant.pk)}
    admin_client.post(reverse("admin:tenants_auditchain_changelist"), chosen)
    chain = AuditChain.objects.get(id=world.owner.tenant.pk)
    assert (chain.verified_at, chain.verify_asked_at is None) == (None, False)
    service.verify_due()
    chain.refresh_from_db()
    assert (chain.verified_events >= 2, chain.findings) == (True, [])


def test_flags_are_listed(admin_client, world: World):
    told = {"kind": "burst", "actor_id": "x", "at": "2026-11-30T12:00:00Z", "numbers": {"events": 900}}
    AuditFlag.objects.create(id=world.owner.tenant.pk, tenant=world.owner.tenant, **told)
    page = admin_client.get(reverse("admin:tenants_auditflag_changelist"))
    assert "900" in words(page.content.decode())
