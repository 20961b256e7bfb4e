"""The page's files: what is served, with which headers, and what is not (R-UI-01)."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from yuzui.entrypoints.http.page import page_routes


@pytest.fixture
def client() -> Iterator[TestClient]:
    """An application with nothing but the page."""
    with TestClient(Starlette(routes=page_routes())) as made:
        yield made


def test_R_UI_01_the_page_may_run_and_load_nothing_but_its_own_files(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_R_UI_01_the_html_holds_no_inline_script_style_or_handler(client: TestClient) -> None:
    html = client.get("/").text
    assert "<style" not in html
    assert " style=" not in html
    assert " on" not in html.replace(" one", "")
    assert html.count("<script") == 1
    assert '<script type="module" src="/assets/main.js"></script>' in html
    assert "http://" not in html
    assert "https://" not in html


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("main.js", "text/javascript; charset=utf-8"),
        ("base.css", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ],
)
def test_R_UI_01_each_file_has_its_type_and_the_same_policy(client: TestClient, name: str, media_type: str) -> None:
    answer = client.get(f"/assets/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == media_type
    assert answer.headers["cache-control"] == "no-cache"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_R_UI_01_every_file_the_page_names_is_served(client: TestClient) -> None:
    html = client.get("/").text
    named = [part.split('"')[0] for part in html.split('"/assets/')[1:]]
    assert len(named) >= 5
    assert [name for name in named if client.get(f"/assets/{name}").status_code != 200] == []


@pytest.mark.parametrize("known", ["{etag}", "W/{etag}", '"other", {etag}', "*"])
def test_R_UI_01_a_browser_with_the_same_copy_gets_no_body(client: TestClient, known: str) -> None:
    etag = client.get("/assets/main.js").headers["etag"]
    answer = client.get("/assets/main.js", headers={"If-None-Match": known.format(etag=etag)})
    assert answer.status_code == 304
    assert answer.content == b""
    assert answer.headers["etag"] == etag


def test_R_UI_01_another_copy_gets_the_file(client: TestClient) -> None:
    assert client.get("/", headers={"If-None-Match": '"0"'}).status_code == 200
    head = client.head("/")
    assert head.status_code == 200
    assert head.content == b""


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../settings.py",
        "/assets/..%2fsettings.py",
        "/assets/%2e%2e/settings.py",
        "/assets/..%5csettings.py",
        "/assets//etc/passwd",
        "/assets/main.js%00",
        "/assets/package.json",
        "/assets/index.html",
        "/assets/",
        "/assets/MAIN.JS",
    ],
)
def test_R_UI_01_no_path_leads_out_of_the_page_s_own_files(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "import" not in answer.text


def test_R_UI_01_the_page_cannot_be_written(client: TestClient) -> None:
    assert client.post("/", content=b"x").status_code == 405
    assert client.delete("/assets/main.js").status_code == 405
