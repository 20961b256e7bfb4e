"""The configuration page and the settings are one list."""

import re
import tomllib
from pathlib import Path

from yuzui.settings import Settings, load_settings

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "configuration.md").read_text("utf-8")
BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (?P<names>`[^|]+) \| (?P<defaults>[^|]+) \|", re.MULTILINE)


def test_the_page_names_every_setting_and_no_other() -> None:
    tables = [name for row in ROW.finditer(PAGE) for name in re.findall(r"`(\w+)`", row["names"])]
    reserved = re.findall(r"`(\w+)`", PAGE.partition("## Reserved")[2].partition(" are names")[0])
    assert sorted(tables + reserved) == sorted(Settings.model_fields)


def test_the_page_gives_the_numbers_that_are_set_by_default() -> None:
    defaults = Settings()
    checked = 0
    for row in ROW.finditer(PAGE):
        names, values = re.findall(r"`(\w+)`", row["names"]), row["defaults"].replace("`", "").split(", ")
        for name, value in zip(names, values, strict=True):
            held = getattr(defaults, name)
            if isinstance(held, int | float) and not isinstance(held, bool):
                assert float(value) == held, name
                checked += 1
    assert checked > 20


def test_the_page_s_example_is_accepted(tmp_path: Path) -> None:
    example = next(block for block in BLOCK.findall(PAGE) if "yuzui.toml" in block)
    file = tmp_path / "yuzui.toml"
    file.write_text(example, "utf-8")
    settings = load_settings(environ={}, file=file)
    assert settings.port == tomllib.loads(example)["port"]
    assert settings.apps == ("home-menu", "pantry:app")
