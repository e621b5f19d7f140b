// The words of a fleet in English and Simplified Chinese, besides those of both pages. A test compares them with openapi.yaml.

import { filled, GLYPHS, word } from "../common/words.js";

const EN = {
  verdicts: {
    up: "up", down: "down", partial: "partial", unreachable: "unreachable", unknown: "unknown", paused: "paused",
  },
  agentStates: { present: "present", lost: "silent", left: "left" },
  reasons: { agentSilent: "agent silent", tooFewVotes: "too few votes", unassigned: "no agent" },
  page: {
    fleet: "Fleet", replica: "served by {id}", agents: "Agents", matrix: "Who reaches whom", changes: "Changes",
    summary: "agents: {present} present, {lost} silent · replicas: {replicas}",
    engineAway: "This replica is not connected to the engine: the page shows the last state that it has read.",
    verdict: "Verdict", votes: "Votes", needed: "{down} for down, {minimum} for a verdict", from: "from {agents}",
    agent: "Agent", zone: "Zone", outbox: "Waiting", reached: "Reached by others", cells: "Its own checks",
    more: "{count} more; search for them", search: "Search: id, URL, label=value", noAgents: "No agent has reported yet.",
    noTargets: "No target is defined yet. Define one:", ofAgents: "Agents by agents", ofTargets: "Targets by agents",
    byZone: "By zones", asTable: "As a table", axes: "Columns: who checks. Rows: what is checked.", notChecked: "not checked", cell: "{from} → {to}: {state}",
    cellOf: "{from} → {to}: {state} ({count} of {of})", noCells: "Agents check each other when they have fleet.address.",
    hidden: "{columns} more columns, {rows} more rows", matrixLabel: "Matrix: {rows} rows, {columns} columns, {down} down",
    vantages: "Agents that check it", checkNow: "Check now from all agents", checking: "Checking …",
    changeVerdict: "{name}: {old} → {new}", changeAgent: "Agent {name}: {state}", defined: "Target {name} defined",
    deleted: "Target {name} deleted", announce: "{count} verdicts changed", noChanges: "No changes since the page was opened.",
    keyHelp: "/: search · Esc: close · arrows in the matrix: move", new: "new", problems: "Problems", countOf: "{count} of {of}",
    fromAgents: "from {count} of {of} agents, {zones}", zoneOne: "1 zone", zones: "{count} zones", namesAndMore: "{names} and {count} more",
    silentOne: "1 agent silent", silent: "{count} agents silent", noTargetsYet: "No targets yet", allProblems: "Show all {count}",
  },
};

const ZH = {
  verdicts: { up: "正常", down: "故障", partial: "部分故障", unreachable: "不可达", unknown: "未知", paused: "已暂停" },
  agentStates: { present: "在线", lost: "失联", left: "已离开" },
  reasons: { agentSilent: "代理失联", tooFewVotes: "有效票数不足", unassigned: "没有代理" },
  page: {
    fleet: "集群", replica: "由 {id} 提供", agents: "代理", matrix: "互达矩阵", changes: "变化",
    summary: "代理：{present} 在线，{lost} 失联 · 副本：{replicas}",
    engineAway: "此副本未连接到引擎：页面显示其最后读取的状态。",
    verdict: "判定", votes: "票数", needed: "判定故障需 {down} 票，得出判定需 {minimum} 票", from: "来自 {agents}",
    agent: "代理", zone: "区域", outbox: "待发送", reached: "其他代理能否到达", cells: "自身检查", more: "还有 {count} 个，请搜索",
    search: "搜索：标识、URL、标签=值", noAgents: "尚无代理上报。", noTargets: "尚未定义目标。定义一个：",
    ofAgents: "代理互查", ofTargets: "代理查目标", byZone: "按区域", asTable: "表格形式", axes: "列：检查者；行：被检查者。", notChecked: "未检查",
    cell: "{from} → {to}：{state}", cellOf: "{from} → {to}：{state}（{of} 个中 {count} 个）",
    noCells: "设置 fleet.address 后，代理会互相检查。", hidden: "另有 {columns} 列、{rows} 行",
    matrixLabel: "矩阵：{rows} 行，{columns} 列，{down} 个故障", vantages: "检查它的代理", checkNow: "立即从所有代理检查",
    checking: "正在检查…", changeVerdict: "{name}：{old} → {new}", changeAgent: "代理 {name}：{state}",
    defined: "已定义目标 {name}", deleted: "已删除目标 {name}", announce: "{count} 个判定有变化",
    noChanges: "页面打开以来没有变化。", keyHelp: "/：搜索 · Esc：关闭 · 矩阵中的方向键：移动", new: "新",
    problems: "问题", countOf: "{of} 个中 {count} 个", fromAgents: "{of} 个代理中的 {count} 个，{zones}", zoneOne: "1 个区域", zones: "{count} 个区域",
    namesAndMore: "{names}，以及另外 {count} 个", silentOne: "1 个代理失联", silent: "{count} 个代理失联", noTargetsYet: "尚无目标",
    allProblems: "显示全部 {count} 个",
  },
};

const FLEET_DICTIONARIES = { en: EN, zh: ZH };
let current = EN;

/** Uses the language that `selectLanguage` returned. */
export function useLanguage(name) { current = FLEET_DICTIONARIES[name]; }

/** A text of the page with values. */
export function fleetText(key, values = {}) { return filled(current.page[key] ?? key, values); }

/** A word of a list of this file; a value that it does not have is shown as it is. */
export function fleetWord(list, value) { return (Object.hasOwn(current[list], value) ? current[list][value] : value) ?? ""; }

export function verdictText(value) { return `${FLEET_GLYPHS[value]} ${fleetWord("verdicts", value)}`; }

export function reasonWord(value) { return (Object.hasOwn(current.reasons, value) ? current.reasons[value] : undefined) ?? word("reasons", value); }

/** The glyph of each verdict and state: colour is never the only sign. */
export const FLEET_GLYPHS = { ...GLYPHS, partial: "◐", present: "✔", lost: "?" };
