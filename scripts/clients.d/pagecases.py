"""Steps of page.py for what readers do and what goes wrong: keyboard, navigation, refusals, small screens, other clocks."""
import contextlib
import datetime
import json
import pathlib
import re
import subprocess
import tempfile

from playwright.sync_api import expect
from service import Service

# So that a test can answer the requests of the connection, which it does not see in a shared worker.
WITHOUT_WORKER = "delete globalThis.SharedWorker"
FOCUS = "document.activeElement.dataset.key ?? document.activeElement.className"


def check(condition, message):
    if not condition:
        raise SystemExit(f"page: {message}")


@contextlib.contextmanager
def opened_locally(browser, url, **options):
    """A page without a shared worker; `goto` loads it, after the test has installed its routes."""
    with browser.open("about:blank", **options) as page:
        page.add_init_script(WITHOUT_WORKER)
        yield page, lambda: page.goto(url)


def works_with_the_keyboard(service, browser):
    with browser.open(service.url) as page:
        page.locator(".rows .row").first.wait_for()
        page.locator(".scroller").focus()
        page.keyboard.press("ArrowDown")
        selected = page.locator(".rows .row[aria-selected=true]")
        expect(page.locator(".scroller")).to_have_attribute("aria-activedescendant", selected.get_attribute("id"))
        page.keyboard.press("Enter")
        panel = page.locator(".panel")
        expect(panel).to_be_focused()
        expect(panel).to_contain_text("connection refused")
        # The panel is drawn again by each action, and the keyboard stays.
        panel.get_by_role("button", name="Pause").focus()
        for name in ("Resume", "Pause"):
            page.keyboard.press("Enter")
            expect(panel.get_by_role("button", name=name)).to_be_focused()
        expect(panel.locator("canvas.plot")).to_be_visible()
        panel.locator("canvas.bars").focus()
        page.keyboard.press("End")
        expect(panel.locator("section", has=page.locator("canvas.bars"))).to_contain_text("down")
        panel.locator("canvas.plot").focus()
        page.keyboard.press("End")
        expect(panel).to_contain_text(re.compile(r"checks: \d+, failed: \d+"))
        expect(page.locator(".rows .row[aria-rowindex='2']")).to_contain_text("closed")
        page.keyboard.press("j")
        expect(panel.locator("h2")).not_to_contain_text("closed")
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        expect(page.locator(".scroller")).to_be_focused()


def navigates(service, browser):
    with browser.open(service.url) as page:
        rows = page.locator(".rows .row:visible")
        expect(rows).to_have_count(3)
        page.locator(".chip.up").click()
        expect(rows).to_have_count(2)
        page.locator(".rows .row", has_text="self").click()
        expect(page.locator(".panel")).to_contain_text("env=prod")
        page.go_back()
        expect(page.locator(".panel")).to_be_hidden()
        expect(rows).to_have_count(2)
        page.go_forward()
        page.locator(".panel").get_by_role("button", name="Close").click()
        check("state=up" in page.url, f"closing a target loses the filter: {page.url}")
        page.evaluate("location.hash = '#/?q=closed'")
        expect(rows).to_have_count(1)
        expect(page.locator(".chip.up")).to_have_attribute("aria-pressed", "false")
        page.evaluate("location.hash = '#/'")
        expect(rows).to_have_count(3)
        expect(page.get_by_role("combobox", name="Search")).to_have_value("")
        page.get_by_role("combobox", name="Search").fill("nothing matches")
        page.get_by_role("button", name="Show all targets").click()
        expect(rows).to_have_count(3)
        page.evaluate("location.hash = '#/target/self'")
        page.locator(".labels a", has_text="env=prod").click()
        expect(rows).to_have_count(1)
        expect(page.get_by_role("combobox", name="Search")).to_have_value("env=prod")
        page.evaluate("location.hash = '#/target/missing'")
        expect(page.locator(".panel")).to_contain_text("No target has this id")


def limits_the_interfaces(service, browser):
    with browser.open(service.url) as page:
        for number in range(15):
            subprocess.run(["ip", "link", "add", f"pod{number}", "type", "veth", "peer", f"peer{number}"], check=True)
        shown = page.locator(".interfaces .interface")
        more = page.locator(".interfaces button")
        expect(more).to_have_text("25 more")
        expect(shown).to_have_count(8)
        expect(shown.first).to_contain_text("c0")
        more.click()
        expect(shown).to_have_count(33)
        expect(more).to_be_focused()
        for number in range(15):
            subprocess.run(["ip", "link", "del", f"pod{number}"], check=True)
        expect(shown).to_have_count(3)


def fits_small_windows(service, browser):
    for width, height in ((640, 400), (320, 256)):
        with browser.open(service.url, width=width, height=height) as page:
            row = page.locator(".rows .row", has_text="gateway")
            row.wait_for(state="attached")
            row.scroll_into_view_if_needed()
            row.click()
            expect(page.locator(".panel h2")).to_contain_text("gateway")
            check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{width}×{height}: wider than the window")
            page.get_by_role("button", name="Timeline").click()
            expect(page.locator(".timeline")).to_be_visible()
            page.keyboard.press("Escape")
            expect(page.locator(".targets")).to_be_visible()


def works_without_script(service, browser):
    with browser.open(service.url, java_script_enabled=False) as page:
        expect(page.get_by_role("link", name="/targets")).to_be_visible()


