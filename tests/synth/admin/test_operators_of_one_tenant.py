"""An admin user who is bound to one tenant sees and steers that one alone, on every page there is.

The cases are the registered screens and the admin's own URL map: a new screen without rows here, and a new address
without a case, fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.serializers import serialize
from django.db.models import Model
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from synth.models import (
    ClonedVoice,
    CurationAction,
    EngineDay,
    Entry,
    FailureDay,
    LexiconWord,
    MissDay,
    MissExample,
    PhraseDay,
    Policy,
    VoiceEvent,
    VoiceSettings,
)
from tenants.admin.bound import BoundAdmin
from tenants.audit.events import Event
from tenants.audit.writing import append
from tenants.ids import new_id
from tenants.models import ApiKey, AuditFlag, Tenant, TenantBinding, Usage, UsageDay
from tenants.operators import bound_to
from tests.deliveries import deliver
from tests.synth.admin.rows import make_work, publish_card
from tests.world import Member, World

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

# What Django and Unfold make for each screen; those with an id are tried with foreign ones.
OF_EVERY_SCREEN = {"changelist", "add", "history", "delete", "change"}
# Every other address of the admin, with what is asked there: nothing of a stranger may be in the answer.
OTHERS: dict[str, dict[str, str]] = {
    "admin:index": {},
    "admin:search": {"s": "a", "extended": ""},
    "admin:autocomplete": {"app_label": "synth", "model_name": "policy", "field_name": "tenant", "term": ""},
    "admin:app_list": {},
    "admin:view_on_site": {},
    "admin:login": {},
    "admin:logout": {},
    "admin:password_change": {},
    "admin:password_change_done": {},
    "admin:jsi18n": {},
    "admin:auth_user_password_change": {},
    "admin:synth_entry_curate": {},
    "admin:synth_policy_which_rule": {"text": "你好。", "tenant": "<stranger>"},
    "admin:tenants_auditevent_export": {},
}
PLACES = {"admin:tenants_auditevent_export": ["jsonl"]}
NEUTRAL = {"admin:app_list", "admin:view_on_site", "admin:logout", "admin:auth_user_password_change"}


# Characters that were answered from the cache, which savings add up.
HITS = {"Owner": 77, "Stranger": 4_321}


def make_rows(member: Member) -> None:
    """Of every screen one at least, each with the tenant's name in it where that can be."""
    tenant, name = member.tenant, member.tenant.name
    work = make_work(tenant, f"{name} said this. And {name} said that.")
    day = timezone.now().date()
    ended: dict[str, Any] = {"tenant": tenant, "state": "succeeded", "user_name": name}
    CurationAction.objects.create(kind="purge", **ended)
    CurationAction.objects.create(kind="batch", **ended)
    Policy.objects.create(tenant=tenant, note=f"rule of {name}", max_age=60)
    LexiconWord.objects.create(tenant=tenant, text=name, kind="alias", value=name)
    voice = ClonedVoice.objects.create(
        tenant=tenant, name=f"voice of {name}", engine="kokoro", language="en", state="succeeded", upload="gone",
        upload_size=1, fingerprint=f"ref:{name}",
    )  # fmt: skip
    VoiceEvent.objects.create(tenant=tenant, voice_id=voice.id, kind="created", name=voice.name, engine="kokoro")
    VoiceSettings.objects.create(tenant=tenant)
    MissDay.objects.create(tenant=tenant, day=day, first_seen=1)
    MissExample.objects.create(tenant=tenant, reason="first_seen", job=work.job, created_at=timezone.now())
    EngineDay.objects.create(tenant=tenant, day=day, engine=name, runs=1, characters=9, engine_seconds=3.0)
    UsageDay.objects.create(tenant=tenant, day=day, engine=name, outcome="hit", requests=1)
    FailureDay.objects.create(tenant=tenant, day=day, engine=name, code=f"of {name}", failures=1)
    PhraseDay.objects.create(tenant=tenant, day=day, key=f"of {name}", answers=1)
    Usage.objects.create(
        id=new_id(), tenant=tenant, at=timezone.now(), outcome="hit", engine=name, characters=HITS[name], voice=name
    )
    deliver(member, f"https://{name}.example/hook", state="failed")
    append(tenant.id, [Event(id=new_id(), action="POST /v1/speech", object=f"of {name}")])
    flagged = {"id": new_id(), "at": timezone.now(), "kind": "burst", "actor_id": name, "actor_name": name}
    AuditFlag.objects.create(tenant=tenant, **flagged)


