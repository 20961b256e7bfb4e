"""Who is asking: dev tokens, API keys, or the host's own login (R-AUTH-01). The credentials alone make the caller."""

import hashlib
import hmac
import inspect
import ipaddress
import json
import tomllib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.requests import HTTPConnection
from starlette.types import Scope

from yuzui.errors import SettingsError, UnauthorizedError
from yuzui.owner import Caller, Locale, Owner, Role

Authenticate: TypeAlias = Callable[[HTTPConnection], Caller | Awaitable[Caller | None] | None]
"""A host's own login: the caller of a connection, or None when nobody is signed in. Locale and zone it sets are kept."""

_USER: Final = frozenset({Role.USER})
DEV_TOKENS: Final[Mapping[str, Caller]] = MappingProxyType(
    {
        "dev-alice": Caller(owner=Owner(tenant="family-a", user="alice"), name="Alice", roles=_USER),
        "dev-bob": Caller(owner=Owner(tenant="family-b", user="bob"), name="Bob", roles=_USER),
        "dev-olga": Caller(owner=Owner(tenant="ops", user="olga"), name="Olga", roles=_USER | {Role.APPROVER}),
        "dev-root": Caller(owner=Owner(tenant="ops", user="root"), name="Root", roles=_USER | {Role.ADMIN}),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Defaults:
    """Locale and IANA time zone of a caller whose request names none (R-API-03)."""

    locale: Locale = "zh"
    timezone: str = "Asia/Shanghai"


class _Key(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    tenant: Annotated[str, Field(min_length=1)]
    user: Annotated[str, Field(min_length=1)]
    name: str | None = None
    roles: frozenset[Role] = _USER
    locale: Literal["zh", "en"] | None = None
    timezone: str | None = None


class _KeyFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    keys: list[_Key]


class TokenAuthenticator:
    """Bearer tokens, known by their SHA-256. Safe to share between requests; the file is read once.

    `dev` says that the tokens are the public dev tokens: they then work only on a loopback address with a loopback Host
    header, so that neither a public bind nor a page of another origin (DNS rebinding) can use them.
    """

    def __init__(self, callers: Mapping[str, Caller], *, dev: bool = False) -> None:
        self._callers = dict(callers)
        self._dev = dev

    @property
    def dev_tokens(self) -> bool:
        """Whether dev tokens are accepted."""
        return self._dev

    def __call__(self, connection: HTTPConnection) -> Caller:
        """The caller, or `UnauthorizedError`."""
        return self.identify(connection.scope)

    def identify(self, scope: Scope) -> Caller:
        """The caller of an ASGI scope, or `UnauthorizedError`. Makes no objects per request for a token seen before."""
        authorization = language = zone = host = b""
        for name, value in scope["headers"]:
            if name == b"authorization":
                authorization = value
            elif name == b"accept-language":
                language = value
            elif name == b"x-timezone":
                zone = value
            elif name == b"host":
                host = value
        if self._dev and not (_local_server(scope.get("server")) and _local_host(host)):
            raise UnauthorizedError("Dev tokens work on this machine's own address only (127.0.0.1 or localhost).")
        return localized(self._caller(authorization), language, zone)

    def _caller(self, authorization: bytes) -> Caller:
        scheme, _, token = authorization.partition(b" ")
        if scheme.lower() != b"bearer" or not token.strip():
            raise UnauthorizedError("Send 'Authorization: Bearer TOKEN'.")
        digest = hashlib.sha256(token.strip()).hexdigest()
        found: Caller | None = None
        for known, caller in self._callers.items():  # every key is compared, so that the time tells nothing
            if hmac.compare_digest(known, digest):
                found = caller
        if found is None:
            hint = f" Known here are: {', '.join(DEV_TOKENS)}." if self._dev else ""
            raise UnauthorizedError(f"The token is not known.{hint}")
        return found


class HostAuthenticator:
    """The login of the service that Yuzui is mounted into (R-API-02)."""

    dev_tokens = False

    def __init__(self, authenticate: Authenticate) -> None:
        self._authenticate = authenticate

    async def identify_async(self, scope: Scope) -> Caller:
        """The caller the host names, or `UnauthorizedError`."""
        found = self._authenticate(HTTPConnection(scope))
        caller = await found if inspect.isawaitable(found) else found
        if caller is None:
            raise UnauthorizedError
        return caller


Authenticator: TypeAlias = TokenAuthenticator | HostAuthenticator


async def caller_of(authenticator: Authenticator, scope: Scope) -> Caller:
    """The caller of a request, whichever way in; remembered on the scope so that it is asked once."""
    state: dict[str, Any] = scope.setdefault("state", {})
    known = state.get("yuzui.caller")
    if isinstance(known, Caller):
        return known
    if isinstance(authenticator, TokenAuthenticator):
        caller = authenticator.identify(scope)
    else:
        caller = await authenticator.identify_async(scope)
    state["yuzui.caller"] = caller
    return caller


def dev_authenticator(defaults: Defaults | None = None) -> TokenAuthenticator:
    """The four public identities for trying things out on one's own machine."""
    chosen = defaults or Defaults()
    callers = {
        hashlib.sha256(token.encode()).hexdigest(): replace(caller, locale=chosen.locale, timezone=chosen.timezone)
        for token, caller in DEV_TOKENS.items()
    }
    return TokenAuthenticator(callers, dev=True)


def key_authenticator(path: Path, defaults: Defaults | None = None) -> TokenAuthenticator:
    """API keys from a JSON or TOML file: `keys = [{sha256, tenant, user, name?, roles?, locale?, timezone?}]`.

    Raises `SettingsError` for a file that cannot be read or holds something else. Keys themselves are never in the file.
    """
    try:
        text = path.read_text("utf-8")
        raw = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        file = TypeAdapter(_KeyFile).validate_python(raw)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        problem = _first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise SettingsError(f"YUZUI_API_KEYS_FILE {path}: {problem}") from error
    if not file.keys:
        raise SettingsError(f"YUZUI_API_KEYS_FILE {path}: there is no key in it, so nobody could come in")
    fallback = defaults or Defaults()
    callers: dict[str, Caller] = {}
    for key in file.keys:
        zone = key.timezone or fallback.timezone
        if _zone(zone) is None:
            raise SettingsError(f"YUZUI_API_KEYS_FILE {path}: {zone!r} is not an IANA time zone")
        callers[key.sha256] = Caller(
            owner=Owner(tenant=key.tenant, user=key.user),
            name=key.name or key.user,
            roles=key.roles | _USER,
            locale=key.locale or fallback.locale,
            timezone=zone,
        )
    return TokenAuthenticator(callers)


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def is_loopback(host: str) -> bool:
    """Whether a bind address is reachable from this machine only."""
    if host in {"localhost", "localhost."}:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def require_safe_bind(host: str, *, authenticated: bool) -> None:
    """Refuse a public address without real credentials. Raises `SettingsError` that says what to do (R-AUTH-01)."""
    if authenticated or is_loopback(host):
        return
    raise SettingsError(
        f"Without configured authentication the server uses public dev tokens and must not listen on {host}. "
        "Set YUZUI_API_KEYS_FILE, or use --host 127.0.0.1."
    )


@lru_cache(maxsize=1024)
def localized(caller: Caller, language: bytes, zone: bytes) -> Caller:
    """The caller with the request's locale (`Accept-Language`) and zone (`X-Timezone`); what is not valid is not used."""
    locale = _locale(language.decode("latin-1"))
    wanted = _zone(zone.decode("latin-1").strip()) if zone else None
    if locale is None and wanted is None:
        return caller
    return replace(caller, locale=locale or caller.locale, timezone=wanted or caller.timezone)


def _locale(header: str) -> Locale | None:
    best: tuple[float, Locale] | None = None
    for part in header.split(","):
        tag, _, parameters = part.strip().partition(";")
        language = tag.split("-")[0].lower()
        quality = _quality(parameters)
        if language in ("zh", "en") and quality > 0 and (best is None or quality > best[0]):
            best = (quality, "zh" if language == "zh" else "en")
    return best[1] if best else None


def _quality(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


@lru_cache(maxsize=1024)
def _zone(name: str) -> str | None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
    return name


@lru_cache(maxsize=256)
def _local_host(header: bytes) -> bool:
    host = header.decode("latin-1").strip()
    name = host[: host.rfind("]") + 1] if host.startswith("[") else host.partition(":")[0]
    return is_loopback(name)


def _local_server(server: object) -> bool:
    if not isinstance(server, tuple | list):
        return False
    address = cast("Sequence[Any]", server)
    return bool(address) and _loopback_address(str(address[0]))


@lru_cache(maxsize=64)
def _loopback_address(address: str) -> bool:
    return is_loopback(address)
