// The targets in the columns of /targets/overview.

/** The bits of `flags`. */
const PENDING = 1;
const FLAPPING = 2;

export function* targetsOf(columns) {
  const value = (name, index) => columns[name] ? columns[name][index] : null;
  for (let index = 0; index < columns.id.length; index += 1) {
    yield {
      id: columns.id[index], target: columns.target[index], state: columns.states[columns.state[index]],
      reason: columns.reasons[columns.reason[index]], labels: columns.labels[columns.label[index]],
      since: columns.since[index], isPending: (columns.flags[index] & PENDING) !== 0,
      isFlapping: (columns.flags[index] & FLAPPING) !== 0, latency: value("latency", index),
      dependency: columns.dependencies?.[value("dependency", index)] ?? null,
      uptime24: value("uptime24", index), uptime90: value("uptime90", index), spark: value("spark", index),
      bars24: value("bars24", index), bars90: value("bars90", index), series: null,
    };
  }
}
