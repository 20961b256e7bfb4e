"""Content rules are checked when the app loads."""

import pytest

from yuzui.errors import DeclarationError
from yuzui.guard import Block, check_blocks


def _block(pattern: str, yes: tuple[str, ...] = (), no: tuple[str, ...] = ()) -> Block:
    return Block(reason="self_harm", pattern=pattern, answer_zh="热线", answer_en="hotline", yes=yes, no=no)


def test_R_SAFE_02_a_block_that_keeps_its_examples_is_accepted() -> None:
    check_blocks([_block("胸口(?:剧)?痛", yes=("我胸口剧痛",), no=("练胸日",))])


def test_R_SAFE_02_a_block_that_misses_its_example_is_refused() -> None:
    with pytest.raises(DeclarationError, match="'self_harm' does not match its example '头痛'"):
        check_blocks([_block("胸痛", yes=("头痛",))])


def test_R_SAFE_02_a_block_that_hits_its_counter_example_is_refused() -> None:
    with pytest.raises(DeclarationError, match="'self_harm' matches its counter-example '练胸痛快'"):
        check_blocks([_block("胸痛", no=("练胸痛快",))])


def test_R_SAFE_02_a_block_that_could_hang_is_refused() -> None:
    with pytest.raises(DeclarationError, match="bound its repetitions"):
        check_blocks([_block("(?:痛+)+!", yes=("痛痛!",))])
