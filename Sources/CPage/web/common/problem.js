// A request that has failed.

import { button, h } from "./dom.js";
import { text } from "./words.js";

/** Why a request failed; `onDenied` is called with a problem that another token may solve. */
export function problemLine(problem, onDenied) {
  const isDenied = (problem.status === 401 || problem.status === 403) && problem.scope;
  return h("p", { role: "alert", class: "problem wrap" },
    isDenied ? text("tokenNeeded", { scope: problem.scope }) : text("error", { detail: problem.detail }),
    problem.requestID ? ` ${text("requestID", { id: problem.requestID })}` : "", " ",
    isDenied ? button(text("token"), () => onDenied(problem), { "data-key": "token" }) : null);
}
