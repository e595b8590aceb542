"""`make manage ARGS='...'`: Django's command line with the environment that `make run` made for itself."""

import os
import sys

from dotenv import dotenv_values

from ttsproject.launch import environment


def main() -> None:
    variables = environment.read()
    made = dotenv_values(environment.var_directory(variables) / "run.env")
    if not made:
        sys.exit("There is no var/run.env yet: start Refrain once by `make run`.")
    known = {name: value for name, value in made.items() if value is not None}
    manage = str(environment.ROOT / "manage.py")
    os.execve(sys.executable, [sys.executable, manage, *sys.argv[1:]], {**known, **variables})  # noqa: S606


if __name__ == "__main__":
    main()
