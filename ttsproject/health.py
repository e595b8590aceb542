"""`/healthz`: this process answers. `/readyz`: the database and Redis do too. `/metrics`: what Prometheus reads."""

from functools import cache
from ipaddress import ip_address

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest
from redis import RedisError

from synth import wiring
from synth.census import Census
from synth.conf import conf
from tenants.errors import Forbidden, Unauthenticated
from tenants.errors import untranslated as _

NOT_FROM_HERE = _("Metrics are for the token, or the networks, that the operator has set.")
PASSED_ON = ("Forwarded", "X-Forwarded-For", "X-Real-IP")


def healthz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001 - Django's signature
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """503 without the database. Without Redis requests are served all the same, so that is told but not fatal."""
    checks = {"database": _database(), "redis": _redis()}
    ready = checks["database"] == "ok"
    return JsonResponse({"status": "ok" if ready else "unavailable", **checks}, status=200 if ready else 503)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "unavailable"
    return "ok"


def _redis() -> str:
    try:
        wiring.redis().ping()
    except (RedisError, OSError):
        return "degraded"
    return "ok"


def metrics(request: HttpRequest) -> HttpResponse:
    """This process's own numbers, and those of the whole that it asks for: docs/operating.md says which are which."""
    _require_monitor(request)
    body = generate_latest() + generate_latest(_census())
    return HttpResponse(body, content_type=CONTENT_TYPE_PLAIN_0_0_4)


@cache
def _census() -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(Census())
    return registry


def _require_monitor(request: HttpRequest) -> None:
    """With a token that token; without one a direct connection from a network that is set.

    What a proxy passes on comes from the proxy's address, whoever asked: its headers give it away.
    """
    token = conf().metrics_token
    if token:
        scheme, _space, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not constant_time_compare(given.strip(), token):
            raise Unauthenticated(NOT_FROM_HERE)
    elif any(name in request.headers for name in PASSED_ON) or not _is_near(request.META.get("REMOTE_ADDR", "")):
        raise Forbidden(NOT_FROM_HERE)


def _is_near(address: str) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    known = getattr(parsed, "ipv4_mapped", None) or parsed
    return any(known in network for network in conf().metrics_networks)
