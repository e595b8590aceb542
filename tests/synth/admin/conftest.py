"""What the tests of the speech screens share."""

import pytest

from synth import wiring
from tests.world import world  # noqa: F401 - a fixture


@pytest.fixture(autouse=True)
def _store_of_its_own(settings, tmp_path):
    """Audio under the test's own folder, at addresses that Django's test client can follow."""
    options = {**settings.REFRAIN["STORAGE_OPTIONS"]}
    options["files"] = {**options["files"], "root": str(tmp_path / "audio"), "base_url": "http://testserver"}
    settings.REFRAIN = {**settings.REFRAIN, "STORAGE_OPTIONS": options}
    wiring.forget_parts()
    yield
    wiring.forget_parts()
