"""`manage.py make_bucket`: make the S3 bucket of the settings, unless it is there; docker-compose.yml runs it once."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from synth import wiring
from synth.conf import conf
from synth.errors import WorkError


class Command(BaseCommand):
    help = "Make the bucket that S3_BUCKET names, unless it is there already."

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        bucket = conf().storage_options["s3"]["bucket"]
        try:
            made = wiring.make_bucket()
        except (WorkError, ValueError) as error:
            raise CommandError(str(error)) from error
        self.stderr.write(f"The bucket {bucket} {'is made' if made else 'is there already'}.", self.style.SUCCESS)
