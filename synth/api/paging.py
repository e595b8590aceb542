"""Every list is paged: jobs by a cursor, since rows come and go; what lives in memory by offset."""

from rest_framework.pagination import CursorPagination, LimitOffsetPagination


class NewestFirst(CursorPagination):
    ordering = ("-created_at", "-id")
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200


class ByOffset(LimitOffsetPagination):
    default_limit = 100
    max_limit = 500
