"""The request id of the running request, and the key scheme of the OpenAPI document."""

from concurrent.futures import ThreadPoolExecutor

from django.urls import path
from drf_spectacular.generators import SchemaGenerator
from rest_framework.views import APIView

import tenants.api.schema
from tenants.authentication import ApiKeyAuthentication
from tenants.context import current_request_id, new_request_id, request_id
from tenants.ids import parse_id


def test_request_ids_have_a_kind_and_sort_by_time():
    ids = [new_request_id() for _ in range(100)]
    assert all(parse_id("req", text) for text in ids)
    assert ids == sorted(set(ids))


def test_the_request_id_is_that_of_this_thread_only():
    token = current_request_id.set("req_1")
    try:
        assert request_id() == "req_1"
        with ThreadPoolExecutor(1) as other:
            assert other.submit(request_id).result() is None
    finally:
        current_request_id.reset(token)
    assert request_id() is None


def test_the_openapi_document_describes_the_key():
    class View(APIView):
        authentication_classes = [ApiKeyAuthentication]

        def get(self, request: object) -> None:
            """Nothing."""

    document = SchemaGenerator(patterns=[path("x", View.as_view())]).get_schema(public=True)
    scheme = document["components"]["securitySchemes"][tenants.api.schema.ApiKeyScheme.name]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert document["paths"]["/x"]["get"]["security"] == [{"apiKey": []}]
