// The search of both pages: words and labels, and what completes them.

/** Names of labels may have a prefix with a slash, as in Kubernetes; URLs have a colon before their first slash. */
const LABEL = /^(?!\w+:\/\/)([^=\s]+)=(.*)$/s;
/** The suggestions at a time. */
const SUGGESTION_LIMIT = 12;

/** The lower-case content of an item, kept until another object takes its place. */
const contents = new WeakMap();

function contentOf(item, words) {
  let content = contents.get(item);
  if (content === undefined) {
    const labels = Object.entries(item.labels ?? {}).map((pair) => pair.join("="));
    content = [item.id, item.target, ...words(item), ...labels].filter(Boolean).join("\n").toLowerCase();
    contents.set(item, content);
  }
  return content;
}

/**
 * A filter from the text of a search field.
 *
 * Each word must occur in the id, the URL, the labels or `words(item)`, without regard to case. `env=prod` selects by label,
 * `env=` any value; where no item has a label of this name, it is a word as others.
 */
export function makeSearch(text, words = () => []) {
  const parts = text.toLowerCase().split(/[\s,]+/).filter((part) => part !== "");
  const labels = parts.map((part) => LABEL.exec(part)).filter(Boolean).map(([whole, name, value]) => ({ whole, name, value }));
  const plain = parts.filter((part) => !LABEL.test(part));
  return (item) => labels.every(({ whole, name, value }) => {
    const key = Object.keys(item.labels ?? {}).find((each) => each.toLowerCase() === name);
    if (key === undefined) return value !== "" && item.target.toLowerCase().includes(whole);
    return value === "" || String(item.labels[key]).toLowerCase() === value;
  }) && plain.every((part) => contentOf(item, words).includes(part));
}

/** The names of the labels with their values, sorted: a map of sorted lists. */
export function labelsOf(items) {
  const names = new Map();
  for (const { labels } of items) {
    for (const name in labels) {
      if (!names.has(name)) names.set(name, new Set());
      names.get(name).add(labels[name]);
    }
  }
  return new Map([...names].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, values]) => [name, [...values].sort()]));
}

/** What may complete the last word of a text: names of labels, then the values of one, as whole texts. */
export function completions(text, labels) {
  const [, before, last] = /^(.*?)([^\s,]*)$/s.exec(text);
  const typed = last.toLowerCase();
  if (typed === "") return [];
  const all = [...labels].flatMap(([name, values]) => [`${name}=`, ...values.map((value) => `${name}=${value}`)]);
  const isName = !typed.includes("=");
  return all.filter((label) => {
    const lower = label.toLowerCase();
    // A value completes its own text too: `prod` is `env=prod`.
    return lower !== typed && !/[\s,]/.test(label)
      && (lower.startsWith(typed) ? !isName || label.endsWith("=") : isName && !label.endsWith("=") && lower.split("=")[1].startsWith(typed));
  }).slice(0, SUGGESTION_LIMIT).map((label) => before + label);
}
