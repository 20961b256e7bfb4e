"""Pending actions and the ledger of effects: what every store does."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.contract.stores_case import Stores
from tests.integration.heart_case import ALICE, BOB, answer, message

from yuzui.errors import FencedOutError, NotFoundError
from yuzui.runs.actions import PendingAction
from yuzui.runs.events import RunCancelled
from yuzui.runs.ids import new_id
from yuzui.runs.run import Claim, Ending


async def _claimed(stores: Stores) -> Claim:
    session = await stores.sessions.create(ALICE, "home-menu")
    accepted = await stores.runs.accept(message(session.id), claim=True)
    assert accepted.claim is not None
    return accepted.claim


def _action(claim: Claim, **changes: Any) -> PendingAction:
    now = datetime.now(UTC)
    action = PendingAction(
        id=new_id("act"),
        run_id=claim.run.id,
        session_id=claim.run.session_id,
        app=claim.run.app,
        owner=claim.run.owner,
        tool="add",
        arguments={"name": "豆腐", "grams": 300},
        summary="添加豆腐 300 克",
        digest="d",
        policy_hash="p",
        catalog_version="c",
        approval="self",
        status="pending",
        created_at=now,
        expires_at=now + timedelta(minutes=15),
    )
    return replace(action, **changes)


async def test_a_draft_is_kept_as_it_was_shown(stores: Stores) -> None:
    claim = await _claimed(stores)
    action = _action(claim)
    assert await stores.actions.create(action, token=claim.token) == action
    assert await stores.actions.get(ALICE.owner, action.id) == action


async def test_the_same_draft_of_one_run_is_one_row_for_a_restarted_attempt(stores: Stores) -> None:
    claim = await _claimed(stores)
    first = await stores.actions.create(_action(claim), token=claim.token)
    again = await stores.actions.create(_action(claim, arguments={"grams": 300, "name": "豆腐"}), token=claim.token)
    assert again.id == first.id
    other = await stores.actions.create(_action(claim, arguments={"name": "鸡蛋"}), token=claim.token)
    assert other.id != first.id


async def test_an_attempt_without_its_token_drafts_nothing(stores: Stores) -> None:
    claim = await _claimed(stores)
    with pytest.raises(FencedOutError):
        await stores.actions.create(_action(claim), token="another")
    found, _ = await stores.actions.list(ALICE.owner, status=None)
    assert list(found) == []


async def test_of_many_confirmations_one_begins(stores: Stores) -> None:
    claim = await _claimed(stores)
    action = await stores.actions.create(_action(claim), token=claim.token)
    begun = await asyncio.gather(
        *(stores.actions.begin(ALICE.owner, action.id, f"run_{n}", by="alice") for n in range(8))
    )
    winners = [item for item in begun if item is not None]
    assert len(winners) == 1
    assert winners[0].status == "executing"
    same = await stores.actions.begin(ALICE.owner, action.id, str(winners[0].result_run_id), by="alice")
    assert same == winners[0]
    audit = await stores.audit.read(ALICE.owner, claim.run.id)
    assert [(item["by"], item["decision"]) for item in audit["confirmations"]] == [("alice", "confirmed")]


async def test_a_confirmation_and_a_rejection_have_one_winner(stores: Stores) -> None:
    claim = await _claimed(stores)
    for _ in range(5):
        action = await stores.actions.create(_action(claim, arguments={"name": new_id("msg")}), token=claim.token)
        begun, rejected = await asyncio.gather(
            stores.actions.begin(ALICE.owner, action.id, "run_x", by="alice"),
            stores.actions.settle(action.id, frm="pending", to="rejected", by="alice"),
        )
        status = (await stores.actions.get(ALICE.owner, action.id)).status
        assert (begun is not None, rejected, status) in {(True, False, "executing"), (False, True, "rejected")}


async def test_an_expired_action_reads_as_expired_and_can_neither_begin_nor_be_rejected(stores: Stores) -> None:
    claim = await _claimed(stores)
    past = datetime.now(UTC) - timedelta(seconds=1)
    action = await stores.actions.create(_action(claim, expires_at=past), token=claim.token)
    assert (await stores.actions.get(ALICE.owner, action.id)).status == "expired"
    assert await stores.actions.begin(ALICE.owner, action.id, "run_x", by="alice") is None
    assert not await stores.actions.settle(action.id, frm="pending", to="rejected", by="alice")
    replacement = _action(claim, arguments={"name": "鸡蛋"})
    assert await stores.actions.supersede(ALICE.owner, action.id, replacement, by="alice") is None
    listed, _ = await stores.actions.list(ALICE.owner, status="expired")
    assert [item.id for item in listed] == [action.id]
    assert (await stores.actions.list(ALICE.owner, status="pending"))[0] == []


async def test_an_amended_action_gives_its_place_to_the_new_one(stores: Stores) -> None:
    claim = await _claimed(stores)
    action = await stores.actions.create(_action(claim), token=claim.token)
    replacement = _action(claim, arguments={"name": "豆腐", "grams": 150})
    assert await stores.actions.supersede(ALICE.owner, action.id, replacement, by="alice") == replacement
    old = await stores.actions.get(ALICE.owner, action.id)
    assert (old.status, old.superseded_by) == ("superseded", replacement.id)
    assert (await stores.actions.get(ALICE.owner, replacement.id)).arguments["grams"] == 150
    assert await stores.actions.begin(ALICE.owner, action.id, "run_x", by="alice") is None


async def test_every_transition_names_where_it_starts(stores: Stores) -> None:
    claim = await _claimed(stores)
    action = await stores.actions.create(_action(claim), token=claim.token)
    await stores.actions.begin(ALICE.owner, action.id, "run_x", by="alice")
    assert not await stores.actions.settle(action.id, frm="pending", to="expired", by="system")
    assert await stores.actions.settle(action.id, frm="executing", to="executed", by="alice", outcome={"text": "好"})
    assert not await stores.actions.settle(action.id, frm="executing", to="failed", by="alice")
    assert (await stores.actions.get(ALICE.owner, action.id)).outcome == {"text": "好"}


async def test_a_run_that_is_cancelled_takes_its_pending_action_along(stores: Stores) -> None:
    claim = await _claimed(stores)
    action = await stores.actions.create(_action(claim), token=claim.token)
    ending = Ending(event=RunCancelled(by="alice", reason="button"), status="cancelled")
    await stores.runs.attempt_log(claim).finish(ending)
    assert (await stores.actions.get(ALICE.owner, action.id)).status == "cancelled"
    accepted = await stores.runs.accept(message(claim.run.session_id), claim=True)
    assert accepted.claim is not None


async def test_another_owner_sees_and_moves_nothing(stores: Stores) -> None:
    claim = await _claimed(stores)
    action = await stores.actions.create(_action(claim), token=claim.token)
    with pytest.raises(NotFoundError):
        await stores.actions.get(BOB.owner, action.id)
    assert await stores.actions.begin(BOB.owner, action.id, "run_x", by="bob") is None
    assert await stores.actions.supersede(BOB.owner, action.id, _action(claim), by="bob") is None
    assert (await stores.actions.list(BOB.owner, status=None)) == ([], None)
    assert (await stores.actions.get(ALICE.owner, action.id)).status == "pending"


def _call(claim: Claim, key: str) -> dict[str, Any]:
    return {"key": key, "run_id": claim.run.id, "tool": "pay", "owner": ALICE.owner, "arguments": {"amount": 3}}


async def test_R_IDEM_01_a_key_is_fresh_once_and_its_result_is_reused(stores: Stores) -> None:
    claim = await _claimed(stores)
    entries = await asyncio.gather(*(stores.ledger.claim(**_call(claim, "k"), token=claim.token) for _ in range(6)))
    assert [entry.fresh for entry in entries].count(True) == 1
    await stores.ledger.settle("k", state="done", result={"value": 7})
    again = await stores.ledger.claim(**_call(claim, "k"), token=claim.token)
    assert (again.fresh, again.state, again.result) == (False, "done", {"value": 7})


async def test_R_IDEM_02_a_claim_whose_holder_is_gone_is_uncertain_and_never_fresh_again(stores: Stores) -> None:
    claim = await _claimed(stores)
    assert (await stores.ledger.claim(**_call(claim, "k"), token=claim.token)).fresh
    await stores.runs.hand_over(claim, "shutdown")
    with pytest.raises(FencedOutError):
        await stores.ledger.claim(**_call(claim, "k2"), token=claim.token)
    second = await stores.runs.claim(claim.run.id)
    assert second is not None
    entry = await stores.ledger.claim(**_call(second, "k"), token=second.token)
    assert (entry.fresh, entry.state) == (False, "uncertain")


async def test_R_IDEM_03_a_transactional_write_happens_once(stores: Stores) -> None:
    claim = await _claimed(stores)
    async with stores.ledger.transaction(**_call(claim, "t")) as first:
        assert first.earlier is None
        await first.done({"value": 1})
    async with stores.ledger.transaction(**_call(claim, "t")) as second:
        assert second.earlier is not None
        assert (second.earlier.state, second.earlier.result) == ("done", {"value": 1})


async def test_R_IDEM_03_a_write_that_fails_leaves_no_ledger_row(stores: Stores) -> None:
    claim = await _claimed(stores)
    with pytest.raises(ZeroDivisionError):
        async with stores.ledger.transaction(**_call(claim, "t")):
            raise ZeroDivisionError
    with pytest.raises(RuntimeError):
        async with stores.ledger.transaction(**_call(claim, "t")):
            pass
    async with stores.ledger.transaction(**_call(claim, "t")) as again:
        assert again.earlier is None
        await again.done({})


async def test_decision_4_an_ended_run_writes_nothing(stores: Stores) -> None:
    claim = await _claimed(stores)
    await stores.runs.attempt_log(claim).finish(answer(claim))
    with pytest.raises(FencedOutError):
        async with stores.ledger.transaction(**_call(claim, "t")) as opened:
            await opened.done({})
