// The order of the list: the most urgent targets first, of one state the longest in it.

export class TargetOrder {
  #rank;
  /** All targets in their order, but for the changes since; null if all must be sorted. */
  #sorted = null;
  /** The targets that have changed since they were sorted. */
  #moved = new Set();

  /** `states` are the states, the most urgent first. */
  constructor(states) { this.#rank = Object.fromEntries(states.map((state, index) => [state, index])); }

  forget() {
    this.#sorted = null;
    this.#moved.clear();
  }

  move(id) { if (this.#sorted !== null) this.#moved.add(id); }

  /** The targets in order. Sorting all of them for each change would be the largest cost. */
  sort(targets) {
    if (this.#sorted === null) {
      this.#sorted = [...targets.values()].sort(this.#compare);
    } else if (this.#moved.size > 0) {
      const moved = [...this.#moved].map((id) => targets.get(id)).filter(Boolean).sort(this.#compare);
      this.#sorted = this.#merge(this.#sorted.filter((target) => !this.#moved.has(target.id)), moved);
    }
    this.#moved.clear();
    return this.#sorted;
  }

  #merge(rest, moved) {
    const merged = [];
    let next = 0;
    for (const target of rest) {
      while (next < moved.length && this.#compare(moved[next], target) < 0) merged.push(moved[next++]);
      merged.push(target);
    }
    return merged.concat(moved.slice(next));
  }

  #compare = (a, b) => this.#rank[a.state] - this.#rank[b.state] || a.since - b.since || (a.id < b.id ? -1 : 1);
}
