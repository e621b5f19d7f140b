"""Measures the status page in Chromium against the release build: page.py BINARY. It runs in a network namespace of its own.

One line for each bar; the load average is printed first and last, because timings of a busy machine say little.
"""
import http.client
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

import frames
import network
from chromium import LIMIT_MS, Browser
from frames import MARKS, quantile
from playwright.sync_api import expect, sync_playwright
from service import Service

BINARY = sys.argv[1]
ONLY = set(sys.argv[2:])
MANY = 10_000
LINK_TRIALS = 25
EVENT_SECONDS = int(os.environ.get("PAGE_EVENT_SECONDS", "60"))
AWAY_SECONDS = int(os.environ.get("PAGE_AWAY_SECONDS", "60"))
EVENTS_PER_SECOND = 1000


def report(name, value, bar):
    print(f"  {name}: {value} (bar: {bar})", flush=True)


def get(service, path, **fields):
    """The status, the header fields, the body, and the time in ms."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=20)
    begin = time.perf_counter()
    connection.request("GET", "/" + path, headers={"Accept": "application/json", **fields})
    response = connection.getresponse()
    body = response.read()
    took = (time.perf_counter() - begin) * 1000
    connection.close()
    return response.status, response.headers, body, took


def processor_time(pid):
    """The processor time of all threads of a process, in ms (proc(5), schedstat)."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except OSError:
            pass
    return total / 1e6


def renderers():
    """The processes of Chromium that run pages and workers."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if b"--type=renderer" in words:
            found.append(int(process.name))
    return found


def first_load(service, browser):
    with browser.open(service.url) as page:
        expect(page.locator("#verdict")).to_be_visible()
        names = page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
        requests = [name for name in names if not name.endswith("events")] + [service.url]
        build = page.evaluate("document.getElementById('app').dataset.build")
        # The worker loads its own modules, most of them the same files.
        files = {name for name in requests if "/page/" in name or name == service.url} | {
            f"{service.url}page/{build}/hub.js"}
        size = 0
        for name in files:
            accept = "text/html" if name == service.url else "*/*"
            _, fields, body, _ = get(service, name[len(service.url):], **{"Accept": accept, "Accept-Encoding": "gzip"})
            size += len(body) + sum(len(key) + len(value) + 4 for key, value in fields.items())
        foreign = [name for name in names if not name.startswith(service.url)]
        report("first load, gzip with header fields", f"{size / 1000:.1f} KB", "72 KB")
        report("requests", len(set(requests) | files), "18")
        report("requests to other origins", len(foreign), "0")


def overview(service, browser):
    sizes, times, shared = [], [], []
    for number in range(5):
        # Another minute or event makes the document again.
        service.request("POST", f"targets/bulk-{number}/pause")
        before = processor_time(service.process.pid)
        status, fields, body, _ = get(service, "targets/overview", **{"Accept-Encoding": "gzip"})
        times.append(processor_time(service.process.pid) - before)
        sizes.append(len(body))
        # As pages that connect at the same time after a restart.
        before = processor_time(service.process.pid)
        for _ in range(10):
            get(service, "targets/overview", **{"Accept-Encoding": "gzip"})
        shared.append((processor_time(service.process.pid) - before) / 10)
    assert status == 200 and fields["Content-Encoding"] == "gzip"
    report("overview of 10,000, gzip", f"{sizes[-1] / 1000:.0f} KB", "300 KB")
    report("… CPU, not cached", f"median {statistics.median(times):.1f} ms, worst of 5 {max(times):.1f} ms", "50 ms")
    report("… CPU, the same for another client", f"median {statistics.median(shared):.1f} ms", "2 ms")
    unchanged = []
    while len(unchanged) < 100:
        status, new, _, took = get(
            service, "targets/overview", **{"Accept-Encoding": "gzip", "If-None-Match": fields["ETag"]})
        if status == 304:
            unchanged.append(took)
        else:  # The minute is over.
            assert new["ETag"] != fields["ETag"]
            fields = new
    report("… 304 with a new connection", f"median {statistics.median(unchanged):.2f} ms", "1 ms")
    shown = []
    for _ in range(5):
        context = browser.browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.add_init_script(MARKS)
        page.goto(service.url)
        page.locator(".rows .row").first.wait_for(timeout=LIMIT_MS)
        shown.append(page.evaluate("marks.rows"))
        context.close()
    report("… navigation → rows shown", f"median {statistics.median(shown):.0f} ms, worst of 5 {max(shown):.0f} ms", "500 ms")


def first_paint(service, browser):
    frames.first_paint(service, browser, report)


def scroll(service, browser):
    frames.scroll(service, browser, report)


def search(service, browser):
    with browser.open(service.url) as page:
        expect(page.locator(".scroller")).to_have_attribute("aria-rowcount", str(MANY + 1), timeout=LIMIT_MS)
        times = page.evaluate("""async () => {
            const input = document.querySelector('input[type=search]'), times = [];
            for (const text of ['b', 'bu', 'bulk-7', 'bulk-77', 'rack=7', '', '9', '99', '999', '']) {
                const begin = performance.now();
                input.value = text;
                input.dispatchEvent(new Event('input', { bubbles: true }));
                await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                times.push(performance.now() - begin);
            }
            return times;
        }""")
        report("key in the search field → rows drawn", f"median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms", "50 ms")
        nodes = page.evaluate("document.querySelectorAll('*').length")
        report("DOM elements", nodes, "3,000")
        report("JS heap", f"{heap(browser, page) / 1e6:.1f} MB, page and worker", "40 MB")


def heap(browser, page):
    """The used heap of the page and its worker, in bytes, after a collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    total = session.send("Runtime.getHeapUsage")["usedSize"]
    root = browser.browser.new_browser_cdp_session()
    workers = [target for target in root.send("Target.getTargets")["targetInfos"] if target["type"] == "shared_worker"]
    for worker in workers:
        answers = []
        attached = root.send("Target.attachToTarget", {"targetId": worker["targetId"]})["sessionId"]
        root.on("Target.receivedMessageFromTarget", lambda message: answers.append(json.loads(message["message"])))
        for number, method in enumerate(("HeapProfiler.collectGarbage", "Runtime.getHeapUsage"), 1):
            root.send("Target.sendMessageToTarget", {
                "sessionId": attached, "message": json.dumps({"id": number, "method": method})})
            for _ in range(100):
                if any(answer.get("id") == number for answer in answers):
                    break
                page.wait_for_timeout(50)
        total += next(answer["result"]["usedSize"] for answer in answers if answer.get("id") == 2)
    if not workers:
        print("  (no worker was found: the heap is that of the page alone)")
    return total


