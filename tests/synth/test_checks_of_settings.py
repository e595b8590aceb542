"""Settings that cannot work together stop the start, with a sentence that names them."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"REFRAIN_HEARTBEAT": "10", "REFRAIN_LEASE": "15"}, "REFRAIN_HEARTBEAT is 10.0"),
        ({"REFRAIN_L2_EXPIRY": "60", "REFRAIN_CACHE_TTL": "61"}, "REFRAIN_L2_EXPIRY is 60"),
        ({"REFRAIN_STORAGE": "tape"}, "REFRAIN_STORAGE is 'tape': no extension 'tape'; there are: files, s3"),
        ({"REFRAIN_STORAGE": "s3"}, "REFRAIN_STORAGE is 's3': the S3 store needs the option bucket"),
        ({"REFRAIN_URL_SIGNING_KEY": "short"}, "REFRAIN_STORAGE is 'files': a signing key of the file store"),
        ({"REFRAIN_OPENAI_BASE_URL": "http://x", "REFRAIN_DEADLINE": "50"}, "REFRAIN_OPENAI_TIMEOUT is 50.0"),
        ({"REFRAIN_LEASE": "soon"}, "REFRAIN_LEASE is 'soon'; it takes a number"),
        ({"DATABASE_URL": "mysql://somewhere/x"}, "DATABASE_URL starts with 'mysql'"),
        ({"REFRAIN_SECRET_KEY_FILE": "/nowhere", "REFRAIN_SECRET_KEY": ""}, "REFRAIN_SECRET_KEY_FILE names /nowhere"),
    ],
)
def test_a_start_with_them_fails_and_says_which(variables: dict[str, str], named: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert named in done.stderr
