"""What every test may use. Settings that a test run needs are set here, before Django reads them."""

import os

os.environ.setdefault("REFRAIN_SECRET_KEY", "tests-only-" + "x" * 50)
