"""What `make run` sets for its processes is no more than what the user has not set, in whichever form."""

from pathlib import Path

import pytest

from ttsproject.launch.environment import complete


@pytest.mark.parametrize("name", ["REDIS_URL", "REDIS_URL_FILE"])
def test_a_redis_of_the_users_own_is_left_to_stand(tmp_path: Path, name: str) -> None:
    run = complete({"REFRAIN_VAR_DIR": str(tmp_path), name: "theirs"})
    assert run.redis_port is None
    assert {key: value for key, value in run.variables.items() if key.startswith("REDIS_URL")} == {name: "theirs"}


def test_without_one_it_is_the_embedded_server(tmp_path: Path) -> None:
    run = complete({"REFRAIN_VAR_DIR": str(tmp_path)})
    assert run.redis_port
    assert run.variables["REDIS_URL"] == f"redis://127.0.0.1:{run.redis_port}/0"
