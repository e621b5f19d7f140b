"""The frames of the status page, which page.py measures: the first paint, and scrolling through ten thousand targets.

Beside each stands the floor: the same of a page without content of its own, in the same browser at the same time.
"""
import contextlib
import http.server
import statistics
import threading

from chromium import LIMIT_MS
from playwright.sync_api import expect

PAINTS = 5
FRAME_MS = 1000 / 60
VIEWPORT = {"width": 1280, "height": 800}
# The distance and the speed of a scroll, in px and px/s.
DISTANCE, SPEED = 30_000, 6000

# Records when something appears, in ms since the start of the navigation.
MARKS = """
    window.marks = {};
    const note = (name) => { if (!(name in marks)) marks[name] = performance.now(); };
    new MutationObserver(() => {
      if (document.querySelector('#verdict')) note('verdict');
      if (document.querySelector('.rows .row .state')) note('rows');
    }).observe(document, { childList: true, subtree: true });
"""
# As tall as ten thousand rows; the browser moves and draws it without a script.
EMPTY = """<!doctype html><meta charset="utf-8"><title>empty</title><style>
    body { margin: 0; font: 15px sans-serif } .scroller { height: 600px; overflow-y: auto }
    .rows { height: 360000px; background: repeating-linear-gradient(#fff 0 35px, #888 35px 36px) }
    </style><h1>empty</h1><div class="scroller"><div class="rows"></div></div>"""


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


@contextlib.contextmanager
def empty_page():
    """The URL of the page without content."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = EMPTY.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


def first_paint(service, browser, report):
    def paints(name, url, bar, processor=1, is_slow=False, verdict=True):
        first, verdicts = [], []
        for _ in range(PAINTS):
            context = browser.browser.new_context(viewport=VIEWPORT)
            page = context.new_page()
            session = context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": processor})
            if is_slow:
                session.send("Network.enable")
                session.send("Network.emulateNetworkConditions", {
                    "offline": False, "latency": 100, "downloadThroughput": 200_000, "uploadThroughput": 200_000})
                # The emulation does not reach a shared worker; without one, the page reads the service itself.
                page.add_init_script("delete globalThis.SharedWorker")
            page.add_init_script(MARKS)
            page.goto(url)
            page.locator("#verdict" if verdict else "h1").wait_for(timeout=LIMIT_MS)
            first.append(page.evaluate("""() => new Promise((done) => new PerformanceObserver((list) => {
                for (const entry of list.getEntries()) if (entry.name === 'first-contentful-paint') done(entry.startTime);
            }).observe({ type: 'paint', buffered: true }))"""))
            verdicts.append(page.evaluate("marks.verdict ?? 0"))
            context.close()
        text = f"{statistics.median(first):.0f} ms (worst of {PAINTS}: {max(first):.0f})"
        if verdict:
            text += f", verdict {statistics.median(verdicts):.0f} ms ({max(verdicts):.0f})"
        report(f"first paint, {name}", text, bar)

    with empty_page() as empty:
        paints("loopback, CPU 4 times slower", service.url, "300 ms", processor=4)
        paints("… an empty page", empty, "–", processor=4, verdict=False)
        paints("round trip 100 ms, 1.6 Mbit/s", service.url, "1 s; verdict 1.5 s", is_slow=True)


class Trace:
    """The tasks of the main thread of the page, in ms (Chromium's trace events)."""

    def __init__(self, session):
        self.session, self.events = session, []
        self.is_complete = False
        session.on("Tracing.dataCollected", lambda message: self.events.extend(message["value"]))
        session.on("Tracing.tracingComplete", lambda _: setattr(self, "is_complete", True))
        session.send("Tracing.start", {
            "transferMode": "ReportEvents", "traceConfig": {
                "includedCategories": ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]}})

    def stop(self, page):
        self.session.send("Tracing.end")
        for _ in range(300):
            if self.is_complete:
                break
            page.wait_for_timeout(50)
        mains = {(event["pid"], event["tid"]) for event in self.events
                 if event["name"] == "thread_name" and event["args"].get("name") == "CrRendererMain"}
        events = sorted(
            (event["ts"] / 1000, event["dur"] / 1000, event.get("tdur", event["dur"]) / 1000) for event in self.events
            if (event["pid"], event["tid"]) in mains and event.get("ph") == "X" and event["name"].endswith("RunTask"))
        tasks, end = [], 0
        for start, length, work in events:
            # A task may contain others, as of a nested loop. The thread's own clock leaves out the time in which another
            # process had the processor.
            if start >= end:
                tasks.append((start, work))
                end = start + length
        return tasks


def scroll(service, browser, report):
    def measure(name, url, rate, bar, count=None):
        with browser.open(url) as page:
            if count:
                expect(page.locator(".scroller")).to_have_attribute("aria-rowcount", str(count + 1), timeout=LIMIT_MS)
            session = page.context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": rate})
            page.evaluate("""() => {
                window.frames_ = []; window.longTasks = 0;
                new PerformanceObserver((list) => { longTasks += list.getEntries().length; }).observe({ type: 'longtask' });
                const frame = (time) => { frames_.push(time); requestAnimationFrame(frame); };
                requestAnimationFrame(frame);
            }""")
            trace = Trace(page.context.new_cdp_session(page))
            page.evaluate("frames_.length = 0; longTasks = 0")
            session.send("Input.synthesizeScrollGesture", {
                "x": 400, "y": 500, "yDistance": -DISTANCE, "speed": SPEED, "gestureSourceType": "mouse"})
            times, long_tasks = page.evaluate("[frames_, longTasks]")
            tasks = trace.stop(page)
        intervals = [later - earlier for earlier, later in zip(times, times[1:])]
        begin = min(start for start, _ in tasks)
        frames = {}
        for start, length in tasks:
            slot = int((start - begin) / FRAME_MS)
            frames[slot] = frames.get(slot, 0) + length
        report(name, f"work in 1/60 s p95 {quantile(list(frames.values()), 0.95):.1f} ms, interval p95 "
               f"{quantile(intervals, 0.95):.1f} ms, {1000 / statistics.mean(intervals):.0f} frames/s, "
               f"{long_tasks} tasks over 50 ms", bar)

    count = len(service.request("GET", "targets/overview")["id"])
    with empty_page() as empty:
        measure(f"scroll {count:,}", service.url, 1, "work ≤ 8 ms, interval ≤ 17.5 ms, 0 tasks over 50 ms", count)
        measure("… an empty page", empty, 1, "–")
        measure("… CPU 4 times slower", service.url, 4, "30 frames/s", count)
        measure("… CPU 4 times slower, an empty page", empty, 4, "–")
