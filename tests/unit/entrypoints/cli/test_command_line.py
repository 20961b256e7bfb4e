import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from yuzui import App, BoundedReact, Budget, Ctx, DirectRead
from yuzui.entrypoints.cli.composer import Given, LayerVerdict, Part, Serving
from yuzui.entrypoints.cli.main import run
from yuzui.errors import SettingsError, UnknownAppError, YuzuiError
from yuzui.owner import Locale


def notes() -> App[Any]:
    """An app with one read."""
    app: App[Any] = App(
        "notes",
        deps=lambda database: database,
        assets=Path(__file__).parent,
        suggestions={"zh": ["看看便条"], "en": ["show notes"]},
    )

    @app.read
    async def list_notes(ctx: Ctx[Any]) -> list[str]:
        """The notes."""
        return []

    app.intent("list", "Asks for the notes.", policy=DirectRead(list_notes, requires=("items",)))
    app.intent("chat", "Anything else.", policy=BoundedReact([list_notes], must_use=[list_notes], budget=Budget(model_calls=2, seconds=9)))  # fmt: skip
    return app


class FakeComposer:
    """Records what the commands ask, and answers as told."""

    def __init__(
        self, *, error: YuzuiError | None = None, parts: Sequence[Part] = (), applied: Sequence[str] = ()
    ) -> None:
        self.given: list[Given] = []
        self.worker = False
        self._error = error
        self._parts = parts
        self._applied = applied

    def serve(self, given: Given, *, worker: bool, ready: Callable[[Serving], None]) -> None:
        self._take(given)
        self.worker = worker
        ready(
            Serving(
                url="http://127.0.0.1:8123", apps=(notes(),), dev_tokens=True, demo=True, embedded=True, worker=worker
            )
        )

    def work(self, given: Given, ready: Callable[[str], None]) -> None:
        self._take(given)
        ready("working")

    def migrate(self, given: Given) -> Sequence[str]:
        self._take(given)
        return self._applied

    def diagnose(self, given: Given) -> Sequence[Part]:
        self._take(given)
        return self._parts

    def app(self, name: str) -> App[Any]:
        if name != "notes":
            raise UnknownAppError(f"there is no app {name!r}")
        return notes()

    def explain(self, app: App[Any], text: str, locale: Locale) -> Sequence[LayerVerdict]:
        return [LayerVerdict(layer="decision", intent="list", detail=f"{text} {locale}")]

    def _take(self, given: Given) -> None:
        self.given.append(given)
        if self._error is not None:
            raise self._error


def test_serve_prints_the_address_the_tokens_and_what_to_try(capsys: pytest.CaptureFixture[str]) -> None:
    composer = FakeComposer()
    assert run(composer, ["serve", "--app", "notes", "--app", "x.y:z", "--port", "8123", "--data-dir", "d"]) == 0
    shown = capsys.readouterr().out
    for text in ("http://127.0.0.1:8123/", "dev-alice", "dev-olga", "看看便条", "show notes", "demo answers"):
        assert text in shown
    assert composer.given == [Given(apps=("notes", "x.y:z"), port=8123, data_dir=Path("d"))]
    assert composer.worker is True


