"""The WSGI entry point that Granian serves: Django, and before it the way of a hit."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ttsproject.settings")

_django = get_wsgi_application()

from synth.api.express import Express  # noqa: E402 - needs Django set up
from synth.memory import set_aside  # noqa: E402
from ttsproject import urls  # noqa: E402, F401 - loads every door now, not in the first request
from ttsproject.ending import dismiss_waiters_at_the_end  # noqa: E402

application = Express(_django)

dismiss_waiters_at_the_end()

set_aside()
