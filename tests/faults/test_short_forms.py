"""The short form of every row of the scoreboard: counts and outcomes, never speed."""

import json

import pytest

from tests.faults.rows import ROWS


@pytest.mark.faults
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.in_tests])
def test_row(name, make_stack, record_property):
    row = ROWS[name]
    figures = row.play(make_stack, seed=1, **row.short)
    record_property("figures", f"{name}: {json.dumps({figure: round(value, 3) for figure, value in figures.items()})}")
    assert row.broken(figures) == [], figures
