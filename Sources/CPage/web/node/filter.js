// Which targets the list shows.

/**
 * A filter from the text of the search field and the selected states.
 *
 * Words must all occur in id, URL or reason, without regard to case; `env=prod` selects by label, `env=` any value.
 */
export function makeFilter(text, states) {
  const words = text.toLowerCase().split(/[\s,]+/).filter((word) => word !== "");
  const labels = words.filter((word) => /^[^=/]+=/.test(word)).map((word) => word.split(/=(.*)/s).slice(0, 2));
  const plain = words.filter((word) => !/^[^=/]+=/.test(word));
  return (target) => {
    if (states.size > 0 && !states.has(target.state)) return false;
    for (const [name, value] of labels) {
      const key = Object.keys(target.labels).find((each) => each.toLowerCase() === name);
      if (key === undefined || (value !== "" && target.labels[key].toLowerCase() !== value)) return false;
    }
    if (plain.length === 0) return true;
    const content = `${target.id} ${target.target} ${target.reason || ""}`.toLowerCase();
    return plain.every((word) => content.includes(word));
  };
}
