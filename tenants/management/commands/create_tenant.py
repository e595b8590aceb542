"""`manage.py create_tenant "Name"`: a new tenant; its slug alone goes to standard output."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tenants import service
from tenants.errors import InvalidRequest


class Command(BaseCommand):
    help = "Create a tenant. Prints its slug, which issue_key takes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--slug", help="letters, digits, hyphens and underscores; made from the name if left out")
        parser.add_argument("--rate", type=float, help="requests per second; 0: no limit; left out: the platform's")
        parser.add_argument("--burst", type=int, help="requests at once; left out: those of one second")
        parser.add_argument("--open-jobs", type=int, help="requests that may wait; 0: any; left out: the platform's")
        parser.add_argument("--running", type=int, help="sentences spoken at a time; 0: any; left out: the platform's")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        try:
            tenant = service.create_tenant(
                options["name"],
                options["slug"],
                rate=options["rate"],
                burst=options["burst"],
                max_open_jobs=options["open_jobs"],
                max_running=options["running"],
            )
        except InvalidRequest as problem:
            raise CommandError(str(problem)) from problem
        self.stderr.write(f"Tenant {tenant.name} is ready ({tenant.id}).", self.style.SUCCESS)
        self.stdout.write(tenant.slug)