@pytest.fixture
def bound(client: Any, world: World) -> Any:
    """The browser of the owner's operator, who may do whatever there is, there."""
    publish_card()
    for member in (world.owner, world.stranger):
        make_rows(member)
    Policy.objects.create(note="Stranger than all others", max_age=60)
    user = User.objects.create_superuser("operator of the owner")
    TenantBinding.objects.create(user=user, tenant=world.owner.tenant)
    client.force_login(user)
    return client


def screens() -> Iterator[tuple[str, Any]]:
    assert get_resolver().url_patterns  # what registers the screens
    for model, screen in admin.site._registry.items():
        yield f"admin:{model._meta.app_label}_{model._meta.model_name}", screen


def rows_of(screen: Any, tenant: Tenant) -> list[Model]:
    """As somebody sees them who is bound to none."""
    request = RequestFactory().get("/")
    request.user = User(is_superuser=True, is_active=True)
    return list(screen.get_queryset(request).filter(**{screen.tenant_path: tenant.pk}))


def addresses() -> Iterator[str]:
    def walk(patterns: list[Any], namespace: str) -> Iterator[str]:
        for item in patterns:
            if isinstance(item, URLResolver):
                inner = f"{namespace}{item.namespace}:" if item.namespace else namespace
                yield from walk(item.url_patterns, inner)
            elif isinstance(item, URLPattern) and namespace and item.name:
                yield f"{namespace}{item.name}"

    yield from walk(get_resolver().url_patterns, "")


def of_a_stranger(page: bytes, world: World) -> list[str]:
    tenant = world.stranger.tenant
    found = page.decode().lower()
    return [mark for mark in ("stranger", tenant.id.hex, str(tenant.id), "4,321", "4321") if mark in found]


def everything(tenant: Tenant) -> str:
    """All that the stranger has, to see that it is as it was."""
    rows = [row for _name, screen in screens() if screen.tenant_path for row in rows_of(screen, tenant)]
    return serialize("json", rows)


def test_every_screen_is_bound_and_has_rows_here(bound: Any, world: World) -> None:
    for name, screen in screens():
        assert isinstance(screen, BoundAdmin), name
        if screen.tenant_path:
            assert rows_of(screen, world.stranger.tenant), f"{name}: make_rows makes none"
            assert rows_of(screen, world.owner.tenant), name


def test_every_address_has_a_case() -> None:
    found = set(addresses())
    names = {name for name, _screen in screens()}
    known = {f"{name}_{page}" for name in names for page in OF_EVERY_SCREEN}
    with_ids = {name for name in found - known - set(OTHERS) if name.rpartition(":")[2] in row_addresses()}
    assert found - known - with_ids == set(OTHERS)


def row_addresses() -> set[str]:
    """Addresses of single rows, by the names of their patterns: buttons of pages."""
    found = set()
    for _name, screen in screens():
        found |= {pattern.name for pattern in screen.get_urls() if pattern.name and "object_id" in str(pattern.pattern)}
    return found


def test_lists_show_its_own_rows_alone(bound: Any, world: World) -> None:
    for name, screen in screens():
        answer = bound.get(reverse(f"{name}_changelist"))
        if not screen.tenant_path:
            assert answer.status_code == 403, name
            continue
        assert answer.status_code == 200, name
        assert not of_a_stranger(answer.content, world), name
        rows = list(answer.context["cl"].result_list) if "cl" in answer.context else []
        assert "cl" not in answer.context or rows, name
        assert not {row.pk for row in rows} & {row.pk for row in rows_of(screen, world.stranger.tenant)}


