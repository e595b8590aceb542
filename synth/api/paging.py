"""Every list is paged: jobs by a cursor, since rows come and go; what lives in memory by offset."""

from typing import Any

from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination, LimitOffsetPagination
from rest_framework.request import Request

from synth.fields import moment_of


class ByCursor(CursorPagination):
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200


class InOrder(ByCursor):
    """Lines of a list, by their numbers."""

    ordering = ("number",)


class NewestFirst(ByCursor):
    ordering = ("-created_at", "-id")

    def decode_cursor(self, request: Request) -> Any:
        """Refuses also a cursor that reads as one but holds no time: it would fail in the query."""
        cursor = super().decode_cursor(request)
        if cursor is not None and cursor.position is not None and moment_of(str(cursor.position)) is None:
            raise NotFound(self.invalid_cursor_message)
        return cursor


class ByOffset(LimitOffsetPagination):
    default_limit = 100
    max_limit = 500
