"""`manage.py issue_key <slug>`: a new API key; the token alone goes to standard output, so that scripts can take it."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from tenants import service
from tenants.errors import InvalidRequest
from tenants.keys import Kind
from tenants.models import Tenant
from tenants.scopes import SCOPES


class Command(BaseCommand):
    help = "Issue an API key for a tenant. Prints the token, which cannot be read again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument("--name", default="command line", help="what the key is for")
        parser.add_argument(
            "--scope", action="append", dest="scopes", help=f"may be repeated; all if left out: {', '.join(SCOPES)}"
        )
        parser.add_argument("--days", type=float, help="valid for so many days; without it, until revoked")
        parser.add_argument("--rate", type=float, help="requests per second of this key, beside its tenant's limit")
        parser.add_argument("--burst", type=int, help="requests at once; left out: those of one second")
        parser.add_argument("--kind", type=Kind, choices=list(Kind), default=Kind.LIVE)

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        tenant = Tenant.objects.filter(slug=options["tenant"]).first()
        if tenant is None:
            raise CommandError(f"There is no tenant with the slug {options['tenant']}. create_tenant makes one.")
        days = options["days"]
        try:
            key, token = service.issue_key(
                tenant,
                options["name"],
                options["scopes"] or SCOPES,
                expires_at=None if days is None else timezone.now() + timedelta(days=days),
                kind=options["kind"],
                rate=options["rate"],
                burst=options["burst"],
            )
        except InvalidRequest as problem:
            raise CommandError(str(problem)) from problem
        self.stderr.write(f"Key {key.lookup} for {tenant.name}. Keep it: it is not shown again.", self.style.SUCCESS)
        self.stdout.write(token)
