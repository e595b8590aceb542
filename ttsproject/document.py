"""How the OpenAPI document is drawn from views; drf-spectacular finds this by the settings."""

from typing import Any

from drf_spectacular.openapi import AutoSchema


class Described(AutoSchema):
    """Judges by the 200 whether a view lists: with refusals described beside it, drf-spectacular takes one of those.

    Lists have the parameters of their pages by this.
    """

    def _is_list_view(self, serializer: Any = None) -> bool:
        if serializer is None:
            told = self.get_response_serializers()
            serializer = told.get(200) if isinstance(told, dict) else told
        return bool(super()._is_list_view(serializer))