def many_events(service, browser):
    """1,000 events a second: batches that pause and resume targets."""
    with browser.open(service.url) as page:
        expect(page.locator(".scroller")).to_have_attribute("aria-rowcount", str(MANY + 1), timeout=LIMIT_MS)
        heap_before = heap(browser, page)
        pids = renderers()
        stop, sent = threading.Event(), [0]

        def change():
            begin, size, number = time.monotonic(), EVENTS_PER_SECOND // 4, 0
            while not stop.is_set():
                first = number * size % 5000
                service.request("POST", "targets", [
                    {"id": f"bulk-{index}", "target": "route://10.9.0.1", "interval": "1h",
                     "labels": {"rack": str(index % 40)}, "paused": number // (5000 // size) % 2 == 0}
                    for index in range(first, first + size)])
                sent[0] += size
                number += 1
                stop.wait(max(0, begin + number / 4 - time.monotonic()))

        thread = threading.Thread(target=change)
        cpu_before, begin = sum(processor_time(pid) for pid in pids), time.monotonic()
        thread.start()
        lags = []
        while time.monotonic() - begin < EVENT_SECONDS:
            page.wait_for_timeout(1000)
            newest = page.evaluate("Date.now() - Date.parse(document.querySelector('.timeline time').dateTime)")
            lags.append(newest)
        stop.set()
        thread.join()
        seconds = time.monotonic() - begin
        cpu = (sum(processor_time(pid) for pid in pids) - cpu_before) / seconds / 10
        page.wait_for_timeout(3000)
        shown = {name: int(page.locator(f".chip.{name} .count").inner_text().replace(",", ""))
                 for name in ("up", "down", "unreachable", "unknown", "paused")}
        columns = json.loads(get(service, "targets/overview")[2])
        expected = {name: columns["state"].count(index) for index, name in enumerate(columns["states"])}
        heap_after = heap(browser, page)
    report(f"{sent[0] / seconds:.0f} events/s for {seconds:.0f} s", f"{cpu:.0f} % of a core, newest event shown after at most "
           f"{max(lags):.0f} ms, heap {(heap_after - heap_before) / 1e6:+.1f} MB, end state "
           f"{'equal' if shown == expected else f'WRONG {shown} {expected}'}", "30 %, 1 s, +5 MB, equal")


def link(service, browser):
    with browser.open(service.url) as page:
        expect(page.locator("#verdict")).to_contain_text("Reachable")
        page.evaluate("""() => {
            window.shown = 0;
            new MutationObserver(() => {
                const lost = document.querySelector('#verdict')?.textContent.includes('Not reachable');
                if (lost && !shown) requestAnimationFrame(() => { shown ||= Date.now(); });
                if (!lost) shown = 0;
            }).observe(document.querySelector('.summary'), { childList: true, subtree: true, characterData: true });
        }""")
        times = []
        for _ in range(LINK_TRIALS):
            begin = time.time() * 1000
            subprocess.run(["ip", "link", "set", "c0", "down"], check=True)
            expect(page.locator("#verdict")).to_contain_text("Not reachable", timeout=LIMIT_MS)
            page.wait_for_timeout(50)
            times.append(page.evaluate("shown") - begin)
            subprocess.run(["ip", "link", "set", "c0", "up"], check=True)
            network.turn(1)
            expect(page.locator("#verdict")).to_contain_text(re.compile("^. Reachable"), timeout=LIMIT_MS)
            page.wait_for_timeout(200)
    report(f"link down → shown, {LINK_TRIALS} times", f"median {statistics.median(times):.0f} ms, max {max(times):.0f} ms",
           "median 100 ms, max 1 s")


def away(service, browser):
    """Killed, and back after a minute: every transition of the history is in the timeline, and once."""
    with browser.open(service.url) as page:
        expect(page.locator("#verdict")).to_contain_text("Reachable")
        service.request("POST", "targets/first/pause")
        page.wait_for_timeout(500)
        service.kill()
        subprocess.run(["ip", "link", "set", "c0", "down"], check=True)
        time.sleep(AWAY_SECONDS)
        service.start()
        service.request("POST", "targets/first/resume")
        page.locator("header .connection.live").wait_for(timeout=LIMIT_MS)
        page.wait_for_timeout(3000)
        # Before the page is read: an event between the two would be missing there.
        entries = json.loads(get(service, "history?limit=1000&order=desc")[2])["history"]
        page.wait_for_timeout(1000)
        shown = page.locator(".timeline .event").evaluate_all(
            "items => items.map(item => item.querySelector('time').dateTime + ' ' + item.textContent)")
        since = min(item.split()[0] for item in shown)
        subprocess.run(["ip", "link", "set", "c0", "up"], check=True)
    times = [entry["time"][:23] for entry in entries if entry["time"][:23] > since[:23]]
    seen = [item.split()[0][:23] for item in shown]
    report(f"killed, back after {AWAY_SECONDS} s", f"{len(shown)} events shown, {len(shown) - len(set(shown))} twice, "
           f"{len(set(times) - set(seen))} of {len(times)} missing", "each once")


def answers(service, browser):
    def p99():
        connection = http.client.HTTPConnection("127.0.0.1", service.port)
        times = []
        for _ in range(3000):
            begin = time.perf_counter()
            connection.request("GET", "/status")
            connection.getresponse().read()
            times.append((time.perf_counter() - begin) * 1e6)
        connection.close()
        return quantile(times, 0.99)

    alone, opened = [], []
    for _ in range(5):
        alone.append(p99())
        with browser.open(service.url) as page:
            expect(page.locator("#verdict")).to_be_visible()
            opened.append(p99())
    ratio = statistics.median(opened) / statistics.median(alone)
    report("/status p99 with the page open", f"{ratio:.2f}× ({statistics.median(opened):.0f} against "
           f"{statistics.median(alone):.0f} µs, medians of 5 alternating rounds)", "1.05×")
    assets = sum(file.stat().st_size for file in pathlib.Path("Sources/CPage/web").rglob("*") if file.is_file())
    report("the page in the binary", f"{assets / 1000:.0f} KB of {os.stat(BINARY).st_size / 1e6:.1f} MB", "210 KB")


def terminal(service, _):
    """`reachd top` on a pseudo-terminal, with 10 changes a second of 10,000 targets."""
    import fcntl
    import pty
    import struct
    import termios
    pid, master = pty.fork()
    if pid == 0:
        os.execve(BINARY, [BINARY, "top", "--url", service.url[:-1]], {"TERM": "xterm", "LANG": "C.UTF-8"})
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    written = []
    threading.Thread(target=lambda: drain(master, written), daemon=True).start()
    time.sleep(3)
    begin, before, first = time.monotonic(), processor_time(pid), sum(written)
    number = 0
    while time.monotonic() - begin < 20:
        service.request("POST", f"targets/bulk-{number // 2 % 50}/{'resume' if number % 2 else 'pause'}")
        number += 1
        time.sleep(max(0, begin + number / 10 - time.monotonic()))
    seconds = time.monotonic() - begin
    share = (processor_time(pid) - before) / seconds / 10
    rate = (sum(written) - first) / seconds
    os.write(master, b"q")
    os.waitpid(pid, 0)
    report("reachd top, 10,000 targets", f"{share:.1f} % of a core at {number / seconds:.1f} changes/s, {rate:.0f} bytes/s drawn", "2 %")


def drain(master, written):
    try:
        while part := os.read(master, 65536):
            written.append(len(part))
    except OSError:
        pass


def main():
    network.set_up()
    print(f"page: load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
    with sync_playwright() as playwright:
        browser = Browser(playwright)
        few = Service(BINARY, "targets: [{ id: first, target: 'route://10.9.0.1', interval: 5s }]\n")
        run(few, browser, first_load, first_paint, link, answers, away)
        few.stop()
        # Without a limit of changes, which protects a service from its clients.
        many = Service(BINARY, "limits: { targets: 20000 }\n")
        many.register_many(MANY, "route://10.9.0.1", interval="1h")
        run(many, browser, overview, scroll, search, many_events, terminal)
        many.stop()
    print(f"page: load average {os.getloadavg()[0]:.1f}")


def run(service, browser, *groups):
    for group in groups:
        if ONLY and group.__name__ not in ONLY:
            continue
        try:
            group(service, browser)
        except Exception as error:  # One group that fails does not prevent the others.
            print(f"  {group.__name__}: FAILED: {type(error).__name__} {str(error).partition(chr(10))[0]}", flush=True)


if __name__ == "__main__":
    main()
