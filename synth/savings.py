"""What hits saved: engine seconds, money and energy, by day and engine. Read by the API and the admin.

Estimates: the characters that no engine spoke, times what that engine takes for one. `engine_time` measures that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

from synth import engine_time
from synth.conf import conf
from synth.engine_time import Rates, Use
from synth.hits import Hits, hits_by_day
from tenants.types import TenantRef

SECONDS_PER_HOUR = 3600
WATT_SECONDS_PER_KWH = 3_600_000
TO_THE_MILLISECOND = Decimal("0.001")
TO_THE_MILLIONTH = Decimal("0.000001")
DEFAULT_DAYS = 30
MAX_DAYS = 366
# Far enough from the ends of the calendar to count some days on and back.
CALENDAR = (date(2000, 1, 1), date(2999, 12, 31))


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """Amounts that add up. Energy is kWh. Money and energy are None where no price, or no watts, are known.

    Each is rounded before it is added to others: a total is exactly the sum of what is shown.
    """

    hits: int = 0
    characters: int = 0
    reused_characters: int = 0
    engine_seconds: Decimal = Decimal(0)
    engine_seconds_spent: Decimal = Decimal(0)
    cost: Decimal | None = None
    energy: Decimal | None = None

    def __add__(self, other: Saved) -> Saved:
        names = (item.name for item in fields(self))
        return Saved(**{name: _sum(getattr(self, name), getattr(other, name)) for name in names})


def _sum(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return one + other


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Of an hour, and the watts, of each engine; the name '' is for those that have none of their own."""

    per_hour: Mapping[str, float]
    watts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SavedByEngine:
    """`rate` is engine seconds per character; None when the engine was never measured: then it saved nothing yet."""

    engine: str
    rate: float | None
    saved: Saved


@dataclass(frozen=True)
class DaySaved:
    day: date
    engines: tuple[SavedByEngine, ...]

    @cached_property
    def saved(self) -> Saved:
        return sum((item.saved for item in self.engines), Saved())


@dataclass(frozen=True)
class Savings:
    """Every day from the first to the last, in order. `currency` is None when no engine has a price."""

    first: date
    last: date
    currency: str | None
    days: tuple[DaySaved, ...]

    @cached_property
    def total(self) -> Saved:
        return sum((day.saved for day in self.days), Saved())


def period(first: date | None, last: date | None) -> tuple[date, date] | None:
    """The days that are meant, both included; None when they are too many, or in the wrong order."""
    last = last or datetime.now(UTC).date()
    if not all(CALENDAR[0] <= day <= CALENDAR[1] for day in (first or last, last)):
        return None
    first = first or last - timedelta(days=DEFAULT_DAYS - 1)
    return (first, last) if 0 <= (last - first).days < MAX_DAYS else None


def savings(
    first: date, last: date, *, tenant: TenantRef | None = None, hits: Mapping[tuple[date, str], Hits] | None = None
) -> Savings:
    """Of one tenant, or of all together; days are UTC, both ends included. `hits`: where they are known already."""
    hits = hits_by_day(first, last, tenant=tenant) if hits is None else hits
    uses = engine_time.by_day(first, last, tenant=tenant)
    rates = engine_time.rates({engine for _, engine in [*hits, *uses]}, first=first, last=last)
    prices = Prices(per_hour=conf().gpu_price_per_hour, watts=conf().engine_watts)
    days = tuple(work_out(day, hits=hits, uses=uses, rates=rates, prices=prices) for day in _days(first, last))
    return Savings(first, last, conf().currency if prices.per_hour else None, days)


def work_out(
    day: date,
    *,
    hits: Mapping[tuple[date, str], Hits],
    uses: Mapping[tuple[date, str], Use],
    rates: Rates,
    prices: Prices,
) -> DaySaved:
    """One day, by engine. Pure."""
    engines = sorted({engine for at, engine in [*hits, *uses] if at == day})
    found = [
        _of_engine(
            engine,
            rates.of(engine, day),
            hits=hits.get((day, engine), Hits()),
            use=uses.get((day, engine), Use()),
            prices=prices,
        )
        for engine in engines
    ]
    return DaySaved(day, tuple(found))


def _of_engine(engine: str, rate: float | None, *, hits: Hits, use: Use, prices: Prices) -> SavedByEngine:
    seconds = (hits.characters + use.reused_characters) * (rate or 0.0)
    saved = Saved(
        hits=hits.hits,
        characters=hits.characters,
        reused_characters=use.reused_characters,
        engine_seconds=_rounded(seconds, TO_THE_MILLISECOND),
        engine_seconds_spent=_rounded(use.engine_seconds, TO_THE_MILLISECOND),
        cost=_times(seconds / SECONDS_PER_HOUR, prices.per_hour, engine),
        energy=_times(seconds / WATT_SECONDS_PER_KWH, prices.watts, engine),
    )
    return SavedByEngine(engine, rate, saved)


def _times(amount: float, by_engine: Mapping[str, float], engine: str) -> Decimal | None:
    factor = by_engine.get(engine, by_engine.get(""))
    return None if factor is None else _rounded(amount * factor, TO_THE_MILLIONTH)


def _rounded(value: float, step: Decimal) -> Decimal:
    return Decimal(value).quantize(step)


def _days(first: date, last: date) -> list[date]:
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]
