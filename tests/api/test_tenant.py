"""`GET /v1/tenant`: what the operator allows, the tenant's own settings before the platform's."""

from __future__ import annotations

from typing import Any

import pytest

from synth.models import VoiceSettings
from tenants import service
from tenants.models import Tenant
from tests.api.caller import Caller

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def test_without_settings_of_its_own_the_platforms_are_told(owner: Caller, settings: Any) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "RATE_LIMIT": 20.0, "RATE_BURST": 30, "MAX_RUNNING": 0}
    told = owner.get("/v1/tenant").json()
    assert told["limits"] == {
        "rate_limit": 20.0, "rate_burst": 30, "open_jobs": 1000, "running": None, "keys": 200,
    }  # fmt: skip
    assert set(told["quotas"].values()) == {None}
    assert told["encryption"] == "none"
    assert told["policies"] == {"maximum": 20, "max_ttl": 2_592_000}
    assert (told["name"], told["slug"], told["default_ttl"], told["time_stretch"]) == ("Owner", "owner", 86_400, False)


def test_its_own_come_first(owner: Caller) -> None:
    tenant = owner.member.tenant
    service.limit_tenant(tenant, rate=5, burst=None)
    service.limit_work(tenant, max_open_jobs=0, max_running=4)
    service.limit_own_rules(tenant, max_own_rules=0, max_own_ttl=0)
    VoiceSettings.objects.create(tenant=tenant, time_stretch=True)
    Tenant.objects.filter(id=tenant.id).update(characters_per_day=500, max_voices=3, encryption="own")
    told = owner.get("/v1/tenant").json()
    assert told["limits"] == {"rate_limit": 5.0, "rate_burst": 5, "open_jobs": None, "running": 4, "keys": 200}
    assert told["quotas"] == {
        "characters_per_day": 500, "characters_per_month": None, "synthesis_per_day": None, "synthesis_per_month": None,
        "max_voices": 3, "max_storage": None,
    }  # fmt: skip
    assert told["encryption"] == "own"
    assert (told["policies"], told["time_stretch"]) == ({"maximum": 0, "max_ttl": None}, True)
