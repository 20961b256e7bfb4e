// Names of tools for people. The app's own labels come first, then the common ones, then the name spelled out.

import { humanName } from "./format.js";

const COMMON = {
  get_fridge_items: { en: "Look into the fridge", zh: "查看冰箱" },
  get_family: { en: "Look up the family", zh: "查看家庭" },
  get_members: { en: "Look up the members", zh: "查看成员" },
  get_preferences: { en: "Look up preferences", zh: "查看偏好与忌口" },
  get_recipes: { en: "Look through the recipes", zh: "查看菜谱" },
  search_recipes: { en: "Search the recipes", zh: "搜索菜谱" },
  get_weekly_menu: { en: "Look up the weekly menu", zh: "查看本周菜单" },
  get_nutrition: { en: "Look up nutrition", zh: "查询营养数据" },
  lookup_food: { en: "Look up a food", zh: "查询食物成分" },
  get_bmi: { en: "Work out the BMI", zh: "计算 BMI" },
  get_user_profile: { en: "Read the profile", zh: "读取档案" },
  get_profile: { en: "Read the profile", zh: "读取档案" },
  get_day_summary: { en: "Add up the day", zh: "汇总当天" },
  get_diet: { en: "Read the diet log", zh: "查看饮食记录" },
  get_workouts: { en: "Read the workout log", zh: "查看训练记录" },
  log_meal: { en: "Record a meal", zh: "记录饮食" },
  log_diet: { en: "Record a meal", zh: "记录饮食" },
  log_workout: { en: "Record a workout", zh: "记录训练" },
  log_weight: { en: "Record a weight", zh: "记录体重" },
  knowledge_retrieval: { en: "Search the knowledge base", zh: "检索知识库" },
  load_skill: { en: "Load instructions", zh: "加载技能说明" },
  get_incident: { en: "Read the incident", zh: "读取事件" },
  get_diagnostic: { en: "Read the diagnosis", zh: "读取诊断" },
  get_diagnostic_report: { en: "Read the diagnosis report", zh: "读取诊断报告" },
  start_diagnosis: { en: "Start a diagnosis", zh: "启动诊断" },
};

const FIELDS_ZH = {
  action: "操作", amount: "数量", carbs_g: "碳水（克）", comment: "备注", date: "日期", day: "日期", description: "说明", dish: "菜品", duration: "时长",
  entries: "条目", expires_on: "保质期", fat_g: "脂肪（克）", food: "食物", foods: "食物", grams: "克数", height_cm: "身高（厘米）", incident_id: "事件",
  item: "物品", items: "条目", kcal: "千卡", kind: "类型", meal: "餐次", minutes: "分钟", name: "名称", note: "备注", notes: "备注", pid: "进程号",
  protein_g: "蛋白质（克）", provenance: "来源类型", quantity: "数量", reason: "原因", recipe: "菜谱", servings: "份数", source: "来源", status: "状态",
  target: "目标", time: "时间", title: "标题", unit: "单位", value: "数值", weight_kg: "体重（公斤）", workout: "训练",
};

/** The name of an argument or a column for people: `app.fields` may hold `{name: {en, zh}}`. */
export function fieldLabel(name, { app, language }) {
  const label = app?.fields?.[name];
  if (label) return language.pick(label);
  return (language.code === "zh" ? FIELDS_ZH[name] : undefined) ?? humanName(name);
}

/** `app.tools` may hold `{name: {labels: {en, zh}}}`; a namespaced tool (`server.tool`, `server__tool`) is looked up by its last part too. */
export function toolLabel(tool, { app, language }) {
  const short = tool.split(/\.|__/).at(-1);
  return language.pick(app?.tools?.[tool]?.labels) || language.pick(COMMON[tool] ?? COMMON[short]) || humanName(short);
}
