"""Every route says what it takes and gives."""

from fastapi.routing import APIRoute

from tests.web.sites import Site


def test_the_schema_has_every_route_with_what_it_takes_and_gives(page: Site) -> None:
    schema = page.get("/api/openapi.json").json()
    routes = [r for r in page.app.routes if isinstance(r, APIRoute) and r.include_in_schema]
    assert len(routes) == 16
    assert set(schema["paths"]) == {route.path for route in routes}
    for route in routes:
        ((verb, told),) = schema["paths"][route.path].items()
        assert {verb.upper()} == route.methods
        assert told["description"]
        given = told["responses"]["200"]["content"]
        if route.path == "/api/export":
            assert set(given) == {
                "text/html",
                "image/svg+xml",
                "application/json",
                "application/x-tex",
            }
        elif route.path == "/api/write":
            (kind,) = given
            assert kind == "application/x-ndjson"
            assert set(given[kind]["schema"]["properties"]) == {"answer", "is_done"}
        else:
            assert "$ref" in given["application/json"]["schema"]
        refusal = told["responses"]["4XX"]["content"]["application/json"]["schema"]["$ref"]
        name = refusal.rpartition("/")[2]
        assert set(schema["components"]["schemas"][name]["properties"]) == {"error", "kind"}
        if verb == "post":
            assert "$ref" in told["requestBody"]["content"]["application/json"]["schema"]
        assert "422" not in told["responses"]
