"""Drives the status page with Chromium against the real service: page.py BINARY [SCREENSHOT-DIRECTORY].

It runs in a network namespace of its own, because it takes links down. It asserts behaviour only; `make bench-page`
measures.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import network
from playwright.sync_api import expect, sync_playwright

BINARY = sys.argv[1]
SHOTS = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
# Waits are bounded; a slow machine may need most of this for a page with ten thousand targets.
LIMIT_MS = 30_000
BULK = 10_000


class Service:
    """A reachd that can be killed and started again on the same port."""

    def __init__(self, configuration, *options):
        self.directory = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.directory.name, "reachd.yaml")
        self.file.write_text(configuration)
        self.options = options
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [BINARY, "serve", "--listen", f"127.0.0.1:{self.port}", "--config", str(self.file),
             "--data", str(pathlib.Path(self.directory.name, "data")), *self.options],
            stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(self.url + "readyz", timeout=2).read()
                return
            time.sleep(0.05)
        raise SystemExit("reachd did not start")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        self.directory.cleanup()

    def request(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(
            self.url + path, data, {"Content-Type": "application/json", "Accept": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.loads(response.read() or b"null")


class Browser:
    """Pages with a record of everything that a console or a policy reports."""

    def __init__(self, playwright):
        self.browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox"])
        self.messages = []

    @contextlib.contextmanager
    def open(self, url, width=1280, height=800, **options):
        context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
        page = context.new_page()
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(f"uncaught: {error}"))
        page.add_init_script("""addEventListener('securitypolicyviolation',
            event => console.error('policy violation: ' + event.violatedDirective + ' ' + event.blockedURI))""")
        page.set_default_timeout(LIMIT_MS)
        page.goto(url)
        yield page
        context.close()

    def take_messages(self):
        messages, self.messages = self.messages, []
        return messages


def check(condition, message):
    if not condition:
        raise SystemExit(f"page: {message}")


def step(name):
    print(f"  {name}", flush=True)


def no_messages(browser, allowed=()):
    messages = [text for text in browser.take_messages() if not any(re.search(part, text) for part in allowed)]
    check(not messages, f"the console has messages: {messages}")


def shows_machine(page, state):
    expect(page.locator("#verdict")).to_contain_text(state, timeout=LIMIT_MS)


def follows_a_lost_link(service, browser):
    step("a lost link is shown without a reload, with its cause")
    with browser.open(service.url) as page:
        shows_machine(page, "Reachable")
        expect(page.locator("header .connection.live")).to_be_visible()
        page.evaluate("window.marker = 1")
        subprocess.run(["ip", "link", "set", "c0", "down"], check=True)
        shows_machine(page, "Not reachable")
        expect(page.locator(".timeline .event").first).to_be_visible()
        subprocess.run(["ip", "link", "set", "c0", "up"], check=True)
        network.turn(1)
        shows_machine(page, "Reachable")
        check(page.evaluate("window.marker") == 1, "the page was loaded again")
    no_messages(browser)


def lists_targets(service, browser):
    step("targets: the most urgent first, search, states, detail, actions")
    with browser.open(service.url) as page:
        rows = page.locator(".rows .row:visible")
        expect(rows).to_have_count(3)
        expect(rows.first).to_contain_text("down")
        expect(page.locator(".rows .row", has_text="closed")).to_contain_text("connection refused")
        page.get_by_role("searchbox").fill("env=prod")
        expect(rows).to_have_count(1)
        page.get_by_role("searchbox").fill("nothing matches")
        expect(rows).to_have_count(0)
        page.get_by_role("searchbox").fill("")
        page.locator(".chip.up").click()
        expect(rows).to_have_count(2)
        check("state=up" in page.url, "the fragment does not hold the filter")
        page.locator(".chip.up").click()
        page.locator(".rows .row", has_text="closed").click()
        panel = page.locator(".panel")
        expect(panel.locator("h2")).to_contain_text("closed")
        expect(panel).to_contain_text("connection refused")
        panel.get_by_role("button", name="Explain").click()
        expect(panel.locator(".steps")).to_contain_text("TCP")
        panel.get_by_role("button", name="Pause").click()
        expect(panel.get_by_role("button", name="Resume")).to_be_visible()
        expect(page.locator(".rows .row", has_text="closed")).to_contain_text("paused")
        panel.get_by_role("button", name="Resume").click()
        expect(panel.get_by_role("button", name="Pause")).to_be_visible()
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()
    no_messages(browser)


def shows_the_past(service, browser):
    step("the history of a target: availability, latencies, changes")
    with browser.open(service.url) as page:
        row = page.locator(".rows .row", has_text="self")
        expect(row.locator(".share")).to_have_text("100 %", timeout=LIMIT_MS)
        row.click()
        panel = page.locator(".panel")
        expect(panel.locator("canvas.plot")).to_be_visible(timeout=LIMIT_MS)
        expect(panel).to_contain_text("100 % available")
        expect(panel.locator(".events .event").first).to_contain_text("unknown → up")
    no_messages(browser)


def says_when_it_is_disconnected(service, browser):
    step("a killed service is reported, and every change since then is caught up")
    with browser.open(service.url) as page:
        shows_machine(page, "Reachable")
        service.kill()
        expect(page.locator(".banner")).to_contain_text("Disconnected since")
        check(page.evaluate("document.documentElement.classList.contains('outdated')"), "the data look live")
        service.start()
        expect(page.locator(".banner")).to_be_hidden()
        expect(page.locator("header .connection.live")).to_be_visible()
        expect(page.locator(".rows .row:visible")).to_have_count(3)
    # Chromium reports each failed request itself.
    no_messages(browser, [r"net::ERR_", r"Failed to load resource"])


def asks_for_a_token(browser):
    step("where reads need a token, the page asks for one and works with it")
    with tempfile.TemporaryDirectory() as directory:
        token = pathlib.Path(directory, "token")
        made = subprocess.run(
            [BINARY, "token", "create", "--id", "page", "--scope", "read", "--output", str(token)],
            check=True, capture_output=True, text=True)
        entry = "\n".join(f"  {line}" for line in made.stderr.strip().splitlines())
        service = Service(f"access:\n  reads: token\ntokens:\n{entry}\n")
        try:
            with browser.open(service.url) as page:
                dialog = page.locator("dialog[open]")
                expect(dialog).to_contain_text("read")
                expect(dialog).to_contain_text("reachd token create --scope read")
                dialog.locator("input").fill(token.read_text().strip())
                dialog.get_by_role("button", name="Use token").click()
                shows_machine(page, "Reachable")
            with browser.open(f"{service.url}#token={token.read_text().strip()}") as page:
                shows_machine(page, "Reachable")
                check("token" not in page.url, "the token stays in the address")
        finally:
            service.stop()
    no_messages(browser, [r"401"])


def shows_many(service, browser):
    step(f"{BULK} targets: a bounded number of elements, scrolling, search")
    for start in range(0, BULK, 1000):
        results = service.request("POST", "targets", [
            {"id": f"bulk-{number}", "target": "route://10.9.0.1", "interval": "1h",
             "labels": {"rack": str(number % 40)}} for number in range(start, start + 1000)])["results"]
        check(all(result["status"] == 201 for result in results), f"not registered: {results[0]}")
    with browser.open(service.url) as page:
        # No wait_for_function: its evaluation is what the page's policy forbids.
        scroller = page.locator(".scroller")
        expect(scroller).to_have_attribute("aria-rowcount", str(BULK + 3), timeout=LIMIT_MS)
        count = page.evaluate("document.querySelectorAll('.rows .row').length")
        check(count <= 60, f"{count} rows are elements")
        check(page.evaluate("document.querySelectorAll('*').length") <= 3000, "more than 3000 elements")
        page.evaluate("document.querySelector('.scroller').scrollTop = 1e9")
        expect(page.locator(f".rows .row[aria-rowindex='{BULK + 3}']")).to_be_visible(timeout=LIMIT_MS)
        page.get_by_role("searchbox").fill("rack=7")
        expect(scroller).to_have_attribute("aria-rowcount", "250", timeout=LIMIT_MS)
    no_messages(browser)


def works_behind_a_prefix(service, browser):
    step("every URL is relative: the page works behind a path prefix")
    with browser.open(service.url) as page:
        shows_machine(page, "Reachable")
        wrong = page.evaluate("""performance.getEntriesByType('resource').map(entry => entry.name)
            .filter(name => !name.startsWith(location.origin))""")
        check(not wrong, f"other origins: {wrong}")
        html = page.evaluate("fetch('.', {headers: {Accept: 'text/html'}}).then(response => response.text())")
        check(not re.search(r"(?:href|src)=\"/", html), "an absolute URL")


def is_accessible(service, browser):
    step("axe finds no violation, light and dark, wide and narrow, list and detail")
    from axe_playwright_python.sync_playwright import Axe
    for scheme in ("light", "dark"):
        for width in (1280, 360):
            for fragment in ("", "#/target/closed"):
                with browser.open(service.url + fragment, width=width, color_scheme=scheme, bypass_csp=True) as page:
                    shows_machine(page, "Reachable")
                    page.locator(".panel h2" if fragment else ".rows .row").first.wait_for()
                    results = Axe().run(page)
                    found = [f"{item['id']}: {item['nodes'][0]['html']}" for item in results.response["violations"]]
                    check(not found, f"axe, {scheme}, {width} px, {fragment or 'list'}: {found}")
    browser.take_messages()


def take_screenshots(service, browser):
    step("screenshots")
    SHOTS.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        for locale in ("en", "zh-CN"):
            for width in (1280, 360):
                for name, fragment in (("list", ""), ("detail", "#/target/closed")):
                    with browser.open(service.url + fragment, width=width, color_scheme=scheme, locale=locale) as page:
                        page.locator(".panel h2" if fragment else ".rows .row").first.wait_for()
                        page.wait_for_timeout(500)
                        page.screenshot(path=SHOTS / f"{name}-{scheme}-{locale[:2]}-{width}.png")
    browser.take_messages()


CONFIGURATION = """\
limits:
  targets: 20000
targets:
  - id: closed
    target: tcp://127.0.0.1:9
    interval: 5s
  - id: self
    target: tcp://127.0.0.1:{port}
    interval: 5s
    labels: {{env: prod}}
  - id: gateway
    target: route://10.9.0.1
    interval: 5s
"""


def main():
    network.set_up()
    with socket.socket() as listener, sync_playwright() as playwright:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        service = Service(CONFIGURATION.format(port=listener.getsockname()[1]))
        browser = Browser(playwright)
        try:
            lists_targets(service, browser)
            follows_a_lost_link(service, browser)
            works_behind_a_prefix(service, browser)
            shows_the_past(service, browser)
            says_when_it_is_disconnected(service, browser)
            is_accessible(service, browser)
            if SHOTS:
                take_screenshots(service, browser)
            asks_for_a_token(browser)
            shows_many(service, browser)
        finally:
            service.stop()
    print("page: passed")


if __name__ == "__main__":
    main()