def test_no_search_and_no_filter_finds_a_foreign_row(bound: Any, world: World) -> None:
    tenant = world.stranger.tenant
    for name, screen in screens():
        if not screen.tenant_path:
            continue
        foreign = rows_of(screen, tenant)[0]
        asked = [{"q": "stranger"}, {"q": str(foreign.pk)}, {"tenant": str(tenant.id)}]
        asked += [{"tenant__id__exact": str(tenant.id)}, {"tenant__slug": tenant.slug}]
        for query in asked:
            answer = bound.get(reverse(f"{name}_changelist"), query)
            rows = (
                list(answer.context["cl"].result_list) if answer.status_code == 200 and "cl" in answer.context else []
            )
            assert all(row.pk != foreign.pk for row in rows), (name, query)
            assert str(tenant.id) in str(query) or not rows or "q" in query


def test_a_foreign_id_gets_404_at_every_address_of_a_row(bound: Any, world: World) -> None:
    before = everything(world.stranger.tenant)
    tried = 0
    for _name, screen in screens():
        rows = rows_of(screen, world.stranger.tenant) if screen.tenant_path else list(screen.model.objects.all()[:1])
        patterns = [item.name for item in screen.get_urls() if item.name and "object_id" in str(item.pattern)]
        for row in rows[:1]:
            for pattern in patterns:
                address = reverse(f"admin:{pattern}", args=[row.pk])
                for answer in (bound.get(address), bound.post(address, {"post": "yes", "hours": 24, "overlap": 0})):
                    tried += 1
                    assert answer.status_code in {403, 404}, address
                    assert not of_a_stranger(answer.content.replace(str(row.pk).encode(), b""), world), address
    assert tried > 100
    assert everything(world.stranger.tenant) == before


def test_no_action_reaches_a_foreign_row(bound: Any, world: World) -> None:
    before = everything(world.stranger.tenant)
    for name, screen in screens():
        if not screen.tenant_path:
            continue
        ids = [str(row.pk) for row in rows_of(screen, world.stranger.tenant)]
        for action in {"delete_selected", *(screen.actions or [])}:
            sent = {"action": action, "_selected_action": ids, "post": "yes", "select_across": "1"}
            answer = bound.post(reverse(f"{name}_changelist"), sent)
            assert not of_a_stranger(answer.content, world), (name, action)
            assert everything(world.stranger.tenant) == before, (name, action)


def test_every_other_address_tells_nothing_of_a_stranger(bound: Any, world: World) -> None:
    stranger = str(world.stranger.tenant.id)
    for name, query in OTHERS.items():
        if name in NEUTRAL:
            continue
        asked = {key: stranger if value == "<stranger>" else value for key, value in query.items()}
        answer = bound.get(reverse(name, args=PLACES.get(name)), asked)
        assert answer.status_code in {200, 302}, name
        page = answer.getvalue()
        assert not of_a_stranger(page.replace(stranger.encode(), b"") if asked != query else page, world), name
    for app in ("tenants", "synth"):
        assert not of_a_stranger(bound.get(reverse("admin:app_list", args=[app])).content, world)
    user = User.objects.get()
    assert bound.get(reverse("admin:auth_user_password_change", args=[user.pk])).status_code == 403


def test_the_first_page_tells_what_the_own_tenant_saved(bound: Any, world: World) -> None:
    page = bound.get(reverse("admin:index"))
    assert not of_a_stranger(page.content, world)
    assert reverse("admin:auth_user_changelist") not in page.content.decode()
    assert reverse("admin:synth_enginecardrow_changelist") not in page.content.decode()


def test_savings_of_a_stranger_are_not_told(bound: Any, world: World) -> None:
    address = reverse("admin:synth_engineday_changelist")
    assert bound.get(address).context["report"] is not None
    for tenant in (str(world.stranger.tenant.id), ""):
        today = timezone.now().date().isoformat()
        answer = bound.get(address, {"tenant": tenant, "first": today, "last": today})
        assert answer.context["report"] is None
        assert not of_a_stranger(answer.content.replace(tenant.encode(), b"") if tenant else answer.content, world)


