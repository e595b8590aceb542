"""Migrates the database that DATABASE_URL names and makes tenants in it; prints their tokens as JSON.

`databases.py` runs it as a process of its own.
"""

import json
import os

import django

SPARES = 5


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ttsproject.settings")
    django.setup()
    from django.core.management import call_command

    from tenants import service
    from tenants.scopes import ALL

    call_command("migrate", verbosity=0)

    def token(name: str) -> str:
        return service.issue_key(service.create_tenant(name), "tests", ALL)[1]

    spares = [token(f"spare{number}") for number in range(SPARES)]
    print(json.dumps({"owner": token("owner"), "stranger": token("stranger"), "spares": spares}))


if __name__ == "__main__":
    main()
