// The words of the page in English and Simplified Chinese. A test compares the keys with openapi.yaml: every state,
// reason and cause has both.

const EN = {
  states: { up: "up", down: "down", unreachable: "unreachable", unknown: "unknown", paused: "paused" },
  stateHints: {
    up: "The target answers.", down: "A path leads to the target, but it does not answer as expected.",
    unreachable: "This machine has no path to the target. This says nothing about the target itself.",
    unknown: "The check could not determine the state.", paused: "The target is not checked.",
  },
  flags: { pending: "unconfirmed", flapping: "flapping" },
  flagHints: {
    pending: "The last check contradicts the state; the next checks decide.", flapping: "The state changes often.",
  },
  machine: { reachable: "Reachable", notReachable: "Not reachable", unknown: "Unknown" },
  machineHints: {
    reachable: "This machine has a path to the network.", notReachable: "This machine has no path to the network.",
    unknown: "The state of this machine is not known yet.",
  },
  connectionTypes: { ethernetOrWiFi: "Ethernet or Wi-Fi", wwan: "mobile network" },
  reasons: {
    noRoute: "no route", unreachableRoute: "route of type unreachable", blackhole: "blackhole route",
    prohibited: "prohibited by a route or rule", linkDown: "link down", noSource: "no source address",
    notUnicast: "broadcast or multicast address",
    connectionRequired: "connection required", interventionRequired: "intervention required",
    unknownInterface: "unknown interface", dnsNotFound: "no such name", dnsServerFailure: "name server failed",
    dnsTimeout: "name server did not answer", resolverUnavailable: "resolver unavailable",
    networkUnreachable: "a router reports: network unreachable", hostUnreachable: "host unreachable",
    refused: "connection refused", connectTimeout: "connection timed out", reset: "connection reset",
    tlsHandshake: "TLS handshake failed", certificateExpired: "certificate expired",
    certificateUntrusted: "certificate not trusted", certificateNameMismatch: "certificate for another name",
    httpStatus: "unexpected HTTP status", httpBody: "unexpected content", bodyTooLong: "body too long", noReply: "no reply",
    packetLoss: "packet loss", slow: "slower than allowed", timeout: "timed out",
    policyDenied: "denied by the contact policy", descriptorLimit: "out of file descriptors", cancelled: "cancelled",
    starting: "starting", kernelUnavailable: "kernel unavailable",
  },
  causes: {
    linkUp: "link up", linkDown: "link down", renamed: "renamed", carrierGained: "carrier gained", carrierLost: "carrier lost",
    addressAdded: "address added", addressRemoved: "address removed", routeAdded: "route added",
    routeRemoved: "route removed", routeReplaced: "route replaced", routeExpired: "route expired",
    ruleChanged: "rule changed", nexthopChanged: "nexthop changed", neighbourChanged: "neighbour changed",
    dnsChanged: "addresses of the name changed", resync: "tables read again", resume: "resumed from sleep",
    configuration: "configuration", check: "check", restart: "restart",
  },
  history: {
    unknown: "unknown", notReachable: "not reachable", reachable: "reachable", usable: "usable", dormant: "dormant",
    linkDown: "link down", adminDown: "disabled", removed: "removed", up: "up", down: "down",
    unreachable: "unreachable", paused: "paused", running: "reachd started", stopped: "reachd stopped",
  },
  steps: {
    policy: "policy", link: "link", address: "address", route: "route", dns: "name", icmp: "ICMP", tcp: "TCP",
    tls: "TLS", answer: "answer",
  },
  phases: {
    resolve: "name", connect: "connect", tls: "TLS", processing: "processing", transfer: "transfer", rtt: "round trip",
  },
  units: { d: "d", h: "h", min: "min", s: "s" },
  page: {
    live: "live", notLive: "offline", noToken: "The page shows nothing until it has one.", dismiss: "Dismiss",
    connecting: "Connecting to {host} …", stillConnecting: "Still waiting for {host} …",
    disconnected: "Disconnected since {time}. The page shows the state of that time.",
    silent: "No data since {time}. The page shows the state of that time.",
    retryIn: "Next attempt in {seconds} s.", retryNow: "Connect now",
    missed: "{count} changes while disconnected", missedOne: "1 change while disconnected",
    gap: "The missed changes are not available any more: the current state was loaded.",
    since: "for {duration}", via: "via {gateway}", direct: "direct", thisMachine: "This machine",
    links: "Links that are down: {names}.", separator: ", ",
    noDefaultRoute: "All links are up, but there is no default route: see ip route.", moreInterfaces: "{count} more",
    fewerInterfaces: "fewer",
    interfaces: "Interfaces", timeline: "Timeline",
    targets: "Targets", search: "Search: id, URL, reason, label=value", noMatch: "No target matches.",
    showAll: "Show all targets",
    noSuchTarget: "No target has this id. It may have been removed.",
    noTargets: "No targets are registered yet. Three ways to begin:", noEvents: "No changes since the start.",
    yaml: "In the configuration file, then reload with SIGHUP:", curl: "Over HTTP:", command: "Once, on the command line:",
    copy: "Copy", access: "Token", copied: "Copied", state: "State", target: "Target", lastHour: "Last hour",
    day: "24 hours",
    latency: "Latency", latencyOrReason: "Latency or reason", availability: "Availability", reason: "Reason",
    close: "Close",
    checkNow: "Check now", pause: "Pause", resume: "Resume", diagnosis: "Diagnosis", barsTitle: "States, {window}",
    uptimeHint: "Availability counts the time up and down; time without a path is not counted.", lastCheck: "Last check",
    history: "History", interval: "every {time}", noHistory:
      "No history: start reachd with --data DIR to keep it.", noData: "no data", onlyFailures: "no successful check",
    token: "Access token",
    tokenNeeded: "This service requires a token with the scope {scope}.", tokenHint: "Create one with:",
    tokenPlain: "This connection is not encrypted: the token can be read in transit.", tokenUse: "Use token",
    tokenForget: "Forget token", error: "Request failed: {detail}", requestID: "Request id {id}",
    themeIs: "Colour scheme: {theme}", themeAuto: "automatic", themeLight: "light", themeDark: "dark", language: "Language",
    keys: "Keyboard",
    keyHelp: "j, k or arrows: next, previous target · Enter: open · Esc: close · /: search · l: timeline · ?: this help",
    from: "{from} → {to}", removed: "removed", interfaceRemoved: "removed", interfaceRenamed: "renamed to {name}",
    announce: "{name} is {state}", announceMany: "{count} targets changed",
    announceMachine: "This machine: {state}", pathChanged: "path changed", unclean: "without a shutdown", up: "up",
    min: "minimum", max: "maximum", median: "median",
    legend: "line: median · band: minimum to maximum · red strip: failed checks",
    pointText: "checks: {checks}, failed: {failed}", present: "now", labels: "Labels", notReached: "not tested",
    inspect: "arrow keys: values",
    barsText: "{name}: last 24 hours, {text}", available: "{share} available",
    window1h: "1 h", window24h: "24 h", window90d: "90 d", outageOne: "1 outage", outages: "{count} outages",
    menu: "Timeline",
  },
};

