"""Drives the status page with Chromium against the real service: page.py BINARY [SCREENSHOT-DIRECTORY].

It runs in a network namespace of its own, because it takes links down. It asserts behaviour only; `make bench-page`
measures.
"""
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

import listcases
import network
import pagecases
import screenshots
from chromium import Browser
from playwright.sync_api import expect, sync_playwright
from service import Service

BINARY = sys.argv[1]
SHOTS = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
BULK = 10_000


def check(condition, message):
    if not condition:
        raise SystemExit(f"page: {message}")


def step(name):
    print(f"  {name}", flush=True)


def no_messages(browser, allowed=()):
    messages = [text for text in browser.take_messages() if not any(re.search(part, text) for part in allowed)]
    check(not messages, f"the console has messages: {messages}")


def shows_machine(page, state):
    expect(page.locator("#verdict")).to_contain_text(state)


def follows_a_lost_link(service, browser):
    step("a lost link is shown without a reload, with its cause")
    with browser.open(service.url) as page:
        shows_machine(page, "Reachable")
        expect(page.locator("header .connection.live")).to_be_visible()
        page.evaluate("window.marker = 1")
        subprocess.run(["ip", "link", "set", "c0", "down"], check=True)
        shows_machine(page, "Not reachable")
        expect(page.locator(".explanation")).to_contain_text("no path to the network. Links that are down:")
        expect(page.locator(".explanation")).to_contain_text("c0 (disabled)")
        expect(page.locator(".timeline .event", has_text="This machine").first).to_contain_text("reachable → not reachable")
        subprocess.run(["ip", "link", "set", "c0", "up"], check=True)
        network.turn(1)
        shows_machine(page, "Reachable")
        check(page.evaluate("window.marker") == 1, "the page was loaded again")
    # Chromium cancels the requests that are under way when an interface changes.
    no_messages(browser, allowed=("ERR_NETWORK_CHANGED",))


def lists_targets(service, browser):
    step("targets: the most urgent first, search, states, detail, actions")
    with browser.open(service.url) as page:
        rows = page.locator(".rows .row:visible")
        expect(rows).to_have_count(3)
        expect(rows.first).to_contain_text("down")
        expect(page.locator(".rows .row", has_text="closed")).to_contain_text("connection refused")
        page.get_by_role("combobox", name="Search").fill("env=prod")
        expect(rows).to_have_count(1)
        page.get_by_role("combobox", name="Search").fill("nothing matches")
        expect(rows).to_have_count(0)
        page.get_by_role("combobox", name="Search").fill("")
        page.locator(".chip.up").click()
        expect(rows).to_have_count(2)
        check("state=up" in page.url, "the fragment does not hold the filter")
        page.locator(".chip.up").click()
        page.locator(".rows .row", has_text="closed").click()
        panel = page.locator(".panel")
        expect(panel.locator("h2")).to_contain_text("closed")
        expect(panel).to_contain_text("connection refused")
        # The policy for clients denies this address; the target is the operator's own.
        expect(panel.locator(".steps .fail")).to_contain_text("TCP 127.0.0.1:9: connection refused")
        panel.get_by_role("button", name="Pause").click()
        expect(panel.get_by_role("button", name="Resume")).to_be_visible()
        expect(page.locator(".rows .row", has_text="closed")).to_contain_text("paused")
        panel.get_by_role("button", name="Resume").click()
        expect(panel.get_by_role("button", name="Pause")).to_be_visible()
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()
    no_messages(browser)


def announces_changes(service, browser):
    step("screen readers: one polite text for changes, with the machine first")
    with browser.open(service.url) as page:
        shows_machine(page, "Reachable")
        region = page.locator("[aria-live=polite]")
        expect(region).to_have_count(1)
        expect(region).to_have_text("")
        service.request("POST", "targets/closed/pause")
        expect(region).to_have_text("closed is paused")
        service.request("POST", "targets/closed/resume")
        subprocess.run(["ip", "link", "set", "c0", "down"], check=True)
        expect(region).to_have_text(re.compile(r"^This machine: Not reachable\. \d targets changed$"))
        subprocess.run(["ip", "link", "set", "c0", "up"], check=True)
        network.turn(1)
        shows_machine(page, "Reachable")
        expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "4")
        expect(page.locator("#verdict")).to_be_visible()
    no_messages(browser)


def keeps_the_timeline(service, browser):
    step("the timeline begins before the last start of the service")
    with browser.open(service.url) as page:
        shows_machine(page, "Reachable")
        events = page.locator(".timeline .event")
        expect(page.locator(".timeline")).to_contain_text("reachd stopped (without a shutdown)")
        times = page.locator(".timeline time").evaluate_all("items => items.map(item => item.dateTime)")
        check(times == sorted(times, reverse=True), f"not in order: {times}")
        check(events.count() > 5, "the history is missing")
    no_messages(browser)


def shows_the_past(service, browser):
    step("the history of a target: availability, latencies, changes")
    with browser.open(service.url) as page:
        row = page.locator(".rows .row", has_text="self")
        expect(row.locator(".share")).to_have_text("100 %")
        row.click()
        panel = page.locator(".panel")
        expect(panel.locator("canvas.plot")).to_be_visible()
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
        expect(page.locator(".timeline .event", has_text="reachd stopped (without a shutdown)")).to_have_count(1)
    # Chromium reports each failed request itself.
    no_messages(browser, [r"net::ERR_", r"Failed to load resource"])


