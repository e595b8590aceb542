"""Endpoints of the tests' tenants, with secrets that the tests know."""

from __future__ import annotations

from typing import Any

from synth import wiring
from synth.models import WebhookEndpoint
from synth.webhooks.signing import new_secret
from tests.world import Member


def make_endpoint(member: Member, url: str, **columns: Any) -> WebhookEndpoint:
    secrets = [{"sealed": wiring.webhook_seal().seal(new_secret()), "until": None}]
    return WebhookEndpoint.objects.create(tenant=member.tenant, url=url, **{"secrets": secrets, **columns})


def secrets_of(endpoint: WebhookEndpoint) -> list[str]:
    return [wiring.webhook_seal().open(entry["sealed"]) for entry in endpoint.secrets]
