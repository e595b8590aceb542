"""`manage.py doctor [--repair] [--deep] [--json]`: tell what is wrong, and put right what can be."""

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from synth.service.doctor import Finding, examine


class Command(BaseCommand):
    help = "Look for stuck work, lost objects and parts that do not answer. Exits with 1 when something stays wrong."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="put right what can be, as the sweeper does")
        parser.add_argument("--deep", action="store_true", help="look at every object, not at one part in 256")
        parser.add_argument("--json", action="store_true", help="one JSON document in place of lines for people")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        findings = examine(repair=options["repair"], deep=options["deep"])
        told = list(findings) if options["json"] else list(self._telling(findings))
        wrong = [finding for finding in told if not finding.is_well]
        if options["json"]:
            report = {"well": not wrong, "checks": [{**asdict(finding), "well": finding.is_well} for finding in told]}
            self.stdout.write(json.dumps(report, indent=2))
        if wrong:
            raise CommandError(f"{len(wrong)} of {len(told)} checks found something that stays wrong.", returncode=1)

    def _telling(self, findings: Iterable[Finding]) -> Iterable[Finding]:
        for finding in findings:
            self._tell(finding)
            yield finding

    def _tell(self, finding: Finding) -> None:
        if finding.is_well:
            done = f", all {finding.found} repaired" if finding.found else ""
            self.stdout.write(f"{self.style.SUCCESS('ok')}    {finding.name}{done}")
            return
        count = finding.problem or f"{finding.left} {finding.says}"
        self.stdout.write(f"{self.style.ERROR('WRONG')} {finding.name}: {count}")
        for line in (*finding.examples, finding.advice):
            if line:
                self.stdout.write(f"        {line}")