def asks_for_a_token(browser):
    step("where reads need a token, the page asks for one and works with it")
    with tempfile.TemporaryDirectory() as directory:
        token = pathlib.Path(directory, "token")
        made = subprocess.run(
            [BINARY, "token", "create", "--id", "page", "--scope", "read", "--output", str(token)],
            check=True, capture_output=True, text=True)
        entry = "\n".join(f"  {line}" for line in made.stdout.strip().splitlines())
        service = Service(BINARY, f"access:\n  reads: token\ntokens:\n{entry}\n")
        try:
            with browser.open(service.url) as page:
                dialog = page.locator("dialog[open]")
                expect(dialog).to_contain_text("read")
                expect(dialog).to_contain_text("reachd token create --scope read")
                # As copied from a message: a byte order mark, and a space without width.
                dialog.locator("input").fill(f"\ufeff {token.read_text().strip()}\u200b")
                dialog.get_by_role("button", name="Use token").click()
                shows_machine(page, "Reachable")
            with browser.open(f"{service.url}#token={token.read_text().strip()}") as page:
                shows_machine(page, "Reachable")
                check("token" not in page.url, "the token stays in the address")
            with browser.open(f"{service.url}?kiosk#token={token.read_text().strip()}") as page:
                shows_machine(page, "Reachable")
                check(page.url.endswith("?kiosk#/"), f"the link of a wall with a token loses its view: {page.url}")
            with browser.open(service.url) as page:
                expect(page.locator("dialog[open]")).to_be_visible()
                page.evaluate(f"location.hash = '#token={token.read_text().strip()}'")
                shows_machine(page, "Reachable")
                check("token" not in page.url, "the token of a link in an open tab stays in the address")
        finally:
            service.stop()
    no_messages(browser, [r"401"])


def shows_many(service, browser):
    step(f"{BULK} targets: a bounded number of elements, scrolling, search")
    service.register_many(BULK, "route://10.9.0.1", interval="1h")
    with browser.open(service.url) as page:
        # No wait_for_function: its evaluation is what the page's policy forbids.
        scroller = page.locator(".scroller")
        expect(scroller).to_have_attribute("aria-rowcount", str(BULK + 4))
        count = page.evaluate("document.querySelectorAll('.rows .row').length")
        check(count <= 60, f"{count} rows are elements")
        check(page.evaluate("document.querySelectorAll('*').length") <= 3000, "more than 3000 elements")
        page.evaluate("document.querySelector('.scroller').scrollTop = 1e9")
        expect(page.locator(f".rows .row[aria-rowindex='{BULK + 4}']")).to_be_visible()
        # The element of a selected row must not stand for another target.
        page.evaluate("document.querySelector('.scroller').scrollTop = 0")
        scroller.focus()
        page.keyboard.press("Home")
        expect(scroller).to_have_attribute("aria-activedescendant", re.compile("row-"))
        page.evaluate("document.querySelector('.scroller').scrollTop = 1e9")
        expect(scroller).not_to_have_attribute("aria-activedescendant", re.compile("row-"))
        page.get_by_role("combobox", name="Search").fill("rack=7")
        expect(scroller).to_have_attribute("aria-rowcount", "251")
        page.get_by_role("combobox", name="Search").fill("")
        # Paper has a limit, and says so.
        page.evaluate("addEventListener('beforeprint', () => { window.printed = document.querySelectorAll('.rows .row').length })")
        page.pdf()
        check(page.evaluate("window.printed") == 2000, "the printed list has no limit")
        expect(page.locator(".print-note")).to_have_text(f"{BULK + 3 - 2000} more targets are not printed.")
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


CASES = (
    ("keyboard only: the panel keeps the keyboard, charts have values", pagecases.works_with_the_keyboard, ()),
    ("back, forward, fragments, labels, a target that does not exist", pagecases.navigates, ()),
    ("hundreds of interfaces: the important ones first", pagecases.limits_the_interfaces, ()),
    ("windows of 640×400 and 320×256 px", pagecases.fits_small_windows, ()),
    ("a browser without JavaScript", pagecases.works_without_script, ()),
    ("a page whose script was not loaded is loaded again", pagecases.loads_itself_again_without_its_script, (r"ERR_FAILED",)),
    ("documents that are refused once are requested again", pagecases.recovers_from_refused_documents, (r"503",)),
    ("another clock in the browser", pagecases.follows_the_clock_of_the_service, ()),
    ("a new version of the service: its page is loaded", pagecases.loads_the_page_of_a_new_version,
     (r"net::ERR_", r"Failed to load resource")),
)


def works_in_many_cases(service, browser):
    for name, case, messages in CASES:
        step(name)
        case(service, browser)
        no_messages(browser, messages)
    step("300 targets: columns, order, print, groups, gates, links, a wall")
    listcases.shows_three_hundred(BINARY, browser)
    no_messages(browser)
    step("actions without a scope, and a token that is revoked")
    pagecases.refuses_actions_without_a_scope(BINARY, browser)
    no_messages(browser, [r"net::ERR_", r"Failed to load resource"])


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


CONFIGURATION = """\
# Clients may not contact the targets below, which are the operator's own.
policy: {{ allow: [127.0.0.2] }}
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
        service = Service(BINARY, CONFIGURATION.format(port=listener.getsockname()[1]))
        browser = Browser(playwright)
        try:
            lists_targets(service, browser)
            follows_a_lost_link(service, browser)
            works_behind_a_prefix(service, browser)
            shows_the_past(service, browser)
            says_when_it_is_disconnected(service, browser)
            keeps_the_timeline(service, browser)
            announces_changes(service, browser)
            is_accessible(service, browser)
            if SHOTS:
                step("screenshots")
                screenshots.take(BINARY, service, browser, SHOTS)
            works_in_many_cases(service, browser)
            asks_for_a_token(browser)
            shows_many(service, browser)
        finally:
            service.stop()
    print("page: passed")


if __name__ == "__main__":
    main()
