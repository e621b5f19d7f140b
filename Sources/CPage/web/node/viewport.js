// Which lines of the list are visible, and scrolling to one.

/** The part of a scrolled element below its titles; lines have one height. */
export class Viewport {
  #scroller;
  #header;
  /** The height of a line in px. */
  rowHeight = 32;

  constructor(scroller, header) {
    this.#scroller = scroller;
    this.#header = header;
  }

  /** The lines that fit, less one. */
  get page() { return Math.max(1, Math.floor(this.#scroller.clientHeight / this.rowHeight) - 2); }

  /** The numbers of the first visible line and of the one after the last, of `count` lines, with some more above and below. */
  range(count, margin) {
    const { scrollTop, clientHeight } = this.#scroller;
    return [Math.max(0, Math.floor(scrollTop / this.rowHeight) - margin),
      Math.min(count, Math.ceil((scrollTop + clientHeight) / this.rowHeight) + margin)];
  }

  /** Scrolls to a line as little as necessary, or so that it is in the middle; returns false while nothing is visible. */
  scrollTo(index, isCentered) {
    const top = index * this.rowHeight;
    const { scrollTop, clientHeight } = this.#scroller;
    const height = clientHeight - this.#header.offsetHeight;
    if (height <= 0) return false;
    if (top >= scrollTop && top + this.rowHeight <= scrollTop + height) return true;
    if (isCentered) this.#scroller.scrollTop = top - height / 2;
    else this.#scroller.scrollTop = top < scrollTop ? top : top + this.rowHeight - height;
    return true;
  }
}
