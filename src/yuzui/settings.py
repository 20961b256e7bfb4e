"""One frozen `Settings`: defaults, then `yuzui.toml`, then the environment, then the command line. The only reader of the environment.

Every number that a requirement names is a default here. Names are those of the public interface; a name nobody knows is an
error that names the nearest one, in the file and in the environment.
"""

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from yuzui.errors import SettingsError

PREFIX = "YUZUI_"
TEST_PREFIX = "YUZUI_TEST_"
FILE_NAME = "yuzui.toml"

Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class Settings(BaseModel):
    """What an operator may set. Times are in seconds unless the name says otherwise; sizes are in bytes or characters as named."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    # where things are
    database_url: str | None = Field(default=None, repr=False)  # none: embedded PostgreSQL under data_dir
    data_dir: Path = Path(".yuzui")
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    apps: tuple[str, ...] = ("home-menu",)  # names of installed apps, or module:attribute

    # models (none: demo mode)
    model: str | None = None
    model_base_url: str | None = None
    model_api_key: SecretStr | None = None
    fallback_models: tuple[str, ...] = ()
    classifier_model: str | None = None
    model_native_tools: bool = True

    # services that are optional
    embedding_url: str | None = None
    embedding_model: str | None = None
    rerank_url: str | None = None
    milvus_uri: str | None = None
    redis_url: str | None = Field(default=None, repr=False)
    prometheus_url: str | None = None
    otel_exporter_otlp_endpoint: str | None = None

    # who may come in
    api_keys_file: Path | None = None
    oidc_issuer: str | None = None
    default_locale: Literal["zh", "en"] = "zh"
    default_timezone: str = "Asia/Shanghai"

    # what one request may be
    max_message_chars: Count = 8_000  # R-SAFE-01
    max_body_bytes: Count = 1_048_576
    max_json_depth: Count = 32
    max_wait_s: Seconds = 120.0  # the largest `Prefer: wait=`
    page_limit: Count = 50
    max_page_limit: Count = 200

    # runs and their workers
    worker_concurrency: Count = 8
    heartbeat_s: Seconds = 5.0
    lease_s: Seconds = 30.0
    flush_ms: Seconds = 10.0
    poll_s: Seconds = 1.0
    shutdown_grace_s: Seconds = 10.0
    lost_client_grace_s: Seconds = 5.0  # R-RUN-06
    max_attempts: Count = 3  # R-RUN-04
    max_runs_per_caller: Count = 8  # R-RUN-07
    max_queued_runs: Count = 1_000
    history_turns: Count = 6  # R-CTX-01
    route_threshold: Annotated[float, Field(ge=0, le=1)] = 0.6  # R-ROUTE-06

    # confirmations
    action_ttl_s: Seconds = 900.0  # R-CONF-02
    confirm_wait_s: Seconds = 30.0

    # streams
    sse_heartbeat_s: Seconds = 15.0

    # the database
    pool_min_size: Count = 2
    pool_max_size: Count = 10
    pool_wait_s: Seconds = 5.0
    transaction_pooler: bool = False

    # keeping and logging
    retention_days: Count | None = None
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["console", "json"] = "console"

    @field_validator("apps", "fallback_models", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        """A list in the environment is written with commas."""
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("default_timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ValueError(f"{value!r} is not an IANA time zone such as Asia/Shanghai") from error
        return value

    @property
    def authenticated(self) -> bool:
        """Whether real credentials are configured; then no dev token works (R-AUTH-01)."""
        return self.api_keys_file is not None or self.oidc_issuer is not None


def load_settings(*, environ: Mapping[str, str] | None = None, file: Path | None = None, **given: Any) -> Settings:
    """The settings of this process. `given` (the command line) wins over the environment, that over the file; a `given`
    of None is not given. `file` defaults to `yuzui.toml` in the working directory, which may be missing.

    Raises `SettingsError` that names the file or variable, what is wrong, and for an unknown name the nearest one.
    """
    env = _from_environment(os.environ if environ is None else environ)  # noqa: TID251  this is the one place
    values: dict[str, Any] = {}
    where: dict[str, str] = {}
    layers: tuple[tuple[str, Mapping[str, Any]], ...] = (
        ("file", _from_file(file)),
        ("env", env),
        ("given", {name: value for name, value in given.items() if value is not None}),
    )
    for source, layer in layers:
        values |= layer
        where |= dict.fromkeys(layer, source)
    try:
        return Settings(**values)
    except ValidationError as error:
        problems = [_problem(item["loc"], item["msg"], where) for item in error.errors(include_url=False)]
        raise SettingsError("; ".join(problems)) from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    found = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and not name.startswith(TEST_PREFIX)
    }
    _refuse_unknown(found, "the environment", lambda name: f"{PREFIX}{name.upper()}")
    return {name: value for name, value in found.items() if value != ""}


def _from_file(file: Path | None) -> dict[str, Any]:
    path = file or Path(FILE_NAME)
    if file is None and not path.is_file():
        return {}
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from error
    _refuse_unknown(values, str(path), str)
    return values


def _refuse_unknown(names: Iterable[str], where: str, shown: Callable[[str], str]) -> None:
    known = Settings.model_fields
    problems: list[str] = []
    for name in names:
        if name in known:
            continue
        near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
        hint = f" Did you mean {shown(near[0])}?" if near else ""
        problems.append(f"{where} holds {shown(name)}, which is no setting.{hint}")
    if problems:
        raise SettingsError(" ".join(problems))


def _problem(loc: tuple[int | str, ...], message: str, where: Mapping[str, str]) -> str:
    name = str(loc[0]) if loc else "settings"
    match where.get(name):
        case "env":
            shown = f"{PREFIX}{name.upper()}"
        case "given":
            shown = f"--{name.replace('_', '-')}"
        case _:
            shown = f"{name} in {FILE_NAME}"
    return f"{shown}: {message.removeprefix('Value error, ')}"
