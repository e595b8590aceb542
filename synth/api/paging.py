"""Every list is paged: jobs by a cursor, since rows come and go; what lives in memory by offset."""

from datetime import UTC
from typing import Any

from django.utils.dateparse import parse_datetime
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination, LimitOffsetPagination
from rest_framework.request import Request


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
        if cursor is not None and cursor.position is not None and not _is_moment(str(cursor.position)):
            raise NotFound(self.invalid_cursor_message)
        return cursor


class ByOffset(LimitOffsetPagination):
    default_limit = 100
    max_limit = 500


def _is_moment(text: str) -> bool:
    try:
        moment = parse_datetime(text)
        return moment is not None and moment.tzinfo is not None and bool(moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return False
