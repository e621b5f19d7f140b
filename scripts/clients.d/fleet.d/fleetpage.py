"""Drives the page of a replica with Chromium against a real fleet: fleetpage.py BINARY [SCREENSHOT-DIRECTORY]."""
import json
import re
import urllib.request

import fleetnet
import madeup
from chromium import Browser
from fleetnet import HOST, REPLICA, Listener, define, ip, request
from page import BINARY, SHOTS, check, no_messages, step
from playwright.sync_api import expect, sync_playwright
from screenshots import shot, variants

URL = f"http://{REPLICA}/"
AGENTS = {"node-a": (2, "a"), "node-b": (3, "b"), "node-c": (4, "b")}


def row(page, section, identifier):
    return page.locator(f"section[aria-labelledby={section}-title] tr[data-id='{identifier}']")


def shows_the_fleet(browser):
    step("agents, targets with their verdicts, and who reaches whom")
    with browser.open(URL) as page:
        expect(page.locator("header .connection.live")).to_be_visible()
        expect(row(page, "targets", "web")).to_contain_text("up")
        expect(row(page, "agents", "node-b")).to_contain_text("present")
        expect(row(page, "agents", "node-b")).to_contain_text("2 of 2")
        expect(page.locator("main")).to_contain_text("agents: 3 present, 0 silent")
        page.get_by_role("button", name="As a table").click()
        table = page.locator(".matrix table")
        expect(table.locator("thead th")).to_have_text(["node-a", "node-b", "node-c"])
        expect(table.locator("tbody tr").nth(1).locator("td")).to_have_text(["✔ up", "–", "✔ up"])
        page.get_by_role("button", name="By zones").click()
        expect(table.locator("thead th")).to_have_text(["a", "b"])
        page.get_by_role("combobox", name="Search").fill("nothing matches")
        expect(page.locator("main")).to_contain_text("No target matches")
    no_messages(browser)


def follows_an_outage(browser, listener, agent):
    step("verdicts, cells and a silent agent change without a reload, and are announced")
    with browser.open(URL) as page:
        expect(row(page, "targets", "web")).to_contain_text("up")
        page.evaluate("window.marker = 1")
        listener.close()
        expect(row(page, "targets", "web")).to_contain_text("down")
        expect(row(page, "targets", "web")).to_contain_text("connection refused · from 3 of 3 agents, 2 zones")
        expect(row(page, "problems", "web")).to_contain_text("down")
        expect(page.locator("#headline")).to_contain_text(re.compile("[12] down of 3 · longest"))
        expect(page.locator("[aria-live=polite]")).to_contain_text("verdicts changed")
        page.locator(".chip.paused").click()
        expect(page.locator("section[aria-labelledby=targets-title] tbody tr")).to_have_count(1)
        page.locator(".chip.paused").click()
        ip("link", "set", agent.cable, "down")
        expect(row(page, "agents", agent.name)).to_contain_text("silent")
        expect(row(page, "agents", agent.name).locator("td.state.down")).to_be_visible()
        page.get_by_role("button", name="As a table").click()
        expect(page.locator(".matrix tbody tr").first.locator("td").nth(2)).to_have_text("? unknown")
        agent.connect()
        expect(row(page, "agents", agent.name)).to_contain_text("present")
        expect(page.locator(".matrix tbody tr").first.locator("td").nth(2)).to_have_text("✔ up")
        check(page.evaluate("window.marker") == 1, "the page was loaded again")
        shown = {each.get_attribute("data-id"): each.locator("td").first.inner_text().split()[-1]
                 for each in page.locator("section[aria-labelledby=targets-title] tbody tr").all()}
        served = {each["id"]: each["verdict"] for each in request("GET", "/fleet/targets")["targets"]}
        check(shown == served, f"the page shows {shown}, the replica has {served}")
    # Chromium cancels the requests that are under way when an interface changes.
    no_messages(browser, allowed=("ERR_NETWORK_CHANGED",))


