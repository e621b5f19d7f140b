// The diagnosis in the reader's language: the service writes it in English.

import { DICTIONARIES, dotted, phrases, word } from "../common/words.js";

/** The sentences of the service whose words are translated; `phrases().evidence` has the same names. */
const PATTERNS = {
  allowed: /^allowed$/, isUp: /^([^;]+) (?:is|are) up$/, isUpOthersDown: /^(.+) (?:is|are) up; down: (.+)$/, linksDown: /^no link is up: (.+)$/,
  source: /^(\S+) on (\S+)$/, notRequired: /^not required$/, onLink: /^(\S+) on link, dev (\S+)$/,
  defaultRoute: /^the default route via (\S+), dev (\S+)$/, defaultOnLink: /^the default route on link, dev (\S+)$/, route: /^(\S+) via (\S+), dev (\S+)$/,
  thisMachine: /^the target is this machine$/, name: /^(\S+) is ([0-9a-fA-F:.]+)((?: \(.*\))?)$/, resolved: /^(\S+) is resolved$/,
  accepts: /^(\S+) accepts connections((?: \(.*\))?)$/, handshake: /^handshake completed((?: \(.*\))?)$/,
  echo: /^echo reply received((?: \(.*\))?)$/, expected: /^as expected((?: \(.*\))?)$/,
};

/** The evidence of a step, with the words for its reason: `{text, lang}`; `lang` is null for the language of the page. */
export function evidenceText(evidence, reason) {
  if (!evidence) return { text: "", lang: null };
  const failed = /^(.+?): (\w+)(?:, (.*))?$/s.exec(evidence);
  if (failed && failed[2] === reason) {
    const words = word("reasons", reason);
    // Some details say the same.
    const detail = failed[3]?.toLowerCase() === DICTIONARIES.en.reasons[reason] ? null : failed[3];
    return { text: dotted([`${failed[1]}: ${words}`, detail]), lang: null };
  }
  for (const [name, pattern] of Object.entries(PATTERNS)) {
    const match = phrases() && pattern.exec(evidence);
    if (match) return { text: phrases().evidence[name].replace(/\{\d\}/g, (place) => match[place[1]]), lang: null };
  }
  return { text: evidence, lang: "en" };
}

/** What to try, in the reader's language where the reason has such a sentence. */
export function adviceText(advice, reason) {
  const known = phrases()?.advice[reason];
  return known ? { text: known, lang: null } : { text: advice, lang: "en" };
}
