"""The short form of every row of the scoreboard: counts and outcomes, never speed."""

import pytest

from tests.faults.rows import ROWS

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("name", ROWS)
def test_row(name, make_stack):
    row = ROWS[name]
    figures = row.play(make_stack, seed=1, **row.short)
    assert row.broken(figures) == [], figures
