"""Makes the demo tenant, its API key and the admin user, and writes them to var/demo.env; `make run` runs it.

What var/demo.env names is kept for as long as the database knows it: a second start changes nothing.
"""

import os
import secrets
import sys
from pathlib import Path

import django
from dotenv import dotenv_values

from ttsproject.launch.environment import write_private

TENANT = "demo"
ADMIN = "admin"
KEY_NAME = "made by make run"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ttsproject.settings")
    django.setup()
    path, url = sys.argv[1:]
    make_demo(Path(path), url)


def make_demo(path: Path, url: str) -> None:
    known = _read(path)
    token = known.get("REFRAIN_API_KEY") or ""
    user, password = known.get("REFRAIN_ADMIN_USER") or ADMIN, known.get("REFRAIN_ADMIN_PASSWORD") or ""
    if not _is_valid(token):
        token = _issue_key()
    made = _make_admin(user)
    lines = {
        "REFRAIN_URL": url,
        "REFRAIN_API_KEY": token,
        "REFRAIN_ADMIN_USER": user,
        "REFRAIN_ADMIN_PASSWORD": made or password,
    }
    write_private(path, "".join(f"{name}={value}\n" for name, value in lines.items()))


def _read(path: Path) -> dict[str, str | None]:
    """Whatever has become of the file must not keep everything from starting: it is written anew below."""
    try:
        return dotenv_values(path)
    except UnicodeDecodeError:
        return {}


def _is_valid(token: str) -> bool:
    from django.utils import timezone

    from tenants.authentication import find_record, identify
    from tenants.errors import Problem

    try:
        identify(find_record(token), token, now=timezone.now())
    except Problem:
        return False
    return True


def _issue_key() -> str:
    from tenants import service
    from tenants.models import Tenant
    from tenants.scopes import ALL

    tenant = Tenant.objects.filter(slug=TENANT).first() or service.create_tenant("Demo", slug=TENANT)
    return service.issue_key(tenant, KEY_NAME, ALL)[1]


def _make_admin(name: str) -> str | None:
    """The password of a new admin user; None when there is one already, whose password stays as it is."""
    from django.contrib.auth import get_user_model

    users = get_user_model().objects
    if users.filter(is_superuser=True).exists():
        return None
    password = secrets.token_urlsafe(12)
    users.create_superuser(name, password=password)
    return password


if __name__ == "__main__":
    main()
