// What the fragment of a page's URL names: the list with search, states, grouping and window, and an open target.

/** A view that shows everything. */
export const WHOLE = { id: null, search: "", states: new Set(), group: "", folded: new Set(), window: "" };

function listOf(query, name) { return new Set((query.get(name) ?? "").split(",").filter(Boolean).map(decoded)); }

function decoded(text) { try { return decodeURIComponent(text); } catch { return text; } }

/**
 * The view that a fragment names, `#/?q=text&state=down,unknown&group=env&fold=prod` or `#/target/id?…&window=7d`.
 * `known` are the states that there are. `isPartial`: a link to a target that leaves the list as it is.
 */
export function readRoute(fragment, known) {
  const [path, search = null] = fragment.split(/\?(.*)/s);
  const target = /^#\/target\/(.+)$/.exec(path);
  if (!target && path !== "#/") return { ...WHOLE, isPartial: false };
  const query = new URLSearchParams(search ?? "");
  return {
    id: target ? decoded(target[1]) : null, search: query.get("q") ?? "",
    states: new Set([...listOf(query, "state")].filter((state) => known.includes(state))),
    group: query.get("group") ?? "", folded: listOf(query, "fold"), window: query.get("window") ?? "",
    isPartial: target !== null && search === null,
  };
}

/** The fragment of a view. */
export function writeRoute({ id = null, search = "", states = [], group = "", folded = [], window = "" }) {
  const query = new URLSearchParams();
  if (search !== "") query.set("q", search);
  if ([...states].length > 0) query.set("state", [...states].join(","));
  if (group !== "") query.set("group", group);
  // A value may contain a comma.
  if (group !== "" && [...folded].length > 0) query.set("fold", [...folded].map(encodeURIComponent).join(","));
  if (id !== null && window !== "") query.set("window", window);
  const path = id === null ? "#/" : `#/target/${encodeURIComponent(id)}`;
  return query.size > 0 ? `${path}?${query}` : path;
}

/** A link to a target that leaves the list as it is. */
export function targetRoute(id) { return writeRoute({ id }); }

/** A link to the list with a search. */
export function listRoute(search) { return writeRoute({ search }); }
