"""`manage.py set_encryption <slug> none|platform|own`: under which key a tenant's speech is kept from now on."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tenants.errors import InvalidRequest
from tenants.models import Tenant
from tenants.sealing import set_encryption


class Command(BaseCommand):
    help = "Say under which key a tenant's speech is kept from now on. What was made before is made anew."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("mode", choices=Tenant.Encryption.values)

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        tenant = Tenant.objects.filter(slug=options["slug"]).first()
        if tenant is None:
            raise CommandError(f"There is no tenant with the slug {options['slug']}.")
        try:
            set_encryption(tenant, options["mode"])
        except InvalidRequest as refused:
            raise CommandError(str(refused)) from refused
        self.stderr.write(f"Encryption of {tenant.name}: {tenant.encryption}.", self.style.SUCCESS)
