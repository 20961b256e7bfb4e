"""Ids: kind, order, uniqueness."""

import re
from concurrent.futures import ThreadPoolExecutor

from yuzui.runs.ids import new_id


def test_an_id_carries_its_kind_and_24_characters() -> None:
    assert re.fullmatch(r"run_[0-9a-hjkmnp-tv-z]{24}", new_id("run"))


def test_ids_of_one_process_sort_in_the_order_they_were_made() -> None:
    ids = [new_id("msg") for _ in range(5000)]
    assert ids == sorted(set(ids))


def test_threads_never_make_the_same_id() -> None:
    def batch(count: int) -> list[str]:
        return [new_id("run") for _ in range(count)]

    with ThreadPoolExecutor(8) as pool:
        made = [item for ids in pool.map(batch, [500] * 8) for item in ids]
    assert len(set(made)) == len(made)
