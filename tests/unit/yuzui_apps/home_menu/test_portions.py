"""Amounts in words as grams, with every rule beyond a plain weight named."""

import pytest

from yuzui_apps.home_menu.portions import Portion, portion

EGG = {"个": 50.0}
EGG_NAMES = ("鸡蛋", "egg", "eggs")


def _egg(text: str) -> Portion | None:
    return portion(text, pieces=EGG, known_as=EGG_NAMES)


@pytest.mark.parametrize(
    ("text", "grams"),
    [
        ("100克", 100), ("100 grams", 100), ("１００ｇ", 100), ("0.1公斤", 100), ("2两", 100), ("三两", 150), ("两两", 100), ("半斤", 250),
        ("两斤半", 1250), ("一百五克", 150), ("1,500克", 1500), ("兩公斤", 2000), ("1 lb", 453.6), ("500mg", 0.5), ("100 g of egg", 100),
    ],
)  # fmt: skip
def test_R_PROV_01_a_plain_weight_is_exact(text: str, grams: float) -> None:
    share = _egg(text)
    assert share is not None
    assert share.grams == pytest.approx(grams)
    assert (share.derived, share.assumption) == (False, None)


@pytest.mark.parametrize(("text", "grams"), [("两个鸡蛋", 100), ("2个", 100), ("3颗", 150), ("兩個", 100), ("2 eggs", 100), ("an egg", 50), ("两个半", 125), ("2 pieces", 100)])  # fmt: skip
def test_R_PROV_01_pieces_are_derived_and_name_their_weight(text: str, grams: float) -> None:
    share = _egg(text)
    assert share is not None
    assert share.grams == grams
    assert share.derived
    assert share.assumption is not None
    assert all("50" in note for note in share.assumption)


def test_R_PROV_01_a_slice_and_a_volume_are_derived() -> None:
    toast = portion("一片吐司", pieces={"片": 35.0})
    milk = portion("330 ml", pieces={}, g_per_ml=1.03)
    assert toast is not None
    assert milk is not None
    assert (toast.grams, toast.derived) == (35.0, True)
    assert (milk.grams, milk.derived) == (pytest.approx(339.9), True)


def test_R_PROV_01_a_number_without_a_unit_is_flagged_as_grams() -> None:
    share = _egg("100")
    assert share is not None
    assert (share.grams, share.derived) == (100.0, True)
    assert share.assumption == ("没有单位，按克计算", "no unit was given, taken as grams")


@pytest.mark.parametrize(
    "text",
    ["", "banana", "3勺糖", "100 furlongs", "2 grapes", "一碗", "330 ml", "0克", "-5克", "10-20克", "第2克", "12345678克", "999公斤", "几个", "鸡蛋"],
)  # fmt: skip
def test_R_PROV_01_an_unknown_amount_is_none_never_a_guess(text: str) -> None:
    assert _egg(text) is None


def test_R_PROV_01_a_volume_needs_the_foods_own_density() -> None:
    assert portion("100 ml", pieces={}) is None
    oil = portion("1升", pieces={}, g_per_ml=0.92)
    assert oil is not None
    assert (oil.grams, oil.derived) == (920.0, True)