def recovers_from_refused_documents(service, browser):
    """A service that is busy when the page is loaded, for the targets and for the timeline."""
    with opened_locally(browser, service.url) as (page, load):
        refusals = {"targets/overview": 2, "history": 1}

        def refuse(route):
            path = route.request.url[len(service.url):].split("?")[0]
            if refusals.get(path, 0) == 0:
                route.continue_()
                return
            refusals[path] -= 1
            if path == "targets/overview" and refusals[path] == 1:
                expect(page.locator(".empty")).to_have_count(2)
                check(page.locator(".empty:visible").count() == 0, "no targets, before they are known")
            route.fulfill(status=503, content_type="application/problem+json", body=json.dumps({"detail": "busy"}))

        page.route("**/*", refuse)
        load()
        expect(page.locator(".rows .row:visible")).to_have_count(3)
        expect(page.locator("header .connection.live")).to_be_visible()
        expect(page.locator(".timeline")).to_contain_text("reachd started")
        check(refusals == {"targets/overview": 0, "history": 0}, f"not requested: {refusals}")


def follows_the_clock_of_the_service(service, browser):
    """A browser whose clock is three hours ahead."""
    with opened_locally(browser, service.url) as (page, load):
        page.clock.install(time=datetime.datetime.now() + datetime.timedelta(hours=3))
        load()
        expect(page.locator("#verdict")).to_contain_text("Reachable")
        age = page.locator(".machine .since").inner_text()
        check(" h" not in age.replace("\u00a0", " "), f"the age has the difference of the clocks: {age}")


def loads_the_page_of_a_new_version(service, browser):
    with browser.open("about:blank") as page:
        def age(route):
            response = route.fetch()
            route.fulfill(response=response, body=re.sub(r'data-build="\w+"', 'data-build="000000000000"', response.text()))

        page.route(service.url, age)
        page.goto(service.url)
        expect(page.locator(".rows .row:visible")).to_have_count(3)
        page.evaluate("window.marker = 1")
        page.unroute(service.url)
        service.kill()
        expect(page.locator(".banner")).to_contain_text("Disconnected since")
        with page.expect_event("load"):
            service.start()
        check(page.evaluate("window.marker") is None, "the old page is still shown")
        expect(page.locator(".rows .row:visible")).to_have_count(3)


def loads_itself_again_without_its_script(service, browser):
    """As when the network changes while the page is loaded: Chromium cancels all requests."""
    with opened_locally(browser, service.url) as (page, load):
        aborted = []

        def abort(route):
            if aborted:
                route.continue_()
            else:
                aborted.append(route.request.url)
                route.abort()

        page.route("**/app.js", abort)
        load()
        expect(page.locator(".rows .row:visible")).to_have_count(3)
        check(aborted, "the script was not requested")


def refuses_actions_without_a_scope(binary, browser):
    """A token that may read, and the scope of what it may not; then a token that is revoked."""
    with tempfile.TemporaryDirectory() as directory:
        token = pathlib.Path(directory, "page")
        # The service names a missing scope only if some token has it.
        entry = ""
        for name, scopes in (("other", ("check", "targets:write")), ("page", ("read",))):
            made = subprocess.run(
                [binary, "token", "create", "--id", name, "--output", str(pathlib.Path(directory, name)),
                 *(word for scope in scopes for word in ("--scope", scope))],
                check=True, capture_output=True, text=True)
            entry += "".join(f"  {line}\n" for line in made.stdout.strip().splitlines())
        targets = "targets:\n  - { id: closed, target: 'tcp://127.0.0.1:9', interval: 5s }\n"
        service = Service(binary, f"access:\n  reads: token\n  checks: token\ntokens:\n{entry}{targets}")
        try:
            secret = token.read_text().strip()
            with browser.open(f"{service.url}#token={secret}") as page:
                page.locator(".rows .row", has_text="closed").click()
                panel = page.locator(".panel")
                panel.get_by_role("button", name="Check now").click()
                expect(panel.locator(".problem")).to_contain_text("a token with the scope check")
                panel.get_by_role("button", name="Pause").click()
                expect(panel.locator(".problem")).to_contain_text("a token with the scope targets:write")
                panel.get_by_role("button", name="Access token").click()
                dialog = page.locator("dialog[open]")
                expect(dialog).to_contain_text("reachd token create --scope targets:write")
                expect(dialog.get_by_label("Access token")).to_be_focused()
                page.keyboard.press("Escape")
                expect(dialog).to_be_hidden()
            refused_token(service, browser, secret)
        finally:
            service.stop()


def refused_token(service, browser, secret):
    """The token is revoked while the page is open: the dialog comes once, and the data stay."""
    with opened_locally(browser, f"{service.url}#token={secret}") as (page, load):
        load()
        page.locator(".rows .row").first.wait_for()
        service.kill()
        service.file.write_text(re.sub(r'(sha256: ")[0-9a-f]{4}', r"\g<1>0000", service.file.read_text()))
        service.start()
        dialog = page.locator("dialog[open]")
        expect(dialog).to_contain_text("401")
        dialog.get_by_role("button", name="Close").click()
        page.clock.install()
        page.clock.run_for(5000)
        expect(dialog).to_be_hidden()
        expect(page.locator(".banner")).to_contain_text("requires a token with the scope read")
        expect(page.locator(".rows .row")).to_have_count(1)
        page.locator(".banner").get_by_role("button", name="Access token").click()
        expect(dialog).to_be_visible()
