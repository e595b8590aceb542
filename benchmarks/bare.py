"""The emptiest Django that serves what is cached: no middleware, one GET or HGET of Redis. hit_cost.py starts it."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from redis import Redis

settings.configure(SECRET_KEY="of no use to anybody", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], MIDDLEWARE=[])

_redis = Redis.from_url(os.environ["BARE_REDIS_URL"])
_entry, _audio = os.environ["BARE_ENTRY"], os.environ["BARE_AUDIO"]


def entry(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        request.read()  # Granian closes a connection whose body nobody has read
    return HttpResponse(_redis.hget(_entry, "meta"), content_type="application/json")


def audio(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(_redis.get(_audio), content_type="audio/mpeg")


urlpatterns = [path("entry", entry), path("audio", audio)]
application = get_wsgi_application()
