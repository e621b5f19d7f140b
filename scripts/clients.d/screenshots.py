"""Screenshots of the status page: every state once, and three states in both schemes, languages and widths."""
import contextlib
import shutil
import socket
import subprocess
import tempfile

import network
from playwright.sync_api import expect
from service import Service

NARROW, WIDE = 360, 1280
# The columns of a state's latency are drawn after the request for series.
SETTLE_MS = 600


def variants():
    for scheme in ("light", "dark"):
        for locale in ("en", "zh-CN"):
            for width in (WIDE, NARROW):
                yield f"{scheme}-{locale[:2]}-{width}", {"color_scheme": scheme, "locale": locale, "width": width}


@contextlib.contextmanager
def shot(browser, url, path, name, **options):
    """A page in a variant; the picture is taken at the end of the block."""
    with browser.open(url, **options) as page:
        yield page
        page.wait_for_timeout(SETTLE_MS)
        page.screenshot(path=path / f"{name}.png")


def take(binary, service, browser, path):
    """Takes the pictures; the service has targets in several states and a history."""
    path.mkdir(parents=True, exist_ok=True)
    for old in path.glob("*.png"):
        old.unlink()
    for variant, options in variants():
        with shot(browser, service.url, path, f"list-{variant}", **options) as page:
            page.locator(".rows .row").first.wait_for()
        with shot(browser, service.url + "#/target/closed", path, f"detail-{variant}", **options) as page:
            page.locator(".panel h2").wait_for()
            page.locator(".steps li").first.wait_for()
    single(service, browser, path)
    unsteady(service, browser, path)
    cut_link(service, browser, path)
    loading(service, browser, path)
    stale(service, browser, path)
    disconnected(service, browser, path)
    gap(service, browser, path)
    empty(binary, browser, path)
    browser.take_messages()


def single(service, browser, path):
    with shot(browser, service.url, path, "help") as page:
        page.get_by_role("button", name="Keyboard").click()
    with shot(browser, service.url, path, "no-match") as page:
        page.get_by_role("combobox", name="Search").fill("nothing matches")
    with shot(browser, service.url, path, "timeline-narrow", width=NARROW) as page:
        page.get_by_role("button", name="Timeline").click()
    with shot(browser, service.url, path, "token") as page:
        page.get_by_role("button", name="Access token").click()
    with shot(browser, service.url + "#/target/missing", path, "missing-target") as page:
        page.locator(".panel h2").wait_for()


def unsteady(service, browser, path):
    """A target that flaps, and one whose last check contradicts its state."""
    with socket.socket() as free:
        free.bind(("127.0.0.2", 0))
        address = free.getsockname()
    steady = {"target": f"tcp://127.0.0.2:{address[1]}", "interval": "24h", "fastInterval": "24h"}

    def check(name):
        return service.request("POST", f"targets/{name}/check")

    with socket.create_server(address):
        service.request("PUT", "targets/wavering", {**steady, "fall": 3})
        check("wavering")
    service.request("PUT", "targets/restless", {**steady, "fall": 1, "rise": 1})
    for _ in range(5):
        check("restless")
        with socket.create_server(address):
            check("restless")
    assert check("wavering")["pending"] and service.request("GET", "targets/restless")["flapping"]
    for name, options in (("unsteady", {}), ("unsteady-narrow", {"width": NARROW, "color_scheme": "dark"})):
        with shot(browser, service.url, path, name, **options) as page:
            expect(page.locator(".row.pending")).to_have_count(2)
    with shot(browser, service.url + "#/target/restless", path, "flapping-detail") as page:
        page.locator(".panel h2").wait_for()
    for name in ("wavering", "restless"):
        service.request("DELETE", f"targets/{name}")


def release(held):
    """Ends requests that got no answer, before their page is closed."""
    for route in held:
        route.abort()


def loading(service, browser, path):
    """A service that accepts the connection and does not answer yet."""
    with browser.open("about:blank") as page:
        # The test sees no requests of a shared worker.
        page.add_init_script("delete globalThis.SharedWorker")
        held = []
        page.route("**/events", lambda route: held.append(route))
        page.goto(service.url)
        expect(page.locator(".banner")).to_contain_text("Connecting")
        page.screenshot(path=path / "loading.png")
        expect(page.locator(".banner")).to_contain_text("Still waiting")
        page.screenshot(path=path / "loading-slow.png")
        release(held)


def stale(service, browser, path):
    """A connection on which nothing arrives any more, not even a heartbeat."""
    with browser.open("about:blank") as page:
        page.add_init_script("delete globalThis.SharedWorker")
        page.clock.install()
        page.goto(service.url)
        page.locator(".rows .row").first.wait_for()
        page.locator(".timeline .event").first.wait_for()
        held = []
        page.route("**/events", lambda route: held.append(route))
        page.clock.fast_forward(30_000)
        expect(page.locator(".banner")).to_contain_text("No data since")
        page.screenshot(path=path / "stale.png")
        release(held)


def gap(service, browser, path):
    """A service that has lost its events."""
    with shot(browser, service.url, path, "gap") as page:
        page.locator(".rows .row").first.wait_for()
        service.kill()
        shutil.rmtree(service.data)
        service.start()
        expect(page.locator(".missed-note")).to_contain_text("the current state was loaded")


def cut_link(service, browser, path):
    """A machine without a path: unreachable targets, one paused, and the diagnosis of one."""
    service.request("POST", "targets/self/pause")
    subprocess.run(["ip", "link", "set", "c0", "down"], check=True)
    for name, options in (("cut-light", {}), ("cut-dark-narrow", {"color_scheme": "dark", "width": NARROW})):
        with shot(browser, service.url, path, name, **options) as page:
            expect(page.locator("#verdict")).to_contain_text("Not reachable")
            expect(page.locator(".row.unreachable")).to_be_visible()
    with shot(browser, service.url + "#/target/gateway", path, "cut-explained") as page:
        page.locator(".steps li").first.wait_for()
    subprocess.run(["ip", "link", "set", "c0", "up"], check=True)
    network.turn(1)
    service.request("POST", "targets/self/resume")


def disconnected(service, browser, path):
    with contextlib.ExitStack() as stack:
        pages = [(name, stack.enter_context(browser.open(service.url, **options))) for name, options in variants()]
        for _, page in pages:
            page.locator(".rows .row").first.wait_for()
        service.kill()
        for name, page in pages:
            page.locator(".banner:visible").wait_for()
            page.screenshot(path=path / f"disconnected-{name}.png")
        service.start()
        name, page = pages[0]
        page.locator("header .connection.live").wait_for()
        page.wait_for_timeout(SETTLE_MS)
        page.screenshot(path=path / "back.png")


def empty(binary, browser, path):
    service = Service(binary, "{}")
    try:
        for name, width in (("empty", WIDE), ("empty-narrow", NARROW)):
            with shot(browser, service.url, path, name, width=width) as page:
                page.locator(".empty:visible").wait_for()
    finally:
        service.stop()
    with tempfile.TemporaryDirectory() as directory:
        made = subprocess.run(
            [binary, "token", "create", "--id", "page", "--scope", "read", "--output", f"{directory}/token"],
            check=True, capture_output=True, text=True)
    entry = "\n".join(f"  {line}" for line in made.stdout.strip().splitlines())
    service = Service(binary, f"access:\n  reads: token\ntokens:\n{entry}\n")
    try:
        with shot(browser, service.url, path, "denied") as page:
            page.locator("dialog[open]").wait_for()
    finally:
        service.stop()
