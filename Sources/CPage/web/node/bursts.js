// Events of one kind that come together are one line of the timeline.

/** As many events of one kind are one line. */
const SMALLEST = 4;
/** The longest time between two events of a burst, in ms. */
const GAP = 2000;

/** The state before and after an event of a target, whether it is an event or an entry of the history. */
function changeOf({ type, data }) {
  if (type !== "target" || data.removed) return null;
  return `${data.from ?? ""} ${data.to} ${data.reason ?? ""}`;
}

/** Items of the timeline, the newest first; bursts are `{items}`, others are as they were. */
export function withBursts(items) {
  const result = [];
  for (let start = 0; start < items.length;) {
    const change = changeOf(items[start]);
    let end = start + 1;
    while (change !== null && end < items.length && changeOf(items[end]) === change && items[end - 1].time - items[end].time <= GAP) end += 1;
    if (end - start >= SMALLEST) result.push({ items: items.slice(start, end) });
    else result.push(...items.slice(start, end));
    start = end;
  }
  return result;
}

/** The id of the target of an item; null for events of other types. */
export function targetOf({ type, data }) {
  if (type !== "target") return null;
  return data.subject === undefined ? data.target.id : data.subject.slice("target:".length);
}

/** A filter of the timeline: its type, empty for all, and a test of targets; an event without a target has no words. */
export function timelineFilter(type, test, targets) {
  const machine = ["status", "path", "interface"];
  return (item) => {
    if (type === "machine" ? !machine.includes(item.type) : type !== "" && item.type !== type) return false;
    if (test === null) return true;
    const id = targetOf(item);
    return id !== null && test(targets.get(id) ?? { id, target: "", labels: {}, state: "removed" });
  };
}
