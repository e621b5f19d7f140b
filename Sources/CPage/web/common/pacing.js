// Limits how often something is done.

/** Calls `body` now, or when the interval since its last call has passed, however often the returned function is called. */
export function atMostEvery(interval, body) {
  let last = -Infinity;
  let timer = null;
  const run = () => { timer = null; last = performance.now(); body(); };
  return () => {
    if (timer !== null) return;
    const delay = last + interval - performance.now();
    if (delay <= 0) run(); else timer = setTimeout(run, delay);
  };
}

/** Calls `body` at most once per animation frame, however often the returned function is called. */
export function oncePerFrame(body) {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    // A hidden page gets no frames; a timer still updates its title.
    const run = () => { isScheduled = false; body(); };
    if (document.hidden) setTimeout(run, 250); else requestAnimationFrame(run);
  };
}

/** Calls `body` when the returned function has not been called for a time in ms. */
export function afterRest(time, body) {
  let timer = null;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(body, time);
  };
}