const ZH = {
  states: { up: "正常", down: "故障", unreachable: "不可达", unknown: "未知", paused: "已暂停" },
  stateHints: {
    up: "目标有响应。", down: "有路径到达目标，但其响应不符合预期。",
    unreachable: "本机没有到目标的路径。这不说明目标本身的状态。", unknown: "检查无法确定状态。", paused: "目标未被检查。",
  },
  flags: { pending: "待确认", flapping: "频繁波动" },
  flagHints: { pending: "最近一次检查与状态不符，由后续检查确定。", flapping: "状态频繁变化。" },
  machine: { reachable: "可达", notReachable: "不可达", unknown: "未知" },
  machineHints: {
    reachable: "本机有通往网络的路径。", notReachable: "本机没有通往网络的路径。", unknown: "本机的状态尚未确定。",
  },
  connectionTypes: { ethernetOrWiFi: "以太网或 Wi-Fi", wwan: "移动网络" },
  reasons: {
    noRoute: "无路由", unreachableRoute: "unreachable 类型的路由", blackhole: "黑洞路由", prohibited: "被路由或规则禁止",
    linkDown: "链路断开", noSource: "无源地址", notUnicast: "广播或组播地址", connectionRequired: "需要建立连接",
    interventionRequired: "需要人工干预",
    unknownInterface: "未知接口", dnsNotFound: "域名不存在", dnsServerFailure: "域名服务器出错",
    dnsTimeout: "域名服务器未响应", resolverUnavailable: "解析器不可用", networkUnreachable: "路由器报告：网络不可达",
    hostUnreachable: "主机不可达", refused: "连接被拒绝", connectTimeout: "连接超时", reset: "连接被重置",
    tlsHandshake: "TLS 握手失败", certificateExpired: "证书已过期", certificateUntrusted: "证书不受信任",
    certificateNameMismatch: "证书名称不符", httpStatus: "HTTP 状态码不符", httpBody: "内容不符", bodyTooLong: "正文过长", noReply: "无应答",
    packetLoss: "丢包", slow: "响应过慢", timeout: "超时", policyDenied: "策略禁止", descriptorLimit: "文件描述符耗尽",
    cancelled: "已取消", starting: "正在启动", kernelUnavailable: "内核不可用",
  },
  causes: {
    linkUp: "链路启用", linkDown: "链路停用", renamed: "重命名", carrierGained: "载波恢复", carrierLost: "载波丢失",
    addressAdded: "添加地址", addressRemoved: "删除地址", routeAdded: "添加路由", routeRemoved: "删除路由",
    routeReplaced: "替换路由", routeExpired: "路由过期", ruleChanged: "规则变化", nexthopChanged: "下一跳变化",
    neighbourChanged: "邻居变化", dnsChanged: "域名地址变化", resync: "重新读取", resume: "从睡眠恢复",
    configuration: "配置", check: "检查", restart: "重启",
  },
  history: {
    unknown: "未知", notReachable: "不可达", reachable: "可达", usable: "可用", dormant: "休眠", linkDown: "链路断开",
    adminDown: "已禁用", removed: "已移除", up: "正常", down: "故障", unreachable: "不可达", paused: "已暂停",
    running: "reachd 已启动", stopped: "reachd 已停止",
  },
  steps: {
    policy: "策略", link: "链路", address: "地址", route: "路由", dns: "域名", icmp: "ICMP", tcp: "TCP", tls: "TLS",
    answer: "应答",
  },
  phases: {
    resolve: "解析", connect: "连接", tls: "TLS", processing: "处理", transfer: "传输", rtt: "往返",
  },
  units: { d: "天", h: "小时", min: "分", s: "秒" },
  page: {
    live: "实时", notLive: "未连接", noToken: "提供令牌之前，页面不显示任何数据。", dismiss: "关闭提示",
    connecting: "正在连接 {host} …", stillConnecting: "仍在等待 {host} …",
    disconnected: "自 {time} 起断开。页面显示的是当时的状态。", silent: "自 {time} 起没有数据。页面显示的是当时的状态。",
    retryIn: "{seconds} 秒后重试。", retryNow: "立即连接", missed: "断开期间有 {count} 次变化",
    missedOne: "断开期间有 1 次变化", gap: "错过的变化已无法补发：已载入当前状态。", since: "已持续 {duration}",
    via: "经由 {gateway}", direct: "直连", thisMachine: "本机", links: "断开的链路：{names}。", separator: "，",
    noDefaultRoute: "所有链路均已启用，但没有默认路由：请查看 ip route。", moreInterfaces: "另有 {count} 个",
    fewerInterfaces: "收起",
    interfaces: "接口", timeline: "时间线", targets: "目标",
    search: "搜索：标识、URL、原因、标签=值", noMatch: "没有匹配的目标。", showAll: "显示所有目标",
    noSuchTarget: "没有此标识的目标，它可能已被移除。", noTargets: "尚未登记目标。三种开始方式：",
    noEvents: "启动以来没有变化。", yaml: "写入配置文件，再用 SIGHUP 重新加载：", curl: "通过 HTTP：",
    command: "在命令行检查一次：",
    copy: "复制", access: "令牌", copied: "已复制", state: "状态", target: "目标", lastHour: "最近一小时", day: "24 小时",
    latency: "延迟", latencyOrReason: "延迟或原因", availability: "可用率", reason: "原因", close: "关闭",
    checkNow: "立即检查", pause: "暂停",
    resume: "恢复", diagnosis: "诊断", barsTitle: "状态，{window}",
    uptimeHint: "可用率只计正常与故障的时间，不计本机无路径的时间。", lastCheck: "最近检查", history: "历史",
    interval: "每 {time}", noHistory: "没有历史：用 --data DIR 启动 reachd 以保存。", noData: "无数据",
    onlyFailures: "没有成功的检查",
    token: "访问令牌", tokenNeeded: "本服务需要具有 {scope} 权限的令牌。", tokenHint: "创建令牌：",
    tokenPlain: "此连接未加密：令牌可能在传输中被读取。", tokenUse: "使用令牌", tokenForget: "清除令牌",
    error: "请求失败：{detail}", requestID: "请求标识 {id}", themeIs: "配色：{theme}", themeAuto: "自动",
    themeLight: "浅色",
    themeDark: "深色", language: "语言", keys: "键盘",
    keyHelp: "j、k 或方向键：下一个、上一个目标 · Enter：打开 · Esc：关闭 · /：搜索 · l：时间线 · ?：帮助",
    from: "{from} → {to}",
    removed: "已移除", interfaceRemoved: "已移除", interfaceRenamed: "已重命名为 {name}", announce: "{name}：{state}",
    announceMany: "{count} 个目标有变化", announceMachine: "本机：{state}", pathChanged: "路径变化", unclean: "未正常关闭",
    up: "启用", min: "最小", max: "最大", median: "中位数",
    legend: "线：中位数 · 带：最小至最大 · 红条：失败的检查",
    pointText: "检查：{checks}，失败：{failed}", present: "现在", labels: "标签", notReached: "未检测",
    inspect: "方向键：查看数值", barsText: "{name}：最近 24 小时，{text}",
    available: "可用率 {share}", window1h: "1 小时", window24h: "24 小时",
    window90d: "90 天", outageOne: "1 次中断", outages: "{count} 次中断", menu: "时间线",
  },
};

export const DICTIONARIES = { en: EN, zh: ZH };

/** The glyph of each state: colour is never the only sign. */
export const GLYPHS = { up: "✔", down: "✖", unreachable: "⊘", unknown: "?", paused: "‖", pending: "◔", flapping: "↯" };

let current = EN;

/** Selects the language: a stored choice, else the first of the browser's languages that exists. */
export function selectLanguage(choice, preferred = []) {
  const known = [choice, ...preferred].map((tag) => String(tag || "").toLowerCase().split("-")[0]);
  const name = known.find((tag) => tag in DICTIONARIES) || "en";
  current = DICTIONARIES[name];
  return name;
}

/** A text of the page; `{name}` is replaced by the value of that name. */
export function text(key, values = {}) {
  return (current.page[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** A word of a list: state, reason, cause, step. A value that this page does not know is shown as it is. */
export function word(list, value) {
  return value === null || value === undefined ? "" : Object.hasOwn(current[list], value) ? current[list][value] : value;
}

/** The parts that are not empty, as a list. */
export function joined(parts) { return parts.filter(Boolean).join(current.page.separator); }

/** The names of the units of time. */
export function units() { return current.units; }
