"""`/healthz`: this process answers. `/readyz`: the database and Redis do too."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from redis import RedisError

from synth import wiring


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