def reads_what_has_changed(browser):
    step("a change reads one target, and again if that fails, not the list")
    with browser.open(URL) as page:
        expect(row(page, "targets", "web")).to_be_visible()
        failures, lists = [], []

        def fail(route):
            if failures:
                route.continue_()
            else:
                failures.append(route.request.url)
                route.abort()

        page.route("**/fleet/targets/late", fail)
        page.on("request", lambda sent: lists.append(sent.url) if "/fleet/targets?" in sent.url else None)
        define("late", HOST)
        votes = row(page, "targets", "late").locator(".votes")
        expect(votes).to_contain_text(f"✖ {len(AGENTS)} down")
        check(failures, "the target was not requested")
        define("late", HOST, paused=True)
        expect(row(page, "targets", "late")).to_contain_text("paused")
        expect(votes).to_contain_text(f"‖ {len(AGENTS)} paused")
        request("DELETE", "/fleet/targets/late")
        expect(row(page, "targets", "late")).to_have_count(0)
        check(not lists, f"the list was read again: {lists}")
    browser.take_messages()


def opens_a_target(browser):
    step("one target: the votes of its agents, a check now, the keyboard")
    with browser.open(URL) as page:
        row(page, "targets", "web").get_by_role("link").click()
        detail = page.locator(".fleet-detail")
        expect(detail.locator("tbody tr")).to_have_count(3)
        expect(detail).to_contain_text("connection refused")
        detail.get_by_role("button", name="Check now").click()
        expect(detail.locator(".results li")).to_have_count(3)
        expect(detail.locator(".results li").first).to_contain_text("✖ down node-a")
        # A change of the target is drawn, and takes neither the results nor the keyboard away.
        button = detail.get_by_role("button", name="Check now")
        button.focus()
        define("web", HOST, place={"count": 2})
        expect(detail.locator("tbody tr")).to_have_count(2)
        expect(detail.locator(".results li")).to_have_count(3)
        expect(button).to_be_focused()
        define("web", HOST)
        expect(detail.locator("tbody tr")).to_have_count(3)
        page.keyboard.press("Escape")
        expect(detail).to_be_hidden()
        expect(row(page, "problems", "web").get_by_role("link")).to_be_focused()
        page.locator(".matrix-frame").focus()
        expect(page.locator(".matrix-detail")).to_have_text("node-a → node-a: not checked")
        page.keyboard.press("ArrowDown")
        expect(page.locator(".matrix-detail")).to_contain_text("node-a → node-b: up")
        page.keyboard.press("/")
        expect(page.get_by_role("combobox", name="Search")).to_be_focused()
    no_messages(browser)


def keeps_the_filter(browser):
    step("search and verdicts are in the URL, through reload, a target and back")
    with browser.open(URL) as page:
        rows = page.locator("section[aria-labelledby=targets-title] > .table-frame tbody tr")
        expect(rows).to_have_count(3)
        page.locator(".chip.down").click()
        page.get_by_role("combobox", name="Search").fill("web")
        expect(rows).to_have_count(1)
        check(page.url.endswith("#/?q=web&state=down"), f"not in the fragment: {page.url}")
        page.reload()
        expect(rows).to_have_count(1)
        expect(page.get_by_role("combobox", name="Search")).to_have_value("web")
        expect(page.locator(".chip.down")).to_have_attribute("aria-pressed", "true")
        row(page, "targets", "web").get_by_role("link").click()
        expect(page.locator(".fleet-detail")).to_contain_text("connection refused")
        page.keyboard.press("Escape")
        expect(page.locator(".fleet-detail")).to_be_hidden()
        check(page.url.endswith("#/?q=web&state=down"), f"closing a target loses the filter: {page.url}")
        page.evaluate("location.hash = '#/'")
        expect(rows).to_have_count(3)
        page.go_back()
        expect(rows).to_have_count(1)
    no_messages(browser)


def loads_the_page_of_a_new_version(browser, replica):
    step("a page of another version is replaced when the replica returns")
    with browser.open("about:blank") as page:
        page.add_init_script("""new MutationObserver((records, observer) => {
            const app = document.getElementById("app");
            if (app) { app.dataset.build = "000000000000"; observer.disconnect(); }
        }).observe(document, { childList: true, subtree: true })""")
        page.goto(URL)
        expect(row(page, "targets", "web")).to_be_visible()
        page.evaluate("window.marker = 1")
        replica.stop()
        expect(page.locator(".banner").first).to_contain_text("Disconnected since")
        with page.expect_event("load"):
            replica.start()
        check(page.evaluate("window.marker") is None, "the old page is still shown")
        expect(row(page, "targets", "web")).to_be_visible()
    fleetnet.wait("the agents", lambda: request("GET", "/fleet")["agents"]["present"] == len(AGENTS))
    browser.take_messages()


