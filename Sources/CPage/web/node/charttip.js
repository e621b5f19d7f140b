// The value of a chart in the list: under the pointer, or at the slot that the arrow keys have selected.

import { h, setText } from "../common/dom.js";
import { BAR_SLOTS, slotAt, slotMiddle, SPARK_SLOTS } from "./charts.js";
import { barText, HALF_HOUR, sparkText } from "./slots.js";

/** The places of the arrow keys: the slots of both charts, from left to right. */
const PLACES = [...Array(SPARK_SLOTS).keys()].map((slot) => ({ chart: "spark", slot }))
  .concat([...Array(BAR_SLOTS).keys()].map((slot) => ({ chart: "bars", slot })));

export class ChartTip {
  #place = null;
  element = h("div", { class: "tip", role: "status", hidden: true });

  /** Shows the value under the pointer in an element with charts; `targetOf(element)` is the target of a canvas. */
  follow(element, targetOf) {
    element.addEventListener("pointermove", ({ target: canvas, clientX }) => {
      const target = canvas.localName === "canvas" ? targetOf(canvas) : null;
      if (!target) { this.hide(); return; }
      const box = canvas.getBoundingClientRect();
      this.#show(canvas, target, slotAt(clientX - box.left, box.width));
    });
    element.addEventListener("pointerleave", () => this.hide());
    element.addEventListener("blur", () => this.hide());
    element.addEventListener("scroll", () => this.hide(), { passive: true });
  }

  /** Handles a key for the charts of a row; returns false for a key that does nothing. */
  move(key, row, target) {
    const canvas = row?.element.querySelector("canvas");
    if (!canvas || canvas.hidden || !target || (key !== "ArrowLeft" && key !== "ArrowRight")) return false;
    const step = key === "ArrowLeft" ? -1 : 1;
    // The first arrow to the left begins at the present.
    const from = this.#place ?? (step < 0 ? PLACES.length : -1);
    this.#place = Math.max(0, Math.min(PLACES.length - 1, from + step));
    this.#show(canvas, target, PLACES[this.#place]);
    return true;
  }

  hide() {
    this.#place = null;
    this.element.hidden = true;
  }

  #show(canvas, { series }, place) {
    const letters = place?.chart === "spark" ? series?.spark : series?.bars24;
    // A chart that is not full has its slots at the right.
    const slot = place && letters ? place.slot - ((place.chart === "spark" ? SPARK_SLOTS : BAR_SLOTS) - letters.length) : -1;
    if (slot < 0) { this.element.hidden = true; return; }
    setText(this.element, place.chart === "spark" ? sparkText(letters, slot) : barText(letters, slot, HALF_HOUR));
    this.element.hidden = false;
    const box = canvas.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.element;
    const left = Math.max(4, Math.min(innerWidth - offsetWidth - 4, box.left + slotMiddle(place, box.width) - offsetWidth / 2));
    this.element.style.left = `${left}px`;
    this.element.style.top = `${box.top - offsetHeight - 4 > 0 ? box.top - offsetHeight - 4 : box.bottom + 4}px`;
  }
}
