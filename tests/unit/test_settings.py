from pathlib import Path

import pytest

from yuzui.errors import SettingsError
from yuzui.settings import Settings, load_settings


def test_defaults_are_those_of_the_requirements() -> None:
    settings = load_settings(environ={})
    assert settings.max_message_chars == 8_000  # R-SAFE-01
    assert settings.action_ttl_s == 900  # R-CONF-02
    assert settings.route_threshold == 0.6  # R-ROUTE-06
    assert settings.history_turns == 6  # R-CTX-01
    assert settings.host == "127.0.0.1"
    assert settings.model is None


def test_the_environment_wins_over_the_file_and_the_command_line_over_both(tmp_path: Path) -> None:
    file = tmp_path / "yuzui.toml"
    file.write_text('port = 1\nhost = "127.0.0.2"\nmodel = "openai:a"\n')
    settings = load_settings(environ={"YUZUI_PORT": "2", "YUZUI_HOST": "127.0.0.3"}, file=file, port=3, host=None)
    assert (settings.port, settings.host, settings.model) == (3, "127.0.0.3", "openai:a")


def test_an_unknown_variable_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(SettingsError, match=r"YUZUI_DATABSE_URL.*Did you mean YUZUI_DATABASE_URL"):
        load_settings(environ={"YUZUI_DATABSE_URL": "postgresql://x"})


def test_an_unknown_key_in_the_file_is_an_error_that_names_the_nearest(tmp_path: Path) -> None:
    file = tmp_path / "yuzui.toml"
    file.write_text("worker_concurency = 3\n")
    with pytest.raises(SettingsError, match=r"worker_concurency.*worker_concurrency"):
        load_settings(environ={}, file=file)


def test_variables_of_tests_and_of_others_are_let_alone() -> None:
    assert load_settings(environ={"YUZUI_TEST_DATABASE_URL": "x", "PATH": "/bin"}) == Settings()


def test_an_empty_variable_is_not_set() -> None:
    assert load_settings(environ={"YUZUI_MODEL": "", "YUZUI_PORT": ""}) == Settings()


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"YUZUI_PORT": "http"}, "YUZUI_PORT"),
        ({"YUZUI_PORT": "70000"}, "YUZUI_PORT"),
        ({"YUZUI_LEASE_S": "0"}, "YUZUI_LEASE_S"),
        ({"YUZUI_DEFAULT_TIMEZONE": "Mars/Olympus"}, "YUZUI_DEFAULT_TIMEZONE.*IANA"),
        ({"YUZUI_ROUTE_THRESHOLD": "1.5"}, "YUZUI_ROUTE_THRESHOLD"),
    ],
)
def test_a_bad_value_is_an_error_that_names_the_variable(environ: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        load_settings(environ=environ)


def test_a_file_that_is_not_toml_is_an_error_that_names_it(tmp_path: Path) -> None:
    file = tmp_path / "yuzui.toml"
    file.write_text("port: 1")
    with pytest.raises(SettingsError, match=r"yuzui\.toml is not valid TOML"):
        load_settings(environ={}, file=file)


def test_lists_in_the_environment_are_written_with_commas() -> None:
    settings = load_settings(environ={"YUZUI_APPS": "home-menu, my.module:app ,", "YUZUI_FALLBACK_MODELS": "a,b"})
    assert settings.apps == ("home-menu", "my.module:app")
    assert settings.fallback_models == ("a", "b")


def test_settings_cannot_be_changed_and_do_not_show_secrets() -> None:
    settings = load_settings(
        environ={"YUZUI_MODEL_API_KEY": "sk-very-secret", "YUZUI_DATABASE_URL": "postgresql://u:hidden@h/d"}
    )
    with pytest.raises(ValueError, match="frozen"):
        settings.port = 1
    assert "very-secret" not in repr(settings)
    assert "hidden" not in repr(settings)
