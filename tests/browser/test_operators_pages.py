"""The pages of audit, webhooks, batches, tenants, keys and roles in a real browser: they fit a desk and a telephone."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser

from synth import service
from synth.models import Batch
from tenants.audit.events import KEY, OPERATOR, Event
from tenants.audit.writing import append
from tenants.ids import new_id
from tenants.models import AuditEvent, AuditFlag, Tenant, UsageDay
from tests.browser.desk import OVERFLOW, PASSWORD, PICTURES, log_in, signed_in
from tests.deliveries import deliver, endpoint
from tests.synth.admin.pages import list_of, page_of
from tests.synth.admin.rows import CHINESE, publish_card
from tests.world import Member, World, make_world

pytestmark = pytest.mark.browser
LISTS = ("auditevent", "auditchain", "auditflag", "tenant", "apikey")


@pytest.fixture
def addresses(live_server) -> list[str]:
    user = User.objects.create_superuser("root", password=PASSWORD)
    world = make_world()
    publish_card()
    owner = world.owner.tenant
    quotas = {"characters_per_day": 100_000, "synthesis_per_month": 2_000_000, "max_voices": 20}
    Tenant.objects.filter(id=owner.id).update(**quotas, encryption=Tenant.Encryption.PLATFORM)
    audited(world, user)
    rows = [*webhooks(world.owner), batch(owner)]
    UsageDay.objects.create(
        tenant=owner, day=timezone.now().date(), engine="kokoro", outcome="hit", requests=70, characters=9000
    )
    paths = [reverse(f"admin:tenants_{name}_changelist") for name in LISTS]
    paths += [reverse(f"admin:tenants_{name}_add") for name in ("tenant", "apikey")]
    event = owner_events(owner)
    paths += [reverse("admin:tenants_auditevent_change", args=[event]), page("auditchain", owner.id)]
    paths += [page("tenant", owner.id), page("apikey", world.owner.key.id), reverse("admin:auth_user_changelist")]
    paths += [reverse("admin:auth_user_change", args=[user.pk]), *map(page_of, rows)]
    paths += [list_of("webhookendpoint"), list_of("webhookdelivery"), list_of("batch")]
    paths += [reverse("admin:synth_webhookendpoint_rotate_this", args=[rows[0].pk])]
    return [live_server.url, *paths]


def page(model: str, key: object) -> str:
    return reverse(f"admin:tenants_{model}_change", args=[key])


def audited(world: World, user: User) -> None:
    """A day of one tenant: a key that speaks, an operator, a gap, and what was unusual. Its chain is verified."""
    owner, key = world.owner.tenant, world.owner.key
    who = {"actor_kind": KEY, "actor_id": str(key.id), "address": "2001:db8:85a3::8a2e:370:7334"}
    said = [
        Event(action="POST /v1/speech", status=200, cache="hit", characters=21, text=CHINESE, text_kind="full",
              object=f"job_{new_id().hex}", request_id=f"req_{new_id().hex}", **who),
        Event(action="POST /v1/speech", status=429, outcome="quota_exceeded", characters=99_999, **who),
        Event(action="GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", status=404, outcome="not_found", **who),
        Event(action="POST admin:tenants_tenant_change", actor_kind=OPERATOR, actor_id=str(user.pk), status=302,
              actor_name="root", object=f"tenant:{owner.pk}", detail='{"changed": ["name"]}', address="192.0.2.7"),
        Event(action="speech", actor_kind="system", outcome="gap", count=12_345),
    ]  # fmt: skip
    append(owner.id, said)
    service.verify_chain(owner.id)
    for kind, numbers in (("new_addresses", {"addresses": 14}), ("burst", {"requests": 900, "usual": 42})):
        AuditFlag.objects.create(
            id=new_id(), tenant=owner, kind=kind, actor_id=str(key.id), actor_name=key.name, at=timezone.now(),
            numbers=numbers,
        )  # fmt: skip


def owner_events(owner: Tenant) -> object:
    return AuditEvent.objects.filter(tenant=owner).latest("sequence").pk


def webhooks(owner: Member) -> list[object]:
    failing = endpoint(owner, "https://hooks.example.com/refrain/" + "a" * 90, description="Our back end")
    type(failing).objects.filter(id=failing.id).update(failing_since=timezone.now() - timedelta(days=1))
    endpoint(owner, "https://gone.example/", status="disabled", disabled_reason="gone", disabled_at=timezone.now())
    waiting = deliver(owner, to=failing, not_before=timezone.now() + timedelta(hours=1))
    deliver(owner, to=failing, state="failed", last_status=None, last_error="timeout")
    return [failing, waiting]


def batch(owner: Tenant) -> Batch:
    row = Batch.objects.create(
        kind="batch", tenant=owner, state="running", matched=900, refused=1, done=200, cached=100, failed=1
    )
    row.lines.create(number=3, tenant=owner, outcome="refused", error_code="nothing_to_say", error_detail="w" * 120)
    row.lines.create(number=4, tenant=owner, outcome="failed", error_code="engine_error")
    return row


@pytest.mark.parametrize(
    ("width", "language", "scheme"),
    [(1440, "en", "light"), (390, "en", "dark"), (1440, "zh-CN", "dark"), (390, "zh-CN", "light")],
)
def test_every_page_fits(
    addresses: list[str], chromium: Browser, width: int, language: str, scheme: Literal["light", "dark"]
) -> None:
    url, *paths = addresses
    opened, complaints = signed_in(chromium, url, width=width, locale=language, scheme=scheme)
    for path in paths:
        opened.goto(url + path)
        opened.wait_for_load_state("networkidle")
        if PICTURES:
            name = f"{path.strip('/').replace('/', '-')}-{width}-{language}.png"
            opened.screenshot(path=Path(PICTURES) / name, full_page=True)
        assert opened.evaluate(OVERFLOW) <= 0, path
        assert not complaints, (path, complaints)


def test_a_chain_is_verified_by_a_button(addresses: list[str], chromium: Browser) -> None:
    opened = chromium.new_page(viewport={"width": 1440, "height": 900}, locale="en")
    log_in(opened, addresses[0])
    opened.goto(addresses[0] + reverse("admin:tenants_auditchain_changelist"))
    opened.locator("#action-toggle").check()
    opened.locator("select[name=action]").select_option("verify")
    opened.locator("button[name=index], #changelist-actions button[type=submit]").first.click()
    opened.get_by_text("5 events, all as they were sealed").wait_for()
