import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import HTTPConnection

from yuzui.entrypoints.auth import (
    Defaults,
    HostAuthenticator,
    caller_of,
    dev_authenticator,
    is_loopback,
    key_authenticator,
    require_safe_bind,
)
from yuzui.errors import SettingsError, UnauthorizedError
from yuzui.owner import Caller, Owner, Role


def scope(
    token: str | None = None, *, server: Any = ("127.0.0.1", 8000), host: str = "127.0.0.1:8000", **headers: str
) -> Any:
    pairs = [(b"host", host.encode())]
    if token is not None:
        pairs.append((b"authorization", f"Bearer {token}".encode()))
    pairs.extend((name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items())
    return {"type": "http", "headers": pairs, "server": server}


@pytest.mark.parametrize(
    ("token", "tenant", "user", "role"),
    [
        ("dev-alice", "family-a", "alice", Role.USER),
        ("dev-bob", "family-b", "bob", Role.USER),
        ("dev-olga", "ops", "olga", Role.APPROVER),
        ("dev-root", "ops", "root", Role.ADMIN),
    ],
)
def test_R_AUTH_01_dev_tokens_name_four_people(token: str, tenant: str, user: str, role: Role) -> None:
    caller = dev_authenticator().identify(scope(token))
    assert caller.owner == Owner(tenant=tenant, user=user)
    assert role in caller.roles


@pytest.mark.parametrize(
    "headers",
    [[], [(b"authorization", b"Bearer")], [(b"authorization", b"Bearer  ")], [(b"authorization", b"Basic dev-alice")],
     [(b"authorization", b"dev-alice")], [(b"authorization", b"Bearer dev-alice2")], [(b"authorization", b"Bearer \xff")]],
)  # fmt: skip
def test_R_AUTH_01_anything_but_a_known_bearer_token_is_refused(headers: list[tuple[bytes, bytes]]) -> None:
    request = {"type": "http", "headers": [(b"host", b"localhost"), *headers], "server": ("127.0.0.1", 8000)}
    with pytest.raises(UnauthorizedError):
        dev_authenticator().identify(request)


@pytest.mark.parametrize("server", [("192.168.1.4", 8000), ("0.0.0.0", 8000), None, ("example.org", 80)])  # noqa: S104
def test_R_AUTH_01_dev_tokens_do_not_work_on_a_public_address(server: Any) -> None:
    with pytest.raises(UnauthorizedError, match="own address"):
        dev_authenticator().identify(scope("dev-root", server=server))


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "[::2]:8000"])
def test_R_AUTH_01_dev_tokens_do_not_work_under_a_foreign_host_name(host: str) -> None:
    with pytest.raises(UnauthorizedError, match="own address"):
        dev_authenticator().identify(scope("dev-root", host=host))


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1", "127.9.9.9:1", "[::1]:8000"])
def test_dev_tokens_work_under_every_loopback_name(host: str) -> None:
    assert dev_authenticator().identify(scope("dev-alice", host=host)).name == "Alice"


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "en"),
        ("en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("fr,en;q=0.4,zh;q=0.6", "zh"),
        ("fr", "zh"),
        ("en;q=0", "zh"),
        ("en;q=x", "zh"),
        ("", "zh"),
    ],
)
def test_R_API_03_the_locale_is_the_best_of_accept_language(language: str, expected: str) -> None:
    assert dev_authenticator().identify(scope("dev-alice", accept_language=language)).locale == expected


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("UTC", "UTC"),
        ("Nowhere/Land", "Asia/Shanghai"),
        ("../../etc/passwd", "Asia/Shanghai"),
        ("/etc/passwd", "Asia/Shanghai"),
        ("\x00", "Asia/Shanghai"),
        ("", "Asia/Shanghai"),
    ],
)
def test_R_API_03_the_zone_is_a_known_one_or_the_default(zone: str, expected: str) -> None:
    assert dev_authenticator().identify(scope("dev-alice", x_timezone=zone)).timezone == expected


def test_defaults_of_the_settings_reach_the_caller() -> None:
    caller = dev_authenticator(Defaults(locale="en", timezone="UTC")).identify(scope("dev-alice"))
    assert (caller.locale, caller.timezone) == ("en", "UTC")


def key_file(path: Path, **changes: Any) -> Path:
    entry = {"sha256": hashlib.sha256(b"yz-key-1").hexdigest(), "tenant": "acme", "user": "ann", "roles": ["approver"]}
    path.write_text(json.dumps({"keys": [entry | changes]}))
    return path


def test_R_AUTH_01_an_api_key_names_its_owner_and_roles(tmp_path: Path) -> None:
    authenticator = key_authenticator(key_file(tmp_path / "keys.json"))
    caller = authenticator.identify(scope("yz-key-1", server=("10.0.0.1", 80), host="api.example"))
    assert caller.owner == Owner(tenant="acme", user="ann")
    assert caller.roles == {Role.USER, Role.APPROVER}
    assert authenticator.dev_tokens is False
    with pytest.raises(UnauthorizedError):
        authenticator.identify(scope("dev-alice"))


def test_keys_may_be_written_in_toml(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    digest = hashlib.sha256(b"k").hexdigest()
    file.write_text(f'[[keys]]\nsha256 = "{digest}"\ntenant = "t"\nuser = "u"\nlocale = "en"\ntimezone = "UTC"\n')
    caller = key_authenticator(file).identify(scope("k"))
    assert (caller.name, caller.locale, caller.timezone, caller.roles) == ("u", "en", "UTC", frozenset({Role.USER}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sha256": "yz-key-1"}, "sha256"),
        ({"tenant": ""}, "tenant"),
        ({"roles": ["king"]}, "roles"),
        ({"timezone": "Mars"}, "IANA"),
        ({"key": "plain"}, "key"),
    ],
)
def test_a_bad_key_file_is_refused_by_name(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message) as refused:
        key_authenticator(key_file(tmp_path / "keys.json", **changes))
    assert "keys.json" in refused.value.detail


@pytest.mark.parametrize("text", ["", "{", "[]", '{"keys": []}'])
def test_a_key_file_without_a_key_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "keys.json"
    file.write_text(text)
    with pytest.raises(SettingsError, match=r"keys\.json"):
        key_authenticator(file)
    with pytest.raises(SettingsError, match="missing"):
        key_authenticator(tmp_path / "missing.json")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org", ""])  # noqa: S104
def test_R_AUTH_01_a_public_address_needs_configured_authentication(host: str) -> None:
    with pytest.raises(SettingsError, match="YUZUI_API_KEYS_FILE"):
        require_safe_bind(host, authenticated=False)
    require_safe_bind(host, authenticated=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.0.0.53"])
def test_a_loopback_address_needs_none(host: str) -> None:
    assert is_loopback(host)
    require_safe_bind(host, authenticated=False)


async def test_R_API_02_the_hosts_login_becomes_the_caller() -> None:
    ann = Caller(owner=Owner(tenant="acme", user="ann"), name="Ann", timezone="UTC")

    async def later(connection: HTTPConnection) -> Caller | None:
        return ann if connection.headers.get("x-user") == "ann" else None

    def now(connection: HTTPConnection) -> Caller | None:
        return ann if connection.headers.get("x-user") == "ann" else None

    for login in (later, now):
        authenticator = HostAuthenticator(login)
        assert await caller_of(authenticator, scope(x_user="ann")) == ann
        with pytest.raises(UnauthorizedError):
            await caller_of(authenticator, scope("dev-alice"))
