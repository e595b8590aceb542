"""Engine cards: workers publish them, one version of an engine is current, snapshots and operators read them."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from synth import codec
from synth.models import EngineCardRow
from synth.models.clock import database_now
from synth.types import EngineCard
from tenants.versions import raise_versions

# A version whose workers were not seen for so long may lose its place to another one that is alive.
GONE_AFTER = timedelta(minutes=10)
AWAY_AFTER = timedelta(seconds=120)
# Each is one more key that a request is looked up under.
MOST_PREVIOUS = 2


def publish(card: EngineCard) -> None:
    """Tell of a loaded engine. Raises every snapshot version when what callers may ask for changes by it."""
    # Committed by itself: then of any two who publish at once one finds the other's row, and waits for it.
    row, _ = EngineCardRow.objects.get_or_create(name=card.name, model_version=card.model_version)
    with transaction.atomic():
        rows = _lock(card.name)
        before = _current(card.name)
        published = {"card": codec.to_json(card), "problem": "", "seen_at": database_now()}
        EngineCardRow.objects.filter(id=row.id).update(**published)
        EngineCardRow.objects.filter(name=card.name, model_version="", card={}).delete()  # a problem that is over
        for locked in rows:
            locked.seen_at = published["seen_at"] if locked.id == row.id else locked.seen_at
        _elect(rows)
        if _current(card.name) != before:
            raise_versions()


def _lock(name: str) -> list[EngineCardRow]:
    """Every row of an engine, locked once and in one order, so that two workers cannot block each other."""
    return list(EngineCardRow.objects.select_for_update().filter(name=name).order_by("id"))


def _current(name: str) -> dict[str, Any] | None:
    """The card that snapshots hold."""
    return EngineCardRow.objects.filter(name=name, current=True).values_list("card", flat=True).first()


def publish_problem(name: str, problem: str) -> None:
    """Tell that an engine could not be loaded, and why. An older card of it goes on being served."""
    updated = EngineCardRow.objects.filter(name=name, current=True).update(problem=problem)
    if not updated:
        EngineCardRow.objects.update_or_create(name=name, model_version="", defaults={"problem": problem})


def seen(name: str, model_version: str) -> None:
    """A worker of this version is alive."""
    EngineCardRow.objects.filter(name=name, model_version=model_version).update(seen_at=database_now())


def _elect(locked: list[EngineCardRow]) -> bool:
    """Make one version current: the newest whose workers live, else the newest that was ever seen.

    Returns whether it changed.
    """
    rows = [row for row in locked if row.seen_at]
    if not rows:
        return False
    alive_since = database_now() - GONE_AFTER
    alive = [row for row in rows if row.seen_at and row.seen_at >= alive_since]
    chosen = max(alive or rows, key=lambda row: row.created_at if alive else row.seen_at or row.created_at)
    if chosen.current:
        return False
    before = EngineCardRow.objects.filter(name=chosen.name, current=True)
    before.update(current=False, replaced_at=database_now(), remade_by=None)
    EngineCardRow.objects.filter(id=chosen.id).update(current=True, replaced_at=None, remade_by=None)
    return True


def reelect() -> None:
    """Called by the sweeper: give the place of versions whose workers are gone to those that live."""
    names = EngineCardRow.objects.order_by().values_list("name", flat=True).distinct()
    for name in list(names):
        with transaction.atomic():
            if _elect(_lock(name)):
                raise_versions()


def current_cards() -> tuple[EngineCard, ...]:
    rows = EngineCardRow.objects.filter(current=True).order_by("name")
    return tuple(codec.from_json(EngineCard, row.card) for row in rows)


def preference(card: EngineCard) -> tuple[int, str]:
    """The least comes first: of engines that can speak a text, and of voices with one name."""
    return card.priority, card.name


def previous_cards() -> dict[str, list[EngineCard]]:
    """By engine, those versions whose sounds may be served until they are made anew, the last one first."""
    found: dict[str, list[EngineCard]] = {}
    for row in EngineCardRow.objects.filter(replaced_at__isnull=False).order_by("-replaced_at", "-id"):
        cards = found.setdefault(row.name, [])
        if len(cards) < MOST_PREVIOUS:
            cards.append(codec.from_json(EngineCard, row.card))
    return found


def of_version(name: str, model_version: str) -> EngineCard | None:
    """The card that this version of an engine published last, whether or not it is current."""
    row = EngineCardRow.objects.filter(name=name, model_version=model_version).first()
    return codec.from_json(EngineCard, row.card) if row and row.card else None


def canaries_due(older_than: timedelta) -> Iterable[str]:
    """Engines whose workers were not heard of for so long: a bell tells whether they live."""
    rows = EngineCardRow.objects.filter(current=True, seen_at__lt=database_now() - older_than)
    return list(rows.values_list("name", flat=True))


def is_away(seen_at: datetime | None, now: datetime) -> bool:
    return seen_at is None or now - seen_at > AWAY_AFTER
