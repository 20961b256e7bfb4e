"""Demo data for two families, so that isolation can be seen and every example works at once."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from yuzui import Database, load_queries, utc_now

_SQL = load_queries(Path(__file__).parent / "sql")

FAMILIES: tuple[dict[str, Any], ...] = (
    {
        "tenant": "family-a",
        "name": "江家",
        "members": (
            ("alice", "小江", [], ["清淡", "爱吃鱼"]),
            (None, "外婆", ["虾"], ["软烂"]),
            (None, "豆豆", ["花生"], ["爱吃番茄"]),
        ),
        "fridge": (
            ("鸡蛋", 8, "个", 9),
            ("番茄", 5, "个", 4),
            ("豆腐", 2, "盒", 3),
            ("猪肉", 500, "克", 2),
            ("牛奶", 1, "盒", 5),
            ("菠菜", 300, "克", 1),
            ("花生米", 200, "克", 60),
        ),
        "recipes": (
            ("番茄炒蛋", 15, (("番茄", 3, "个"), ("鸡蛋", 4, "个"), ("盐", 3, "克")), ("鸡蛋",), ("番茄切块，鸡蛋打散。", "先炒蛋盛出，再炒番茄出汁。", "回锅合炒，加盐。"), ("快手", "家常")),
            ("家常豆腐", 20, (("豆腐", 1, "盒"), ("猪肉", 100, "克"), ("酱油", 15, "毫升")), ("大豆",), ("豆腐切片煎黄。", "下肉片炒散，加酱油和水焖五分钟。"), ("家常",)),
            ("宫保鸡丁", 30, (("鸡胸肉", 300, "克"), ("花生米", 50, "克"), ("干辣椒", 5, "克")), ("花生",), ("鸡丁腌制。", "爆香干辣椒，滑炒鸡丁。", "出锅前下花生米。"), ("下饭",)),
            ("蒜蓉菠菜", 10, (("菠菜", 300, "克"), ("大蒜", 3, "瓣")), (), ("菠菜焯水。", "蒜末爆香，下菠菜快炒。"), ("快手", "素")),
            ("虾仁蒸蛋", 20, (("鸡蛋", 3, "个"), ("虾", 100, "克")), ("鸡蛋", "虾"), ("蛋液加温水过筛。", "上锅蒸八分钟，放虾仁再蒸三分钟。"), ("软烂",)),
        ),
        "plan": ((0, "dinner", "番茄炒蛋"), (1, "dinner", "家常豆腐"), (2, "lunch", "蒜蓉菠菜")),
    },
    {
        "tenant": "family-b",
        "name": "Baker household",
        "members": (("bob", "Bob", ["milk"], ["spicy"]), (None, "Mia", [], ["vegetarian"])),
        "fridge": (("potatoes", 1500, "g", 20), ("carrots", 6, "pieces", 12), ("tofu", 1, "box", 4), ("oat milk", 2, "boxes", 15)),
        "recipes": (
            ("potato curry", 35, (("potatoes", 600, "g"), ("carrots", 2, "pieces"), ("curry paste", 30, "g")), (), ("Dice the vegetables.", "Simmer with curry paste and water for 25 minutes."), ("vegetarian",)),
            ("mashed potatoes", 25, (("potatoes", 800, "g"), ("milk", 100, "ml")), ("milk",), ("Boil and mash the potatoes.", "Stir in warm milk."), ("side",)),
        ),
        "plan": ((0, "dinner", "potato curry"),),
    },
)  # fmt: skip


async def seed(db: Database) -> None:
    """Write the demo families; a family that exists is left as it is."""
    today = utc_now().date()
    for family in FAMILIES:
        if await db.row(_SQL["family_exists"], tenant=family["tenant"]):
            continue
        async with db.transaction() as tx:
            created = await tx.row(_SQL["create_family"], tenant=family["tenant"], name=family["name"])
            if created is None:
                continue
            key = created["id"]
            for username, name, allergies, preferences in family["members"]:
                await tx.execute(
                    _SQL["add_member"],
                    family=key,
                    username=username,
                    name=name,
                    allergies=allergies,
                    preferences=preferences,
                )
            for name, amount, unit, days in family["fridge"]:
                await tx.execute(
                    _SQL["add_item"],
                    family=key,
                    name=name,
                    amount=amount,
                    unit=unit,
                    expires_on=today + timedelta(days=days),
                )
            for name, minutes, ingredients, allergens, steps, tags in family["recipes"]:
                held = [{"name": n, "amount": a, "unit": u} for n, a, u in ingredients]
                await tx.execute(
                    _SQL["add_recipe"], family=key, name=name, minutes=minutes, ingredients=json.dumps(held, ensure_ascii=False),
                    allergens=list(allergens), steps=list(steps), tags=list(tags),
                )  # fmt: skip
            for days, meal, dish in family["plan"]:
                await tx.execute(_SQL["plan_dish"], family=key, day=today + timedelta(days=days), meal=meal, dish=dish)
