"""TTL rules in words: what one matches, how long it keeps, and why it does not apply. For the rules' two screens."""

from __future__ import annotations

from django.utils.translation import gettext, ngettext

from synth.cache.policy import Retention, Subject, Verdict, WhyNot
from synth.conf import conf
from synth.models import Policy

NEW_AT_ONCE = Policy.ModelChange.MAKE_NEW
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def duration(seconds: float) -> str:
    """The two largest units: 90061 -> 1 d 1 h."""
    left, parts = round(seconds), []
    for size, unit in UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"


def matched(policy: Policy) -> str:
    """What a rule looks for; `any request` where it has no matcher."""
    named = (
        (gettext("category"), policy.category),
        (gettext("engine"), policy.engine),
        (gettext("voice"), policy.voice),
    )
    parts = [f"{name} {wanted}" for name, wanted in named if wanted]
    if policy.min_characters is not None or policy.max_characters is not None:
        parts.append(_lengths(policy.min_characters, policy.max_characters))
    return ", ".join(parts) or gettext("any request")


def _lengths(least: int | None, most: int | None) -> str:
    if most is None:
        return gettext("%d characters or more") % (least or 0)
    if least is None:
        return gettext("%d characters or fewer") % most
    return gettext("%(least)d to %(most)d characters") % {"least": least, "most": most}


def kept(policy: Policy) -> str:
    """How long a rule keeps; the default is said as what it is now."""
    if policy.never_cache:
        return gettext("never cached")
    parts = [gettext("made anew at once when the model changes")] if policy.model_change == NEW_AT_ONCE else []
    if policy.pinned:
        return ", ".join([gettext("pinned: never expires"), *parts])
    default = gettext("%s by default") % duration(conf().cache_ttl)
    parts.insert(0, duration(policy.max_age) if policy.max_age else default)
    if policy.stale:
        parts.append(gettext("then served old for %s") % duration(policy.stale))
    if policy.hot_hits and policy.hot_window and policy.hot_ceiling:
        parts.append(_hot(policy.hot_hits, policy.hot_window, policy.hot_factor or 1.0, policy.hot_ceiling))
    return ", ".join(parts)


def _hot(hits: int, window: float, factor: float, ceiling: float) -> str:
    when = ngettext("from %(hits)d hit in %(window)s", "from %(hits)d hits in %(window)s", hits)
    said = gettext("%(factor)g times as long, up to %(ceiling)s,") % {"factor": factor, "ceiling": duration(ceiling)}
    return f"{said} {when % {'hits': hits, 'window': duration(window)}}"


def retained(retention: Retention) -> str:
    """The same of what applies, with every default worked out."""
    if not retention.store:
        return gettext("never cached")
    if retention.pinned:
        return gettext("pinned: never expires")
    parts = [duration(retention.max_age)]
    if retention.stale:
        parts.append(gettext("then served old for %s") % duration(retention.stale))
    if retention.hot_hits:
        parts.append(_hot(retention.hot_hits, retention.hot_window, retention.hot_factor, retention.hot_ceiling))
    return ", ".join(parts)


def reasons(verdict: Verdict, subject: Subject, winner: str) -> str:
    """Why a rule applies or not, in one line. `winner` is the name of the rule that applies."""
    if verdict.applies:
        return gettext("applies")
    return "; ".join(_reason(why, verdict, subject, winner) for why in verdict.why_not)


def _reason(why: WhyNot, verdict: Verdict, subject: Subject, winner: str) -> str:
    rule, characters = verdict.rule, subject.characters
    said: dict[WhyNot, tuple[str, object, object]] = {
        WhyNot.DISABLED: (gettext("it is switched off"), None, None),
        WhyNot.CATEGORY: (
            gettext("the category is %(is)s, not %(wanted)s"),
            subject.category or gettext("empty"),
            rule.category,
        ),
        WhyNot.ENGINE: (gettext("the engine is %(is)s, not %(wanted)s"), subject.engine, rule.engine),
        WhyNot.VOICE: (gettext("the voice is %(is)s, not %(wanted)s"), subject.voice, rule.voice),
        WhyNot.TOO_SHORT: (gettext("%(is)s characters are fewer than %(wanted)s"), characters, rule.min_characters),
        WhyNot.TOO_LONG: (gettext("%(is)s characters are more than %(wanted)s"), characters, rule.max_characters),
        WhyNot.OUTRANKED: (gettext("it matches, but %(is)s comes first"), winner, None),
    }
    sentence, value, wanted = said[why]
    return sentence % {"is": value, "wanted": wanted}
