"""TTL rules as values: which one applies to a rendition, and why the others do not. Pure.

The snapshot carries the rules; service/speaking.py asks `retention` for every request, the admin asks `explain`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

# What `pinned` means in seconds. Well under the years since 1970: an entry whose audio is lost is dated there
# (service/endings.py), and must not look fresh.
FOREVER = 30 * 365 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What the rules say about one rendition. Seconds."""

    rule: str  # public id of the rule that applies, "" for the default
    max_age: float
    hot_hits: int = 0  # hot rule: at least this many hits ...
    hot_window: float = 0.0  # ... within this many seconds; 0 hits: no hot rule
    hot_factor: float = 1.0  # then max_age is multiplied ...
    hot_ceiling: float = 0.0  # ... up to this
    stale: float = 0.0  # seconds beyond max_age in which the old sound is served while it is made anew
    store: bool = True  # False: never cache
    pinned: bool = False  # never expires
    serve_old: bool = True  # at a new model version: the earlier one's sound, while it is made anew

    @property
    def hot_max_age(self) -> float:
        """The age that counts while the rendition is hot; a low ceiling never shortens the rule's own."""
        return max(self.max_age, min(self.max_age * self.hot_factor, self.hot_ceiling))

    @property
    def longest_age(self) -> float:
        """Up to this age a rendition is served at all, hot or not."""
        return self.hot_max_age + self.stale

    @property
    def last_age(self) -> float:
        """Up to this age a rendition that is not hot is served at all."""
        return self.max_age + self.stale


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What rules look at. `characters` are those of the normalised text."""

    category: str
    engine: str
    voice: str
    characters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One TTL rule. A matcher that is None matches anything; the lower `priority` comes first.

    `own`: the tenant's own, not one for all tenants. `id` is a public one, which sorts by the time it was made.
    `max_age` None means the deployment's default.
    """

    id: str
    own: bool
    priority: int
    enabled: bool = True
    category: str | None = None
    engine: str | None = None
    voice: str | None = None
    min_characters: int | None = None
    max_characters: int | None = None
    max_age: float | None = None
    hot_hits: int = 0
    hot_window: float = 0.0
    hot_factor: float = 1.0
    hot_ceiling: float = 0.0
    stale: float = 0.0
    store: bool = True
    pinned: bool = False
    serve_old: bool = True

    @property
    def rank(self) -> tuple[int, bool, str]:
        """Of the rules that match, the least rank wins: priority, then the tenant's own, then the older."""
        return (self.priority, not self.own, self.id)

    def matches(self, subject: Subject) -> bool:
        return (
            self.enabled
            and self.category in (None, subject.category)
            and self.engine in (None, subject.engine)
            and self.voice in (None, subject.voice)
            and (self.min_characters is None or self.min_characters <= subject.characters)
            and (self.max_characters is None or self.max_characters >= subject.characters)
        )


class WhyNot(StrEnum):
    """Why a rule does not apply. OUTRANKED: it matches, but another one comes first."""

    DISABLED = "disabled"
    CATEGORY = "category"
    ENGINE = "engine"
    VOICE = "voice"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    OUTRANKED = "outranked"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`why_not` holds every reason, and nothing for the one rule that applies."""

    rule: Rule
    matched: bool
    why_not: tuple[WhyNot, ...]

    @property
    def applies(self) -> bool:
        return not self.why_not


def retention(rules: Iterable[Rule], subject: Subject, default_max_age: float) -> Retention:
    """What the first matching rule says, whatever order the rules are given in."""
    rule = min((rule for rule in rules if rule.matches(subject)), key=lambda rule: rule.rank, default=None)
    if rule is None:
        return Retention(rule="", max_age=float(default_max_age))
    base = float(default_max_age) if rule.max_age is None else rule.max_age
    return Retention(
        rule=rule.id,
        max_age=FOREVER if rule.pinned else base,
        hot_hits=rule.hot_hits,
        hot_window=rule.hot_window,
        hot_factor=rule.hot_factor,
        hot_ceiling=rule.hot_ceiling,
        stale=rule.stale,
        store=rule.store,
        pinned=rule.pinned,
        serve_old=rule.serve_old,
    )


def explain(rules: Iterable[Rule], subject: Subject) -> list[Verdict]:
    """Every rule in the order in which they are tried, with what speaks against each."""
    verdicts: list[Verdict] = []
    found = False
    for rule in sorted(rules, key=lambda rule: rule.rank):
        against = _against(rule, subject)
        matched = not against
        verdicts.append(Verdict(rule, matched, (WhyNot.OUTRANKED,) if matched and found else against))
        found = found or matched
    return verdicts


def _against(rule: Rule, subject: Subject) -> tuple[WhyNot, ...]:
    held = {
        WhyNot.DISABLED: not rule.enabled,
        WhyNot.CATEGORY: rule.category not in (None, subject.category),
        WhyNot.ENGINE: rule.engine not in (None, subject.engine),
        WhyNot.VOICE: rule.voice not in (None, subject.voice),
        WhyNot.TOO_SHORT: rule.min_characters is not None and subject.characters < rule.min_characters,
        WhyNot.TOO_LONG: rule.max_characters is not None and subject.characters > rule.max_characters,
    }
    return tuple(reason for reason, holds in held.items() if holds)
