"""A tenant's client: Django's own, with the tenant's key, and words for what the tests look at."""

from collections.abc import Iterable
from typing import Any

from django.http.response import HttpResponseBase

from tests.express import ExpressClient
from tests.world import Member

CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}
TEXT = "Hello there. How are you?"


class Caller:
    """`speak` never waits, since no worker runs, unless the body says otherwise."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self.client = ExpressClient(headers=member.headers)

    def get(self, path: str, query: dict[str, Any] | None = None, /, **headers: str) -> Any:
        return self.client.get(path, query, headers=_header_names(headers))

    def head(self, path: str, **headers: str) -> Any:
        return self.client.head(path, headers=_header_names(headers))

    def delete(self, path: str) -> Any:
        return self.client.delete(path)

    def speak(self, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None, **fields: Any) -> Any:
        payload = {"text": TEXT, "wait": 0, **(body or {}), **fields}
        return self.post(payload, headers=headers)

    def post(self, payload: Any, headers: dict[str, str] | None = None) -> Any:
        return self.client.post("/v1/speech", payload, content_type="application/json", headers=headers or {})

    def post_bytes(self, body: bytes, content_type: str = "application/json") -> Any:
        return self.client.generic("POST", "/v1/speech", body, content_type=content_type)


def problem(response: HttpResponseBase) -> dict[str, Any]:
    """The body of a refusal, once its form is seen to be right."""
    assert response["Content-Type"] == "application/problem+json", response.getvalue()
    body: dict[str, Any] = response.json()  # type: ignore[attr-defined]
    assert body["status"] == response.status_code
    assert body["type"] == f"urn:refrain:problem:{body['code']}"
    assert body["request_id"] == response["X-Request-Id"]
    assert body["title"]
    assert body["detail"]
    assert "%(" not in str(body)
    return body


def refused_fields(response: HttpResponseBase) -> dict[str, str]:
    """Field -> code of a 422."""
    body = problem(response)
    assert response.status_code == 422, body
    return {field["field"]: field["code"] for field in body["fields"]}


def content(response: Any) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def is_chinese(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)


def all_chinese(texts: Iterable[str]) -> bool:
    return all(map(is_chinese, texts))


def _header_names(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
