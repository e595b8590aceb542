"""Of the versions of an engine one is current: the newest whose workers live. Snapshots change only when it does."""

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection

from synth import cards
from synth.models import EngineCardRow
from synth.models.clock import database_now
from tenants.models import Tenant
from tests.cards import COUNTING
from tests.world import Member

OLD = replace(COUNTING, model_version="old")
NEW = replace(COUNTING, model_version="new")

pytestmark = pytest.mark.django_db


def current() -> list[str]:
    return [card.model_version for card in cards.current_cards()]


def gone(card) -> None:
    long_ago = database_now() - cards.GONE_AFTER - timedelta(seconds=1)
    EngineCardRow.objects.filter(model_version=card.model_version).update(seen_at=long_ago)


@pytest.fixture
def version():
    tenant = Member.make("Owner").tenant
    return lambda: Tenant.objects.get(id=tenant.id).snapshot_version


def test_a_card_comes_back_as_it_was_published():
    cards.publish(OLD)
    assert cards.current_cards() == (OLD,)


def test_the_newest_version_is_current_and_a_restart_of_the_old_one_changes_nothing(version):
    cards.publish(OLD)
    cards.publish(NEW)
    before = version()
    cards.publish(OLD)
    cards.seen(OLD.name, OLD.model_version)
    cards.reelect()
    assert (current(), version()) == (["new"], before)


def test_a_version_without_workers_loses_its_place(version):
    cards.publish(OLD)
    cards.publish(NEW)
    gone(NEW)
    before = version()
    cards.reelect()
    assert (current(), version()) == (["old"], before + 1)


def test_it_gets_its_place_back_with_its_workers():
    cards.publish(OLD)
    cards.publish(NEW)
    gone(NEW)
    cards.reelect()
    cards.publish(NEW)
    assert current() == ["new"]


def test_when_all_workers_are_gone_the_last_one_stays():
    cards.publish(OLD)
    cards.publish(NEW)
    EngineCardRow.objects.filter(model_version="old").update(seen_at=database_now() - cards.GONE_AFTER * 3)
    gone(NEW)
    cards.reelect()
    assert current() == ["new"]


def test_versions_rise_only_when_a_caller_may_notice(version):
    first = version()
    cards.publish(OLD)
    assert version() == first + 1
    cards.publish(OLD)
    cards.seen(OLD.name, "old")
    cards.reelect()
    assert version() == first + 1
    cards.publish(replace(OLD, priority=7))
    assert version() == first + 2


def test_an_engine_that_fails_to_load_is_told_of_and_its_card_goes_on(version):
    cards.publish(OLD)
    before = version()
    cards.publish_problem(OLD.name, "no memory")
    assert (current(), version()) == (["old"], before)
    assert EngineCardRow.objects.get(current=True).problem == "no memory"
    cards.publish(OLD)
    assert EngineCardRow.objects.get(current=True).problem == ""


def test_an_engine_that_never_loaded_has_a_problem_and_no_card():
    cards.publish_problem("broken", "no module")
    cards.publish_problem("broken", "no weights")
    cards.reelect()
    assert current() == []
    assert EngineCardRow.objects.get(name="broken").problem == "no weights"


def test_its_problem_is_over_once_it_loads():
    cards.publish_problem(OLD.name, "no weights")
    cards.publish(OLD)
    assert list(EngineCardRow.objects.values_list("model_version", "problem")) == [("old", "")]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("published", [[OLD, NEW], [OLD, OLD], [NEW, OLD, NEW, OLD]], ids=len)
@pytest.mark.parametrize("known", [(), (OLD, NEW)], ids=["first", "known"])
def test_workers_may_publish_at_once(published, known):
    for card in known:
        cards.publish(card)
    for _ in range(8):
        if not known:
            EngineCardRow.objects.all().delete()
        together(published)
        assert len(current()) == 1
        assert set(EngineCardRow.objects.values_list("model_version", flat=True)) >= {
            c.model_version for c in published
        }


def together(published) -> None:
    barrier, errors = threading.Barrier(len(published)), []

    def work(card) -> None:
        try:
            barrier.wait(30)
            cards.publish(card)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(card,)) for card in published]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
