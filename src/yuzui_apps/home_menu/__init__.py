"""The home menu: a family's kitchen helper (document 1). This file is the whole declaration."""

import sys
from pathlib import Path

from yuzui import App, BoundedReact, Budget, Confirm, DirectRead
from yuzui_apps.home_menu import kitchen, rest, rules
from yuzui_apps.home_menu.nutrition import nutrition_text
from yuzui_apps.home_menu.seed import seed
from yuzui_apps.home_menu.services import Menu
from yuzui_apps.home_menu.slots import item_arguments, nutrition_arguments, recipe_arguments

app: App[Menu] = App(
    "home-menu",
    deps=Menu,
    assets=Path(__file__).parent,
    title={"zh": "小家菜单", "en": "Home menu"},
    engine="json",
    on_lost_client="cancel",
    suggestions={
        "zh": ["冰箱里有什么", "把两盒牛奶放进冰箱", "本周菜单", "猪肉的热量", "今天晚上做什么菜，家里有人对花生过敏"],
        "en": ["What's in the fridge?", "put two boxes of milk in the fridge", "show this week's menu", "nutrition of tofu", "What should we cook tonight?"],
    },
    seed=seed,
)  # fmt: skip
foods = app.mcp("food-composition", command=(sys.executable, "-m", "yuzui_apps.home_menu.foods"), only=["lookup_food"])

list_fridge = app.read(labels={"zh": "查看冰箱", "en": "Look into the fridge"})(kitchen.list_fridge)
family_profile = app.read(labels={"zh": "查看家人", "en": "Look up the family"})(kitchen.family_profile)
search_recipes = app.read(labels={"zh": "查找食谱", "en": "Search recipes"})(kitchen.search_recipes)
weekly_plan = app.read(labels={"zh": "查看菜单", "en": "Look at the plan"})(kitchen.weekly_plan)
nutrition = app.read(labels={"zh": "查询营养", "en": "Look up nutrition"})(kitchen.nutrition)
add_to_fridge = app.write(
    summary=kitchen.add_summary,
    check=kitchen.add_check,
    once=lambda a: (a.name, a.amount, a.unit, a.expires_on),
    labels={"zh": "放进冰箱", "en": "Put into the fridge"},
)(kitchen.add_to_fridge)
READS = [family_profile, list_fridge, nutrition, search_recipes, weekly_plan]

# fmt: off
app.intent("fridge", "Asks what is in the fridge.", rules=rules.FRIDGE,
           policy=DirectRead(list_fridge, requires=("items",), render=kitchen.fridge_text))
app.intent("family", "Asks who is in the family, or who is allergic to what.", rules=rules.FAMILY,
           policy=DirectRead(family_profile, requires=("members",), render=kitchen.family_text))
app.intent("plan", "Asks for the planned menu of a day or week.", rules=rules.PLAN,
           policy=DirectRead(weekly_plan, requires=("plan",), render=kitchen.plan_text))
app.intent("recipe", "Asks how a named dish is made.", rules=rules.RECIPE,
           policy=DirectRead(search_recipes, arguments=recipe_arguments, requires=("recipes",), render=kitchen.recipes_text))
app.intent("nutrition", "Asks for energy or nutrients of one named food.", rules=rules.NUTRITION,
           policy=DirectRead(nutrition, arguments=nutrition_arguments, requires=("kcal", "source"), render=nutrition_text))
# fmt: on
app.intent(
    "add_item",
    "States a food with an amount that should go into the fridge.",
    rules=rules.ADD_ITEM,
    policy=Confirm(add_to_fridge, arguments=item_arguments, question=kitchen.ADD_QUESTION),
)
app.intent(
    "suggest",
    "Wants an idea what to cook or eat, or advice that needs fridge, family, recipes, plan or nutrition.",
    rules=rules.SUGGEST,
    policy=BoundedReact(
        READS,
        must_use=[family_profile],
        may_propose=[add_to_fridge],
        review=kitchen.allergy_note,
        budget=Budget(model_calls=4, tool_calls=6, seconds=120),
    ),
)
app.intent(
    "chat",
    "Anything else: greetings, thanks, questions about this helper.",
    policy=BoundedReact([], budget=Budget(model_calls=2, tool_calls=0, seconds=60)),
)
rest.register(app)
