"""Savings are the characters that no engine spoke, times what the engine takes for one; days are UTC."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.engine_time import Rates, Use
from synth.hits import Hits
from synth.savings import Prices, Saved, Savings, savings, work_out
from tests.synth.savings.world import MONDAY, TUESDAY, WEDNESDAY, measured, moment, request
from tests.world import World, world  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
def priced(settings) -> None:
    """1.80 an hour and 400 W; hibari runs on a processor."""
    settings.REFRAIN = {
        **settings.REFRAIN,
        "CURRENCY": "EUR",
        "GPU_PRICE_PER_HOUR": {"": 1.8, "hibari": 0.036},
        "ENGINE_WATTS": {"": 400.0, "hibari": 20.0},
    }


@pytest.fixture
def small_world(world: World) -> World:  # noqa: F811
    """Kokoro takes 0.05 s a character, hibari 0.002 s."""
    measured(world.stranger.tenant, MONDAY, runs=10, characters=400, engine_seconds=20.0, audio_seconds=40.0)
    measured(world.owner.tenant, MONDAY, "hibari", runs=1, characters=500, engine_seconds=1.0, audio_seconds=50.0)
    owner = world.owner.tenant
    for characters in (100, 20):
        request(owner, moment(MONDAY), characters)
    request(owner, moment(MONDAY), 50, engine="hibari")
    request(owner, moment(TUESDAY), 40, outcome="restored")
    request(owner, moment(TUESDAY), 999, outcome="miss")
    request(world.stranger.tenant, moment(TUESDAY), 7)
    return world


def test_a_small_world_by_hand(small_world: World, priced) -> None:
    report = savings(MONDAY, WEDNESDAY, tenant=small_world.owner.ref)
    assert report.currency == "EUR"
    monday, tuesday, wednesday = report.days
    hibari, kokoro = monday.engines
    # 120 characters x 0.05 s = 6 s: 6/3600 x 1.80 = 0.003; 6 s x 400 W = 2400 Ws = 0.000667 kWh
    assert (kokoro.engine, kokoro.rate) == ("kokoro", pytest.approx(0.05))
    assert kokoro.saved == Saved(
        hits=2,
        characters=120,
        engine_seconds=Decimal("6.000"),
        engine_seconds_spent=Decimal("0.000"),
        cost=Decimal("0.003000"),
        energy=Decimal("0.000667"),
    )
    # 50 x 0.002 s = 0.1 s: 0.1/3600 x 0.036 = 0.000001; 0.1 s x 20 W = 2 Ws
    assert (hibari.saved.engine_seconds, hibari.saved.cost) == (Decimal("0.100"), Decimal("0.000001"))
    assert hibari.saved.engine_seconds_spent == Decimal("1.000")
    assert monday.saved.engine_seconds == Decimal("6.100")
    assert (tuesday.saved.hits, tuesday.saved.characters) == (1, 40)
    assert tuesday.saved.engine_seconds == Decimal("2.000")
    assert wednesday.saved == Saved()
    assert (report.total.hits, report.total.engine_seconds) == (4, Decimal("8.100"))


def test_all_tenants_together_have_the_sum_of_each(small_world: World, priced) -> None:
    each = [savings(MONDAY, TUESDAY, tenant=member.ref).total for member in (small_world.owner, small_world.stranger)]
    assert savings(MONDAY, TUESDAY).total == each[0] + each[1]
    assert each[1].hits == 1


def test_sentences_that_were_not_spoken_again_are_saved_too(small_world: World) -> None:
    measured(small_world.owner.tenant, MONDAY, reused_characters=200)
    (kokoro,) = (item for item in savings(MONDAY, MONDAY, tenant=small_world.owner.ref).days[0].engines[1:])
    assert kokoro.saved.reused_characters == 200
    assert kokoro.saved.engine_seconds == Decimal("16.000")  # (120 + 200) x 0.05 s


def test_days_are_utc(world: World) -> None:  # noqa: F811
    measured(world.owner.tenant, MONDAY, runs=1, characters=10, engine_seconds=1.0)
    request(world.owner.tenant, moment(MONDAY, 0, 0, 0), 1)
    request(world.owner.tenant, moment(MONDAY, 23, 59, 59), 2)
    request(world.owner.tenant, moment(TUESDAY, 0, 0, 0), 4)
    assert [day.saved.characters for day in savings(MONDAY, TUESDAY).days] == [3, 4]
    assert savings(MONDAY, MONDAY).total.characters == 3
    assert savings(TUESDAY, TUESDAY).total.characters == 4


def test_without_prices_money_and_energy_are_not_known(small_world: World) -> None:
    report = savings(MONDAY, TUESDAY)
    assert (report.currency, report.total.cost, report.total.energy) == (None, None, None)
    assert report.total.engine_seconds > 0


def test_an_engine_that_was_never_measured_saves_nothing_yet(world: World) -> None:  # noqa: F811
    request(world.owner.tenant, moment(MONDAY), 30, engine="new")
    (new,) = savings(MONDAY, MONDAY).days[0].engines
    assert (new.rate, new.saved.hits, new.saved.engine_seconds) == (None, 1, 0)


def test_what_is_told_of_a_day_does_not_depend_on_the_days_around_it(small_world: World, priced) -> None:
    long_after = MONDAY + timedelta(days=60)
    request(small_world.owner.tenant, moment(long_after), 10)
    measured(small_world.owner.tenant, long_after + timedelta(days=1), runs=1, characters=1, engine_seconds=9.0)
    whole = savings(MONDAY - timedelta(days=3), long_after + timedelta(days=2))
    for day in whole.days:
        assert savings(day.day, day.day).days == (day,), day.day


names = st.sampled_from(["kokoro", "hibari", "gpt"])
days = st.integers(0, 20).map(lambda number: MONDAY + timedelta(days=number))
amounts = st.integers(0, 100_000)
hit_counts = st.dictionaries(st.tuples(days, names), st.builds(Hits, hits=amounts, characters=amounts))
uses = st.dictionaries(
    st.tuples(days, names),
    st.builds(Use, characters=amounts, engine_seconds=st.floats(0, 1e6), reused_characters=amounts),
)
by_engine = st.dictionaries(st.sampled_from(["", "kokoro", "gpt"]), st.floats(0, 1e4))


@given(hit_counts, uses, by_engine, by_engine)
def test_totals_are_exactly_the_sum_of_days_and_days_of_engines(hits, used, prices, watts) -> None:
    rates = Rates(used)
    told = [
        work_out(day, hits=hits, uses=used, rates=rates, prices=Prices(per_hour=prices, watts=watts))
        for day in (MONDAY + timedelta(days=number) for number in range(21))
    ]
    total = Savings(MONDAY, MONDAY + timedelta(days=20), None, tuple(told)).total
    assert total.hits == sum(count.hits for count in hits.values())
    assert total.characters == sum(count.characters for count in hits.values())
    for name in ("engine_seconds", "cost", "energy"):
        parts = [getattr(item.saved, name) for day in told for item in day.engines]
        known = [part for part in parts if part is not None]
        assert getattr(total, name) == (sum(known) if known or name == "engine_seconds" else None)


@given(uses, days, names)
def test_a_rate_is_that_of_the_week_up_to_the_day(used, day: date, engine: str) -> None:
    week = [use for (at, name), use in used.items() if name == engine and day - timedelta(days=7) < at <= day]
    characters = sum(use.characters for use in week)
    rate = Rates(used).of(engine, day)
    if characters:
        assert rate == pytest.approx(sum(use.engine_seconds for use in week if use.characters) / characters)
    else:
        assert (rate is None) is not any(use.characters for (_, name), use in used.items() if name == engine)