def test_nothing_is_made_for_another_tenant_or_for_all(bound: Any, world: World) -> None:
    rules, keys = Policy.objects.count(), ApiKey.objects.count()
    for tenant in (str(world.stranger.tenant.id), ""):
        rule = {
            "tenant": tenant,
            "note": "new",
            "priority": 1,
            "max_age": 60,
            "enabled": "on",
            "model_change": "make_new",
        }
        assert bound.post(reverse("admin:synth_policy_add"), rule).status_code == 200
        key = {"tenant": tenant, "name": "new", "kind": "live", "scopes": ["speech:read"]}
        assert "token" not in bound.post(reverse("admin:tenants_apikey_add"), key).context
    assert (Policy.objects.count(), ApiKey.objects.count()) == (rules, keys)
    own = {"tenant": str(world.owner.tenant.id), "name": "new", "kind": "live", "scopes": ["speech:read"]}
    assert "token" in bound.post(reverse("admin:tenants_apikey_add"), own).context


def test_the_tenant_itself_is_looked_at_alone(bound: Any, world: World) -> None:
    page = reverse("admin:tenants_tenant_change", args=[world.owner.tenant.pk])
    assert bound.get(page).status_code == 200
    assert bound.post(page, {"name": "mine now", "slug": "mine", "rate_limit": "1000"}).status_code == 403
    assert bound.get(reverse("admin:tenants_tenant_add")).status_code == 403


@pytest.mark.parametrize("tenant", ["foreign", "none"])
def test_what_is_done_by_a_filter_stays_within_the_own_tenant(bound: Any, world: World, tenant: str) -> None:
    before = everything(world.stranger.tenant)
    address = reverse("admin:synth_entry_curate")
    own = Entry.objects.filter(tenant=world.owner.tenant).count()
    asked = {"kind": "purge", "engine": "kokoro", "expected": "1000"}
    if tenant == "foreign":
        foreign = {**asked, "tenant": str(world.stranger.tenant.id)}
        assert bound.post(address, foreign).context["form"].errors
    else:
        assert bound.post(address, asked).status_code == 302
        assert CurationAction.objects.latest("created_at").tenant == world.owner.tenant
        assert Entry.objects.filter(tenant=world.owner.tenant).count() == 0 < own
    ids = ",".join(row.id.hex for row in Entry.objects.filter(tenant=world.stranger.tenant))
    bound.post(address, {"kind": "purge", "ids": ids, "expected": "1000"})
    assert everything(world.stranger.tenant) == before


def test_a_rule_for_all_is_the_platforms_and_nothing_more(bound: Any, world: World) -> None:
    query = urlencode({"tenant": world.owner.tenant.id, "text": "你好。"})
    page = bound.get(f"{reverse('admin:synth_policy_which_rule')}?{query}")
    assert page.context["answer"] is not None
    assert "a rule of the platform" in page.content.decode()
    assert not of_a_stranger(page.content, world)


def test_a_binding_acts_at_the_next_request_and_outlives_no_tenant(bound: Any, world: World) -> None:
    TenantBinding.objects.all().delete()
    names = bound.get(reverse("admin:tenants_tenant_changelist")).content.decode()
    assert "Stranger" in names
    TenantBinding.objects.create(user=User.objects.get(), tenant=world.stranger.tenant)
    assert "Owner" not in bound.get(reverse("admin:tenants_tenant_changelist")).content.decode()
    with pytest.raises(Exception, match="protected"):
        Tenant.objects.get(id=world.stranger.tenant.id).delete()


def test_who_is_bound_is_looked_up_once_a_request(world: World, django_assert_num_queries: Any) -> None:
    request = RequestFactory().get("/")
    request.user = User.objects.create_user("somebody")
    with django_assert_num_queries(1):
        assert bound_to(request) is bound_to(request) is None