def test_serve_without_a_worker_says_how_to_start_one(capsys: pytest.CaptureFixture[str]) -> None:
    composer = FakeComposer()
    assert run(composer, ["serve", "--no-worker"]) == 0
    assert composer.worker is False
    assert "yuzui worker" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "status"), [(SettingsError("YUZUI_PORT: bad"), 2), (YuzuiError("Port 8000 is in use. Use --port"), 1)]
)
def test_a_known_fault_is_one_line_and_a_status_never_a_traceback(
    error: YuzuiError, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(FakeComposer(error=error), ["serve"]) == status
    shown = capsys.readouterr()
    assert error.detail in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""


@pytest.mark.parametrize(
    "arguments", [["nothing"], ["serve", "--port", "x"], ["serve", "--port", "70000"], ["route"], ["policy", "show"]]
)
def test_wrong_use_is_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(FakeComposer(), arguments) == 2
    capsys.readouterr()


def test_migrate_says_what_it_applied(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(FakeComposer(applied=["core/0001_pre_core"]), ["migrate"]) == 0
    assert "applied core/0001_pre_core" in capsys.readouterr().out
    assert run(FakeComposer(), ["migrate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"applied": []}


@pytest.mark.parametrize(("state", "status"), [("ok", 0), ("missing", 0), ("unreachable", 1), ("invalid", 1)])
def test_doctor_ends_with_1_only_when_a_configured_part_is_broken(
    state: Any, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    part = Part(name="database", state=state, detail="what", works="the rest", remedy="do this")
    assert run(FakeComposer(parts=[part]), ["doctor", "--json"]) == status
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is (status == 0)
    assert found["parts"][0]["remedy"] == "do this"
    assert run(FakeComposer(parts=[part]), ["doctor"]) == status
    shown = capsys.readouterr().out
    assert all(text in shown for text in ("database", state, "the rest", "do this"))


def test_R_POL_08_policy_show_prints_everything_the_app_may_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(FakeComposer(), ["policy", "show", "notes", "--json"]) == 0
    policies = {item["intent"]: item for item in json.loads(capsys.readouterr().out)}
    assert policies["list"]["mode"] == "direct_read"
    assert policies["chat"]["required_tools"] == ["list_notes"]
    assert policies["chat"]["policy_hash"]
    assert run(FakeComposer(), ["policy", "show", "notes"]) == 0
    shown = capsys.readouterr().out
    assert "list_notes*" in shown
    assert "2 model, 6 tool, 0 rewrite" in shown
    assert run(FakeComposer(), ["policy", "show", "other"]) == 1
    assert "there is no app 'other'" in capsys.readouterr().err


def test_R_ROUTE_11_route_explain_shows_each_layer(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(FakeComposer(), ["route", "explain", "看看便条", "--app", "notes", "--locale", "en", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"layer": "decision", "intent": "list", "detail": "看看便条 en"}]
    assert run(FakeComposer(), ["route", "explain", "x", "--app", "notes", "--locale", "fr"]) == 2
    capsys.readouterr()


def test_chat_without_a_server_says_how_to_start_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(FakeComposer(), ["chat", "hi", "--url", "http://127.0.0.1:9"]) == 1
    assert "yuzui serve" in capsys.readouterr().err


def _seconds(code: str) -> float:
    """The best of three runs of a fresh interpreter, above that of an empty one."""
    best: dict[str, float] = {}
    for text in ("pass", code):
        times: list[float] = []
        for _ in range(3):
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-c", text], check=True, capture_output=True)
            times.append(time.perf_counter() - begun)
        best[text] = min(times)
    return best[code] - best["pass"]


def test_the_public_root_is_imported_fast_and_starts_nothing() -> None:
    assert _seconds("import yuzui") < 0.3
    code = "import yuzui, sys; yuzui.App; bad = {'fastapi', 'psycopg', 'langchain', 'mcp', 'httpx2'} & set(sys.modules); assert not bad, bad"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_help_is_fast_and_loads_no_heavy_library() -> None:
    code = (
        "import sys; from yuzui.bootstrap import main; sys.argv = ['yuzui', '--help']; status = main();"
        " bad = {'fastapi', 'psycopg', 'langchain', 'mcp', 'httpx2', 'uvicorn'} & set(sys.modules);"
        " assert status == 0 and not bad, bad"
    )
    assert _seconds(code) < 1.0  # 0.5 s on an idle machine; this one may be shared


def test_every_public_name_has_a_home() -> None:
    import yuzui

    for name in yuzui.__all__:
        assert getattr(yuzui, name) is not None
    assert len(yuzui.__all__) <= 25
