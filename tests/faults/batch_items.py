"""Queues so many sentences in the class of batches for the owner of a stack's database.

`flood.py` runs it as a process of its own, in the stack's environment.
"""

import os
import sys

import django

AT_ONCE = 200


def main(items: int, name: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ttsproject.settings")
    django.setup()
    from django.db import transaction

    from synth import wiring
    from synth.keys import rendition_key
    from synth.models.states import Priority
    from synth.service.submission import submit
    from synth.snapshot import load
    from synth.spec import read_request
    from tenants.models import ApiKey
    from tenants.types import Caller

    key = ApiKey.objects.select_related("tenant").get(tenant__slug="owner")
    caller = Caller(tenant=key.tenant.ref, key_id=key.id, scopes=frozenset(key.scopes))
    snapshot = load(key.tenant_id)
    assert snapshot is not None
    for start in range(0, items, AT_ONCE):
        with transaction.atomic():
            for number in range(start, min(start + AT_ONCE, items)):
                request = read_request({"text": f"Item {number} of {name}."}, snapshot, house=wiring.house())
                submit(
                    caller,
                    request,
                    key=rendition_key(request.spec),
                    max_units=400,
                    request_id="",
                    priority=Priority.BATCH,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
