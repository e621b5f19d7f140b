// Which targets the list shows.

import { makeSearch } from "../common/search.js";
import { word } from "../common/words.js";

/** A filter from the text of the search field and the selected states; the reason counts with its key and its words. */
export function makeFilter(text, states) {
  const search = makeSearch(text, ({ reason }) => [reason, word("reasons", reason)]);
  return (target) => (states.size === 0 || states.has(target.state)) && search(target);
}
