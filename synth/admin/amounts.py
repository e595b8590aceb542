"""Amounts as people read them: counts, engine time, money and energy. For the dashboard and the savings' page."""

from __future__ import annotations

from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext

from synth.savings import Saved, Savings


def seconds_of(value: Decimal) -> str:
    """In the unit that a person would take."""
    for unit, size in ((gettext("h"), 3600), (gettext("min"), 60)):
        if value >= 2 * size:
            return f"{number(value / size, 1)} {unit}"
    return f"{number(value, 1)} {gettext('s')}"


def number(value: Decimal | float, places: int) -> str:
    """Rounded first: Django's own cuts off."""
    return number_format(round(Decimal(value), places), places, force_grouping=True)


def count(value: int) -> str:
    return number_format(value, force_grouping=True)


def money(saved: Saved, report: Savings) -> str | None:
    if saved.cost is None:
        return None
    return f"{number(saved.cost, 2 if saved.cost >= 1 else 4)} {report.currency}"


def energy(saved: Saved, report: Savings) -> str | None:  # noqa: ARG001 - the columns' signature
    if saved.energy is None:
        return None
    if saved.energy >= 1:
        return f"{number(saved.energy, 2)} kWh"
    return f"{number(saved.energy * 1000, 2)} Wh"
