"""A list costs as many queries with many rows as with few, and counts no table."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.synth.admin.pages import LISTS, list_of, page_of
from tests.synth.admin.rows import CHINESE, make_entry, make_work, publish_card
from tests.world import World

pytestmark = pytest.mark.django_db
# Session, user, the tenant that it is bound to, its second factors, the rows, the choices of two filters, the chosen
# tenant; the rest is room for Django's own.
MOST = 11


def queries(browser, address: str) -> list[str]:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert browser.get(address).status_code == 200
    return [query["sql"] for query in captured]


def make_rows(world: World, numbers: range) -> None:
    for number in numbers:
        for member in (world.owner, world.stranger):
            make_entry(member.tenant, f"{CHINESE}{number}")
            make_work(member.tenant, f"{CHINESE}{number}")


@pytest.mark.parametrize("model", LISTS)
def test_a_list_costs_the_same_with_more_rows(admin_client, world: World, model):
    publish_card()
    make_rows(world, range(1))
    few = queries(admin_client, list_of(model))
    make_rows(world, range(1, 6))
    publish_card(model_version="kokoro-2")
    many = queries(admin_client, list_of(model))
    assert len(many) == len(few) <= MOST


@pytest.mark.parametrize("model", [model for model in LISTS if model != "enginecardrow"])
@pytest.mark.parametrize("query", ["", "?q=天气"])
def test_no_table_is_counted(admin_client, world: World, model, query):
    make_rows(world, range(1))
    assert not [sql for sql in queries(admin_client, list_of(model) + query) if "COUNT(" in sql]


def test_the_pages_of_rows_are_bounded_too(admin_client, world: World):
    work = make_work(world.owner.tenant, CHINESE)
    for row in (work.job, work.rendering, work.syntheses[0]):
        assert len(queries(admin_client, page_of(row))) <= 12
