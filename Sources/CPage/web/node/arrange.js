// The lines of the list: targets, groups of one label, and targets behind another one, which are folded.

/** The lines before a group's name without a value. */
export const NO_VALUE = "";

/** A line is `{key, kind: "target", id, behind, isOpen, level}` or `{key, kind: "group", value, counts, isFolded}`. */
function targetLine(id, behind = 0, isOpen = false, level = 0) {
  return { key: id, kind: "target", id, behind, isOpen, level };
}

/** The targets with those that depend on one of them right after it, or left out while it is not in `opened`. */
function withDependents(targets, opened) {
  const present = new Set(targets.map(({ id }) => id));
  const behind = new Map();
  for (const { id, dependency } of targets) {
    if (!dependency || dependency === id || !present.has(dependency)) continue;
    if (!behind.has(dependency)) behind.set(dependency, []);
    behind.get(dependency).push(id);
  }
  if (behind.size === 0) return targets.map(({ id }) => targetLine(id));
  const hidden = new Set([...behind].flatMap(([, ids]) => ids));
  return targets.filter(({ id }) => !hidden.has(id)).flatMap(({ id }) => {
    const ids = behind.get(id) ?? [];
    const isOpen = ids.length > 0 && opened.has(id);
    return [targetLine(id, ids.length, isOpen), ...(isOpen ? ids.map((each) => targetLine(each, 0, false, 1)) : [])];
  });
}

/**
 * The lines for targets in their order. `group` is the name of a label, or empty; `folded` are the values whose targets are
 * left out, `opened` the ids of targets whose dependents are shown; `states` are all states, the most urgent first.
 */
export function arrange(targets, { group = "", folded = new Set(), opened = new Set(), states }) {
  if (group === "") return withDependents(targets, opened);
  const groups = new Map();
  // The first target of a group is its worst, so that the groups are in the order of their worst targets.
  for (const target of targets) {
    const value = target.labels[group] ?? NO_VALUE;
    if (!groups.has(value)) groups.set(value, []);
    groups.get(value).push(target);
  }
  const rank = (members) => states.indexOf(members[0].state);
  return [...groups].sort(([one, first], [other, second]) => rank(first) - rank(second)
    || (one === NO_VALUE) - (other === NO_VALUE) || (one < other ? -1 : 1)).flatMap(([value, members]) => {
    const counts = Object.fromEntries(states.map((state) => [state, 0]));
    for (const { state } of members) counts[state] += 1;
    const isFolded = folded.has(value);
    return [{ key: `\u0000${value}`, kind: "group", value, counts, isFolded, size: members.length },
      ...(isFolded ? [] : withDependents(members, opened))];
  });
}
