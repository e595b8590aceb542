"""The laws of TTL rules as values: the first that matches applies, and the explanation says the same."""

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from synth.cache.policy import FOREVER, Rule, Subject, Verdict, WhyNot, explain, retention

DAY = 86_400
NAMES = st.sampled_from(["a", "b", "c"])
MAYBE = st.none() | NAMES
LENGTHS = st.none() | st.integers(0, 30)
SUBJECTS = st.builds(
    Subject, category=NAMES | st.just(""), engine=NAMES, voice=NAMES, characters=st.integers(min_value=1, max_value=30)
)
RULES = st.lists(
    st.builds(
        Rule,
        id=st.uuids().map(lambda value: f"pol_{value.hex}"),
        own=st.booleans(),
        priority=st.integers(0, 3),
        enabled=st.booleans(),
        category=MAYBE,
        engine=MAYBE,
        voice=MAYBE,
        min_characters=LENGTHS,
        max_characters=LENGTHS,
        max_age=st.none() | st.integers(1, 10 * DAY).map(float),
        hot_factor=st.floats(1, 10),
        hot_ceiling=st.integers(0, 20 * DAY).map(float),
        stale=st.integers(0, DAY).map(float),
        store=st.booleans(),
        pinned=st.booleans(),
    ),
    max_size=8,
    unique_by=lambda rule: rule.id,
)
ANYTHING = Rule(id="pol_0", own=True, priority=0, max_age=60.0)
SOMEONE = Subject(category="news", engine="kokoro", voice="zf_001", characters=5)


def applied(rules: list[Rule], subject: Subject) -> Rule | None:
    name = retention(rules, subject, DAY).rule
    return next((rule for rule in rules if rule.id == name), None)


@given(RULES, SUBJECTS, st.randoms(use_true_random=False))
def test_the_order_in_which_rules_are_given_changes_nothing(rules: list[Rule], subject: Subject, chance: random.Random):
    mixed = list(rules)
    chance.shuffle(mixed)
    assert retention(mixed, subject, DAY) == retention(rules, subject, DAY)
    assert explain(mixed, subject) == explain(rules, subject)


@given(RULES, SUBJECTS)
def test_what_applies_matches_and_nothing_that_matches_comes_before_it(rules: list[Rule], subject: Subject):
    winner = applied(rules, subject)
    matching = [rule for rule in rules if rule.matches(subject)]
    assert (winner is None) == (not matching)
    if winner is not None:
        assert winner in matching
        assert all(winner.rank <= rule.rank for rule in matching)


@given(RULES, SUBJECTS)
def test_a_rule_of_a_lower_number_that_matches_takes_over(rules: list[Rule], subject: Subject):
    first = replace(ANYTHING, priority=-1)
    assert applied([*rules, first], subject) == first


@given(RULES, SUBJECTS)
def test_a_rule_that_is_switched_off_is_as_good_as_none(rules: list[Rule], subject: Subject):
    enabled = [rule for rule in rules if rule.enabled]
    assert retention(rules, subject, DAY) == retention(enabled, subject, DAY)


@given(RULES, SUBJECTS)
def test_the_explanation_names_the_same_rule_and_a_reason_for_every_other(rules: list[Rule], subject: Subject):
    verdicts = explain(rules, subject)
    applying = [verdict.rule for verdict in verdicts if verdict.applies]
    winner = applied(rules, subject)
    assert applying == ([winner] if winner else [])
    assert sorted(verdict.rule.id for verdict in verdicts) == sorted(rule.id for rule in rules)
    assert all(verdict.matched == verdict.rule.matches(subject) for verdict in verdicts)


@given(RULES, SUBJECTS)
def test_ages_are_in_order(rules: list[Rule], subject: Subject):
    kept = retention(rules, subject, DAY)
    assert 0 < kept.max_age <= kept.hot_max_age
    assert kept.max_age <= kept.last_age


def test_without_a_rule_the_default_counts():
    kept = retention([], SOMEONE, DAY)
    assert (kept.rule, kept.max_age, kept.store, kept.pinned, kept.stale) == ("", DAY, True, False, 0)


def test_a_rule_without_a_ttl_takes_the_default():
    assert retention([replace(ANYTHING, max_age=None, stale=5)], SOMEONE, DAY).last_age == DAY + 5


def test_a_pinned_rule_outlasts_every_ttl():
    assert retention([replace(ANYTHING, max_age=None, pinned=True)], SOMEONE, DAY).max_age == FOREVER


def test_of_equal_priority_the_tenants_own_comes_first_then_the_older():
    others = [replace(ANYTHING, id=f"pol_{number}", own=False) for number in (1, 2)]
    own = [replace(ANYTHING, id=f"pol_{number}") for number in (4, 3)]
    assert [verdict.rule.id[-1] for verdict in explain([*others, *own], SOMEONE)] == ["3", "4", "1", "2"]


def test_every_matcher_that_fails_is_told():
    rules = [
        replace(ANYTHING, id="pol_1", priority=1, category="ads", voice="zm_010", min_characters=6),
        replace(ANYTHING, id="pol_2", priority=2, enabled=False, engine="hibari", max_characters=4),
        replace(ANYTHING, id="pol_3", priority=3, category="news"),
        replace(ANYTHING, id="pol_4", priority=4),
    ]
    first, second, third, fourth = explain(rules, SOMEONE)
    assert set(first.why_not) == {WhyNot.CATEGORY, WhyNot.VOICE, WhyNot.TOO_SHORT}
    assert set(second.why_not) == {WhyNot.DISABLED, WhyNot.ENGINE, WhyNot.TOO_LONG}
    assert third.applies
    assert fourth == Verdict(rules[3], matched=True, why_not=(WhyNot.OUTRANKED,))


def test_lengths_include_both_ends():
    rule = replace(ANYTHING, min_characters=5, max_characters=7)
    matching = [n for n in range(1, 10) if rule.matches(replace(SOMEONE, characters=n))]
    assert matching == [5, 6, 7]


def test_the_hot_ceiling_bounds_the_factor_and_never_shortens():
    kept = retention([replace(ANYTHING, hot_hits=3, hot_window=60, hot_factor=10, hot_ceiling=300)], SOMEONE, DAY)
    assert kept.hot_max_age == 300
    assert replace(kept, hot_ceiling=30).hot_max_age == 60
    assert replace(kept, hot_ceiling=6000).hot_max_age == 600