def fits_a_phone(browser):
    step("360 px: every cell is within the window")
    with browser.open(URL, width=360) as page:
        expect(row(page, "targets", "web")).to_contain_text("from 3 of 3 agents")
        for fragment in ("#/", "#/target/web"):
            page.evaluate("location.hash = '%s'" % fragment)
            page.locator(".fleet-detail tbody tr").first.wait_for(state="visible" if "web" in fragment else "hidden")
            outside = page.evaluate("""[...document.querySelectorAll(".table-frame:not(.matrix-frame) :is(td, tbody th)")]
                .filter((cell) => cell.getBoundingClientRect().right > innerWidth || cell.scrollWidth > cell.clientWidth + 1)
                .map((cell) => cell.textContent)""")
            check(not outside, f"outside of the window: {outside}")
            tables = page.get_by_role("row").filter(has=page.get_by_role("rowheader"))
            check(tables.count() > 0, "the rows are not those of a table for screen readers")
    no_messages(browser)


def shows_a_large_fleet(browser):
    step("60 agents, 1,200 targets: rows of one line, problems first, a matrix whose labels stay")
    with madeup.replica(URL.rstrip("/")) as url:
        with browser.open("about:blank", width=1280) as page:
            page.add_init_script(FIRST_ROW)
            page.goto(url)
            problems = page.locator("section.problems tbody tr")
            expect(problems).to_have_count(20)
            expect(page.locator("header .connection.live")).to_be_visible()
            expect(page.locator("#headline")).to_contain_text("10 down, 23 partial of 1,200")
            expect(problems.first).to_contain_text("connection refused · from 60 of 60 agents, 6 zones")
            heights = page.evaluate("[...document.querySelectorAll('main tbody tr')].map((row) => row.getBoundingClientRect().height)")
            check(len(heights) > 200 and max(heights) <= 40, f"a row has {max(heights)} px")
            cut = page.evaluate("""[...document.querySelectorAll(".problems .reason")].filter((cell) => cell.scrollWidth > cell.clientWidth)
                .map((cell) => cell.textContent)""")
            check(not cut, f"the reason is cut: {cut}")
            expect(page.get_by_role("button", name="By zones")).to_have_attribute("aria-pressed", "true")
            page.get_by_role("button", name="By zones").click()
            labels_stay(page)
            print(f"    first rows after {page.evaluate('firstRow'):.0f} ms (bar: 1,000), matrix of 60 × 60 drawn in "
                  f"{page.evaluate(REDRAW):.1f} ms (bar: 8)", flush=True)
            page.locator(".problems .more").click()
            expect(page.locator("section.all-targets tbody tr")).to_have_count(33)
            order = page.evaluate("""[...document.querySelectorAll("main > section")].filter((each) => !each.hidden)
                .map((each) => each.getBoundingClientRect().top)""")
            check(order == sorted(order), f"the order of the document is not the one that is seen: {order}")
        with browser.open(url + "?kiosk", width=1920, height=1080) as page:
            expect(page.locator("section.problems tbody tr")).to_have_count(20)
            expect(page.locator(".tools")).to_be_hidden()
            expect(page.locator(".matrix")).to_be_hidden()
    no_messages(browser)


# The time from the navigation to the first row; and the median of 21 drawings, with the time in which the canvas is painted.
FIRST_ROW = """new MutationObserver((records, observer) => {
    if (!document.querySelector('.problems tbody tr')) return;
    window.firstRow = performance.now();
    observer.disconnect();
}).observe(document, { childList: true, subtree: true })"""
REDRAW = """() => {
    const button = document.querySelector('.matrix .actions button');
    const canvas = document.querySelector('.cells canvas');
    const times = Array.from({ length: 21 }, () => {
        const begin = performance.now();
        button.click();
        canvas.getContext('2d').getImageData(0, 0, 1, 1);
        return performance.now() - begin;
    });
    return times.sort((one, other) => one - other)[10];
}"""


