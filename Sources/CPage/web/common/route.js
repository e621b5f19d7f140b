// What the fragment of a page's URL names: an open target, or the list with a search and selected states.

/**
 * What a fragment names: `{id}` of `#/target/id`, else `{search, states}` of `#/?q=text&state=down,unknown`;
 * `known` are the states that there are.
 */
export function readRoute(fragment, known) {
  const target = /^#\/target\/(.+)$/.exec(fragment);
  if (target) {
    try { return { id: decodeURIComponent(target[1]) }; } catch { return { id: target[1] }; }
  }
  const query = new URLSearchParams(/^#\/\?(.*)$/.exec(fragment)?.[1] ?? "");
  const states = (query.get("state") ?? "").split(",").filter((state) => known.includes(state));
  return { id: null, search: query.get("q") ?? "", states: new Set(states) };
}

export function targetRoute(id) { return `#/target/${encodeURIComponent(id)}`; }

export function listRoute(search, states = new Set()) {
  const query = new URLSearchParams();
  if (search !== "") query.set("q", search);
  if (states.size > 0) query.set("state", [...states].join(","));
  return query.size > 0 ? `#/?${query}` : "#/";
}
