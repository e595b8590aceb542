"""The dashboard's charts as data for Chart.js, which django-unfold draws: each knows the list of rows behind it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext

from synth.admin.misses import NAMES
from synth.dashboard import Figures
from synth.models import LatencyDay

What = LatencyDay.What
# Told apart in light and dark, and by people who see no red beside green. admin.css has the same for the legends.
COLOURS = ("#2563eb", "#d97706", "#0d9488", "#9333ea", "#dc2626", "#64748b")
MOST_SERIES = len(COLOURS)
TICKS = 8


@dataclass(frozen=True, slots=True)
class Series:
    """One line, or one colour of the bars."""

    label: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """`kind` is bar or line; `rows` the address of the rows behind it; `model` whose they are."""

    title: str
    kind: str
    labels: Sequence[str]
    series: Sequence[Series]
    unit: str
    model: str
    query: tuple[tuple[str, str], ...] = ()

    @property
    def data(self) -> str:
        sets = [self._set(number, series) for number, series in enumerate(self.series)]
        return json.dumps({"labels": list(self.labels), "datasets": sets})

    @property
    def legend(self) -> list[tuple[int, str]]:
        return [(number, series.label) for number, series in enumerate(self.series)]

    @property
    def is_empty(self) -> bool:
        return not any(value for series in self.series for value in series.values)

    @property
    def rows(self) -> str:
        address = reverse(f"admin:{self.model}_changelist")
        return f"{address}?{urlencode(self.query)}" if self.query else address

    def _set(self, number: int, series: Series) -> dict[str, Any]:
        shown = {"label": series.label, "data": list(series.values), "maxTicksXLimit": TICKS, "displayYAxis": True}
        colour = COLOURS[number]
        style = {"backgroundColor": colour, "borderColor": colour}
        if self.kind == "bar":
            style |= {"stack": "one"}
        else:
            shown |= {"spanGaps": True}
        return {**shown, **style, **({"suffixYAxis": self.unit} if self.unit else {})}


def of_days(found: Figures) -> list[Chart]:
    """Everything that is told by day."""
    return [_requests(found), _engine_time(found), *_latencies(found), _miss_reasons(found), _failures(found)]


def of_hours(samples: Sequence[tuple[datetime, dict[str, Any]]]) -> list[Chart]:
    """What was sampled: Redis' memory and the queues."""
    taken = samples[:: max(1, len(samples) // 240)]
    labels = [f"{at:%H:%M}" for at, _values in taken]
    engines = sorted({name for _at, values in taken for name in values.get("queues") or {}})
    queues = [
        Series(name, [((values.get("queues") or {}).get(name) or {}).get("waiting", 0) for _at, values in taken])
        for name in engines[:MOST_SERIES]
    ]
    used = [values["redis"]["used"] / 2**20 if values.get("redis") else None for _at, values in taken]
    memory = [Series(gettext("Memory of Redis"), [None if value is None else round(value, 1) for value in used])]
    return [
        Chart(
            title=gettext("Sentences waiting, by engine"),
            kind="line", labels=labels, series=queues, unit="", model="synth_synthesis",
            query=(("state__exact", "queued"),),
        ),
        Chart(
            title=gettext("Memory of Redis"),
            kind="line", labels=labels, series=memory, unit="MiB", model="synth_sample",
        ),
    ]  # fmt: skip


def _days(found: Figures) -> list[str]:
    return [f"{day:%m-%d}" for day in found.days]


def _requests(found: Figures) -> Chart:
    counted = [found.requests[day] for day in found.days]
    series = [
        Series(gettext("Hits"), [day.hits for day in counted]),
        Series(gettext("Others"), [day.requests - day.hits for day in counted]),
    ]
    return Chart(
        title=gettext("Requests"), kind="bar", labels=_days(found), series=series, unit="", model="tenants_usageday"
    )


def _engine_time(found: Figures) -> Chart:
    saved = [day.saved for day in found.savings.days]
    largest = max((day.engine_seconds + day.engine_seconds_spent for day in saved), default=0)
    size, unit = (3600, "h") if largest > 7200 else (60, "min") if largest > 120 else (1, "s")
    series = [
        Series(gettext("Saved"), [round(float(day.engine_seconds) / size, 3) for day in saved]),
        Series(gettext("Spent"), [round(float(day.engine_seconds_spent) / size, 3) for day in saved]),
    ]
    return Chart(
        title=gettext("Engine time"), kind="bar", labels=_days(found), series=series, unit=gettext(unit),
        model="synth_engineday",
    )  # fmt: skip


def _latencies(found: Figures) -> Iterable[Chart]:
    if not found.latency:
        return
    for what, title, factor, unit in (
        (What.HIT, gettext("Time of hits"), 1000, "ms"),
        (What.MISS, gettext("Time of misses"), 1, gettext("s")),
    ):
        series = [
            Series(name, [_scaled(found.latency_of(what, day).quantile(share), factor) for day in found.days])
            for name, share in ((gettext("Median"), 0.5), (gettext("95 of 100"), 0.95))
        ]
        yield Chart(
            title=title, kind="line", labels=_days(found), series=series, unit=unit, model="synth_latencyday",
            query=(("what__exact", what.value),),
        )  # fmt: skip


def _scaled(seconds: float | None, factor: float) -> float | None:
    return None if seconds is None else round(seconds * factor, 2)


def _miss_reasons(found: Figures) -> Chart:
    series = _most(found, lambda day: found.misses.get(day, Counter()), lambda reason: str(NAMES[reason]))
    return Chart(
        title=gettext("Misses, by reason"), kind="bar", labels=_days(found), series=series, unit="",
        model="synth_missday",
    )  # fmt: skip


def _failures(found: Figures) -> Chart:
    series = _most(found, lambda day: found.failures.get(day, Counter()), str)
    return Chart(
        title=gettext("Failures, by code"), kind="bar", labels=_days(found), series=series, unit="",
        model="synth_failureday",
    )  # fmt: skip


def _most(found: Figures, of: Callable[[date], Counter[str]], name: Callable[[str], str]) -> list[Series]:
    """The most frequent ones each with a colour of its own, the rest together."""
    total = sum((of(day) for day in found.days), Counter[str]())
    names = [key for key, _count in total.most_common()]
    shown = names if len(names) <= MOST_SERIES else names[: MOST_SERIES - 1]
    series = [Series(name(key), [of(day)[key] for day in found.days]) for key in shown]
    if len(shown) < len(names):
        rest = [sum(count for key, count in of(day).items() if key not in shown) for day in found.days]
        series.append(Series(gettext("Others"), rest))
    return series