def labels_stay(page):
    """The labels of the columns are where they were after the pointer was moved, and after the matrix was scrolled."""
    frame, labels, cells = (page.locator(f".matrix-frame{part}") for part in ("", " .column-labels", " .cells canvas"))
    picture = "canvas => canvas.toDataURL()"
    before = labels.evaluate(picture), cells.evaluate(picture)
    frame.scroll_into_view_if_needed()
    box = cells.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    expect(page.locator(".matrix-detail")).to_contain_text("→")
    check((labels.evaluate(picture), cells.evaluate(picture)) == before, "the matrix was drawn again for the pointer")
    frame.evaluate("frame => { frame.scrollTop = 300; frame.scrollLeft = 200; }")
    check(abs(labels.bounding_box()["y"] - frame.bounding_box()["y"]) <= 2, "the labels of the columns were scrolled away")


def obeys_the_policy():
    step("the page has the policy of the status page, and nothing from other origins")
    answer = urllib.request.urlopen(urllib.request.Request(URL, headers={"Accept": "text/html"}), timeout=10)
    check("require-trusted-types-for 'script'" in answer.headers["Content-Security-Policy"], "no policy")
    html = answer.read().decode()
    check("fleet.js" in html and '="/' not in html and "//" not in html, "an absolute URL")
    index = json.load(urllib.request.urlopen(URL, timeout=10))
    check(index["name"] == "reachd", "other clients get the index")


def is_accessible(browser):
    step("axe finds no violation, light and dark, wide and narrow, canvas and table, and a target")
    from axe_playwright_python.sync_playwright import Axe
    for scheme in ("light", "dark"):
        for width in (1280, 360):
            for fragment in ("", "#/target/web"):
                with browser.open(URL + fragment, width=width, color_scheme=scheme, bypass_csp=True) as page:
                    expect(row(page, "targets", "web")).to_be_visible()
                    if fragment:
                        page.locator(".fleet-detail tbody tr").first.wait_for()
                        page.get_by_role("button", name="As a table").click()
                    results = Axe().run(page)
                    found = [f"{item['id']}: {item['nodes'][0]['html']}" for item in results.response["violations"]]
                    check(not found, f"axe, {scheme}, {width} px, {fragment or 'all'}: {found}")
                    excess = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                    check(excess <= 0, f"{width} px: the page is {excess} px too wide")
    browser.take_messages()


def take_screenshots(browser, agent):
    step("screenshots")
    SHOTS.mkdir(parents=True, exist_ok=True)
    ip("link", "set", agent.cable, "down")
    fleetnet.wait("a silent agent", lambda: request("GET", f"/fleet/agents/{agent.name}")["state"] == "lost")
    fleetnet.wait("its peers", lambda: (request("GET", f"/fleet/agents/{agent.name}")["reached"] or {})["verdict"] == "down")
    for variant, options in variants():
        with shot(browser, URL, SHOTS, f"fleet-{variant}", height=1100, **options) as page:
            expect(row(page, "targets", "web")).to_be_visible()
        with shot(browser, URL + "#/target/web", SHOTS, f"fleet-target-{variant}", height=1100, **options) as page:
            page.locator(".fleet-detail tbody tr").first.wait_for()
            page.locator(".matrix .actions button").nth(3).click()
    browser.take_messages()


def main():
    listener = Listener()
    with fleetnet.running(BINARY + "-fleet", AGENTS) as (members, _), sync_playwright() as playwright:
        browser = Browser(playwright)
        define("web", HOST)
        define("dns", HOST, place={"count": 1}, labels={"env": "prod"})
        define("path", "10.79.0.9", paused=True)
        fleetnet.expect("web", "up")
        fleetnet.wait("the mesh", lambda: len(request("GET", "/fleet/matrix?of=agents&state=up")["cells"]) == 6)
        shows_the_fleet(browser)
        follows_an_outage(browser, listener, members[3])
        reads_what_has_changed(browser)
        opens_a_target(browser)
        keeps_the_filter(browser)
        fits_a_phone(browser)
        shows_a_large_fleet(browser)
        loads_the_page_of_a_new_version(browser, members[0])
        obeys_the_policy()
        is_accessible(browser)
        if SHOTS:
            take_screenshots(browser, members[3])
    print("fleetpage: passed")


if __name__ == "__main__":
    main()
