// Names of tools for people. The app's own labels come first, then the common ones, then the name spelled out.

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

/** `app.tools` may hold `{name: {en, zh}}`; a namespaced tool (`server.tool`, `server__tool`) is looked up by its last part too. */
export function toolLabel(tool, { app, language }) {
  const short = tool.split(/\.|__/).at(-1);
  const label = app?.tools?.[tool] ?? COMMON[tool] ?? COMMON[short];
  if (label) return language.pick(label);
  const words = short.replace(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
