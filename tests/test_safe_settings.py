"""Production settings pass Django's own deployment checks, and pages carry the headers that keep others out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from ttsproject.page_rules import content_rules, sound_origins

ROOT = Path(__file__).resolve().parents[1]
PRODUCTION = {
    "REFRAIN_SECRET_KEY": "a7Gk2-qLw9_ZxT4vB8nMpR3sYc6HdJf1EuQoWi0KtVyNbXgSzCl",
    "REFRAIN_PUBLIC_URL": "https://tts.example.com",
    "REFRAIN_ALLOWED_HOSTS": "tts.example.com",
    "DATABASE_URL": "postgresql://refrain:secret@127.0.0.1:5432/refrain",
    "REDIS_URL": "redis://127.0.0.1:6379/0",
}
TOLD = """
from django.conf import settings as s
print(s.REFRAIN_ADMIN_TWO_FACTOR, s.SESSION_COOKIE_NAME, s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE,
      s.SESSION_COOKIE_HTTPONLY, s.SESSION_COOKIE_SAMESITE, s.SECURE_HSTS_SECONDS, s.SECURE_SSL_REDIRECT)
"""


def manage(*arguments: str, **variables: str) -> str:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [sys.executable, "manage.py", *arguments]
    environment = {**kept, **PRODUCTION, **variables}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=270, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_deployment_checks_find_nothing() -> None:
    said = manage("check", "--deploy", "--fail-level", "WARNING")
    assert "no issues" in said
    assert "WARNING" not in said


def test_https_makes_cookies_secure_and_a_second_factor_required() -> None:
    told = manage("shell", "--no-imports", "--command", TOLD).split()
    assert told[-8:] == ["required", "__Host-sessionid", "True", "True", "True", "Lax", "31536000", "True"]


@pytest.mark.django_db
@pytest.mark.any_database
@pytest.mark.parametrize("address", ["admin:login", "docs"])
def test_pages_allow_nothing_inline(client: Client, address: str) -> None:
    answer = client.get(reverse(address))
    rules = dict(part.strip().partition(" ")[::2] for part in answer["Content-Security-Policy"].split(";"))
    assert "unsafe-inline" not in answer["Content-Security-Policy"]
    assert rules["default-src"] == rules["base-uri"] == rules["frame-ancestors"] == "'none'"
    assert rules["style-src"] == rules["form-action"] == "'self'"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert "microphone=()" in answer["Permissions-Policy"]
    page = answer.content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son[a-z]+=\"|\sstyle=\"", page)


def test_our_own_templates_have_nothing_inline() -> None:
    for template in (ROOT / "templates").rglob("*.html"):
        found = re.findall(r"<script(?![^>]*\bsrc=)|<style|\son[a-z]+=|\sstyle=", template.read_text(encoding="utf-8"))
        assert not found, template


@pytest.mark.parametrize(
    ("store", "origins"),
    [
        (None, ["https://tts.example"]),
        (("", ""), ["https://tts.example", "https://*.amazonaws.com"]),
        (("http://s3:9000", ""), ["https://tts.example", "http://s3:9000", "http://sound.s3:9000"]),
        (("http://s3:9000", "https://s3.example/"), ["https://tts.example", "https://s3.example", "https://sound.s3.example"]),
    ],
)  # fmt: skip
def test_sounds_play_from_where_they_are_stored(store: Any, origins: list[str]) -> None:
    s3 = store and {"endpoint": store[0], "public_endpoint": store[1], "bucket": "sound"}
    refrain = {"STORAGE": "s3" if s3 else "files", "STORAGE_OPTIONS": {"s3": s3}}
    assert sound_origins("https://tts.example/base", refrain) == origins
    assert content_rules(origins)["DIRECTIVES"]["media-src"] == ["'self'", *origins]


@pytest.mark.django_db
@pytest.mark.any_database
def test_plain_http_leads_pages_over_and_no_client_of_the_api(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    client = Client()
    assert client.get(reverse("admin:login"))["Location"].startswith("https://")
    for address in ("/v1/speech", "/healthz"):
        assert client.get(address).status_code != 301
