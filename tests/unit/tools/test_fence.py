"""What counts as the same call."""

from datetime import date
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from yuzui.model.json_values import is_items, is_mapping
from yuzui.testing.harness import read_tool
from yuzui.tools.context import Ctx
from yuzui.tools.fence import canonical_json, fingerprint, tool_call_key

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def _shuffled(value: Any) -> Any:
    if is_mapping(value):
        return {key: _shuffled(value[key]) for key in reversed(list(value))}
    return [_shuffled(item) for item in value] if is_items(value) else value


@given(JSON)
def test_key_order_never_matters_at_any_depth(value: Any) -> None:
    assert canonical_json(value) == canonical_json(_shuffled(value))


def test_R_FENCE_02_equal_values_have_one_form() -> None:
    assert canonical_json({"weight": 80}) == canonical_json({"weight": 80.0}) == canonical_json({"weight": Decimal(80)})
    assert canonical_json("ＢＭＩ　 指数") == canonical_json("BMI 指数")
    assert canonical_json(date(2026, 3, 1)) == canonical_json("2026-03-01")


def test_list_order_and_types_stay_significant() -> None:
    assert canonical_json([1, 2]) != canonical_json([2, 1])
    assert canonical_json("80") != canonical_json(80)
    assert canonical_json(True) != canonical_json(1)


async def _log(ctx: Ctx[Any], food: str, day: date, note: str = "") -> None:
    """Log."""


def test_defaults_are_filled_and_a_tool_may_declare_its_own_key() -> None:
    plain = read_tool(_log)
    make = plain.arguments
    bare = make(food="米饭", day=date(2026, 3, 1))
    noted = make(food="米饭", day=date(2026, 3, 1), note="")
    other = make(food="米饭", day=date(2026, 3, 1), note="加餐")
    assert fingerprint(plain, bare) == fingerprint(plain, noted) != fingerprint(plain, other)

    def own_key(arguments: Any) -> object:
        return arguments.food, arguments.day

    keyed = read_tool(_log, key=own_key)
    assert fingerprint(keyed, bare) == fingerprint(keyed, other)


def test_R_IDEM_01_the_call_key_is_stable_and_names_run_step_tool_and_arguments() -> None:
    tool = read_tool(_log)
    arguments = tool.arguments(food="米饭", day=date(2026, 3, 1))
    key = tool_call_key(run_id="run_1", step="1.0", tool=tool, arguments=arguments)
    assert key == tool_call_key(run_id="run_1", step="1.0", tool=tool, arguments=arguments)
    assert key != tool_call_key(run_id="run_2", step="1.0", tool=tool, arguments=arguments)
    assert key != tool_call_key(run_id="run_1", step="2.0", tool=tool, arguments=arguments)
