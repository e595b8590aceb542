"""`manage.py verify_audit`: reads every audit chain, or one tenant's, and names each row that is not as sealed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from synth import service
from tenants.audit.verifying import Report
from tenants.models import Tenant
from tenants.models.audit import PLATFORM


class Command(BaseCommand):
    help = "Find altered, missing, moved and cut-off rows of the audit; exits with 1 when there are any."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", metavar="SLUG", help="this tenant alone; `-` for events of no tenant")

    def handle(self, *, tenant: str | None, **_: Any) -> None:
        names = {PLATFORM: "-", **dict(Tenant.objects.values_list("id", "slug"))}
        wanted = None if tenant is None else [key for key, name in names.items() if name == tenant]
        if wanted == []:
            raise CommandError(f"There is no tenant {tenant}.")
        reports = service.verify_audit(wanted)
        for report in reports:
            self._tell(names.get(report.chain, str(report.chain)), report)
        if not all(report.sound for report in reports):
            raise CommandError("The audit is not as it was sealed.")

    def _tell(self, name: str, report: Report) -> None:
        verdict = "sound" if report.sound else f"{len(report.findings)} findings"
        read = f"{report.events} events in {report.segments} segments, {report.anchors} anchors"
        self.stdout.write(f"{name}: {verdict} ({read})")
        for finding in report.findings:
            self.stdout.write(f"  {finding}")
