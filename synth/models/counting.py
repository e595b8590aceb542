"""Adds to rows that count, each made at its first count: whoever writes, and however many at once."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Model


def add_to(kind: type[Model], amounts: Mapping[str, float], **row: Any) -> None:
    """Add these amounts, by column, to the one row that `row` names. Called in a transaction."""
    rows = kind._default_manager.filter(**row)  # noqa: SLF001 - Django's name for it
    sums = {name: F(name) + amount for name, amount in amounts.items()}
    if rows.update(**sums):
        return
    try:
        with transaction.atomic():
            kind._default_manager.create(**row, **amounts)  # noqa: SLF001
    except IntegrityError:  # another process was faster
        rows.update(**sums)
