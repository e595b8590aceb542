"""`manage.py revoke_key <look-up part or id>`: refuse a key from its next request on."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q

from tenants import service
from tenants.models import ApiKey


class Command(BaseCommand):
    help = "Revoke an API key by its look-up part (the middle of the token) or its id."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("key", help="look-up part or id; never the whole token: other users see command lines")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        key = ApiKey.objects.select_related("tenant").filter(_names(options["key"])).first()
        if key is None:
            raise CommandError("There is no key with this look-up part or id.")
        was_revoked = key.revoked_at is not None
        service.revoke_key(key)
        state = "was revoked before" if was_revoked else "is revoked"
        self.stderr.write(f"Key {key.lookup} of {key.tenant.name} {state}.", self.style.SUCCESS)


def _names(text: str) -> Q:
    try:
        return Q(id=UUID(text))
    except ValueError:
        return Q(lookup=text)
