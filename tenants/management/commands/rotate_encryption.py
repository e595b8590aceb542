"""`manage.py rotate_encryption`: wrap every tenant's data key by the first of REFRAIN_ENCRYPTION_KEYS."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tenants.sealing import platform_keys, rotate


class Command(BaseCommand):
    help = "Wrap the data keys by the first of REFRAIN_ENCRYPTION_KEYS. Changes no object, and may be run at any time."

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        current = platform_keys().current
        if not current:
            raise CommandError("REFRAIN_ENCRYPTION_KEYS is empty.")
        done = rotate()
        self.stderr.write(f"{done.wrapped} keys are wrapped anew by {current}, {done.current} were before.")
        if done.closed:
            raise CommandError(f"{done.closed} keys were wrapped by keys that are not in REFRAIN_ENCRYPTION_KEYS.")
