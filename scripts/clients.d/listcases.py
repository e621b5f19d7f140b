"""Steps of page.py for a list of 300 targets: what is seen, read aloud, printed and linked is the same."""
import json
import re
import subprocess

from pagecases import check
from playwright.sync_api import expect
from service import Service

COUNT = 300
SLASH = "app.kubernetes.io/name"
# Refused by this machine, without a route, not known yet, and up.
KINDS = (("refused", 8, "tcp://127.0.0.1:9"), ("cut", 8, "tcp://10.99.0.1:1"), ("far", 4, "tcp://10.98.0.1:1"), ("up", 280, "route://10.9.0.1"))
GATES = """
gates:
  app: { targets: [refused-0] }
  ready: { targets: [up-0] }
"""


def configuration():
    lines = ["limits: { targets: 1000 }", "targets:"]
    for name, count, target in KINDS:
        lines += [f'  - {{ id: {name}-{number}, target: "{target}", interval: 30s, fall: 1, '
                  f'labels: {{ env: {"prod" if number % 2 else "test"}, "{SLASH}": {name} }} }}' for number in range(count)]
    return "\n".join(lines) + GATES


def rows(page):
    return page.locator(".rows .row:visible")


def settled(page):
    expect(page.locator(".scroller")).to_have_attribute("aria-rowcount", str(COUNT + 1))
    expect(page.locator(".chip.up .count")).to_have_text("280")
    expect(page.locator(".chip.down .count")).to_have_text("8")


def shows_three_hundred(binary, browser):
    for network in ("10.99.0.0/16", "10.98.0.0/16"):
        kind = "unreachable" if network.startswith("10.99") else "prohibit"
        subprocess.run(["ip", "route", "replace", kind, network], check=True)
    service = Service(binary, configuration())
    try:
        has_an_answer_first(service, browser)
        shows_every_reason(service, browser)
        is_read_as_it_is_seen(service, browser)
        prints_every_target(service, browser)
        finds_labels(service, browser)
        groups_by_label(service, browser)
        follows_links(service, browser)
        filters_the_timeline(service, browser)
        hangs_on_a_wall(service, browser)
        names_links_that_are_down(service, browser)
    finally:
        service.stop()
        for network in ("10.99.0.0/16", "10.98.0.0/16"):
            subprocess.run(["ip", "route", "del", network], check=False, capture_output=True)


def has_an_answer_first(service, browser):
    with browser.open(service.url) as page:
        settled(page)
        headline = page.locator("#headline")
        expect(headline).to_have_text(re.compile(r"8 down, 12 unreachable of 300 · longest \d+.s"))
        check(headline.evaluate("element => element.className") == "headline state down", "the headline is green")
        expect(page).to_have_title(re.compile("^✖ 8 down, 12 unreachable of 300"))
        check("state-down" in page.locator("#icon").get_attribute("href"), "the icon does not say the same")
        expect(page.locator(".gate", has_text="app")).to_contain_text("closed · targets are not up")
        expect(page.locator(".gate", has_text="ready")).to_contain_text("open")
        # A burst is one line, and opens.
        burst = page.locator(".timeline .event", has_text=re.compile(r"\d+ targets unknown → up"))
        expect(burst.first).to_be_visible()
        burst.first.locator("summary").click()
        expect(burst.first.locator("a").first).to_be_visible()


def shows_every_reason(service, browser):
    for locale in ("en", "zh-CN"):
        with browser.open(service.url, width=1280, locale=locale) as page:
            settled(page)
            cut = page.evaluate("""[...document.querySelectorAll(".rows .row:not(.up) .note")]
                .filter((cell) => cell.scrollWidth > cell.clientWidth || cell.clientWidth < 220).map((cell) => cell.textContent)""")
            check(not cut, f"{locale}: a reason is cut, or its column is narrow: {cut}")


def names(tree):
    """The rows of an accessibility tree in its order: their ids and names."""
    children = {node["nodeId"]: node for node in tree}
    found = []

    def walk(node):
        if node.get("role", {}).get("value") == "row":
            found.append(" ".join(text(children, node)))
        else:
            for child in node.get("childIds", []):
                if child in children:
                    walk(children[child])

    walk(tree[0])
    return found


def text(nodes, node):
    if node.get("role", {}).get("value") == "StaticText":
        yield node.get("name", {}).get("value", "")
        return
    for child in node.get("childIds", []):
        if child in nodes:
            yield from text(nodes, nodes[child])


def is_read_as_it_is_seen(service, browser):
    with browser.open(service.url) as page:
        settled(page)
        session = page.context.new_cdp_session(page)
        for step in (0, 900, 1800, 700, 2600):
            page.evaluate(f"document.querySelector('.scroller').scrollTop = {step}")
            page.wait_for_timeout(200)
            seen = page.evaluate("""[...document.querySelectorAll(".rows .row")]
                .map((row) => ({ top: row.getBoundingClientRect().top, id: row.dataset.id }))""")
            check([row["top"] for row in seen] == sorted(row["top"] for row in seen), f"not in the order that is seen: {seen}")
            read = names(session.send("Accessibility.getFullAXTree")["nodes"])
            check(read[0].startswith("State Target For Last hour"), f"the titles are not read: {read[0]}")
            order = [next(word for word in row.split() if "-" in word) for row in read[1:]]
            check(order == [row["id"] for row in seen], f"read: {order}, seen: {seen}")
        # The keys move the keyboard with the selection.
        page.keyboard.press("j")
        expect(page.locator(".scroller")).to_be_focused()
        expect(page.locator(".row[aria-selected=true]")).to_have_count(1)
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".tip")).to_contain_text("–")
        page.evaluate("document.querySelector('.scroller').scrollTop = 0")
        expect(page.locator(".row.down canvas").first).to_have_attribute("aria-label", re.compile("last 24 hours: .*down"))
        expect(page.locator(".row.unreachable canvas").first).to_have_attribute("aria-label", re.compile("unreachable"))


def prints_every_target(service, browser):
    with browser.open(service.url) as page:
        settled(page)
        page.evaluate("addEventListener('beforeprint', () => { window.printed = [...document.querySelectorAll('.rows .row')].map((row) => row.dataset.id) })")
        page.pdf()
        printed = page.evaluate("window.printed")
        check(len(set(printed)) == COUNT, f"{len(set(printed))} of {COUNT} targets are printed")
        check(page.evaluate("document.querySelectorAll('.rows .row').length") <= 60, "the rows of the paper stay")


def finds_labels(service, browser):
    with browser.open(service.url + "#/target/cut-1") as page:
        settled(page)
        page.locator(".labels a", has_text=f"{SLASH}=cut").click()
        expect(rows(page)).to_have_count(8)
        search = page.get_by_role("combobox", name="Search")
        expect(search).to_have_value(f"{SLASH}=cut")
        search.fill("far")
        expect(rows(page)).to_have_count(4)
        search.fill("unreachable rou")
        expect(rows(page)).to_have_count(8)
        search.fill("pro")
        options = page.locator("#suggestions option").evaluate_all("options => options.map(({ value }) => value)")
        check(options == ["env=prod"], f"suggested: {options}")


def groups_by_label(service, browser):
    with browser.open(service.url) as page:
        settled(page)
        page.get_by_role("combobox", name="Group by label").select_option(SLASH)
        groups = page.locator(".row.group")
        expect(groups.first).to_contain_text("refused")
        expect(groups.first).to_contain_text("8 down")
        for name in ("refused", "cut", "far"):
            page.locator(".row.group", has_text=name).locator("button").click()
        expect(rows(page).nth(3)).to_contain_text("up")
        check("group=app.kubernetes.io%2Fname" in page.url and "fold=" in page.url, f"not in the URL: {page.url}")
        page.reload()
        expect(rows(page).nth(3)).to_contain_text("280 up")
        expect(page.locator(".scroller")).to_have_attribute("aria-rowcount", str(280 + 4 + 1))


def follows_links(service, browser):
    """A link to a target scrolls to it; the filter, the group and the window are in the URL, through reload and back."""
    with browser.open(service.url + "#/target/up-250?q=up&window=7d") as page:
        expect(page.locator(".scroller")).to_have_attribute("aria-rowcount", str(280 + 1))
        selected = page.locator(".row[aria-selected=true]")
        expect(selected).to_contain_text("up-250")
        expect(selected).to_be_in_viewport()
        expect(page.get_by_role("button", name="7 d")).to_have_attribute("aria-pressed", "true")
        page.get_by_role("button", name="1 h", exact=True).click()
        check("window=1h" in page.url and "q=up" in page.url, f"not in the URL: {page.url}")
        panel = page.locator(".panel")
        panel.get_by_role("button", name="Check now").click()
        expect(panel.locator(".check-result")).to_contain_text("up")
        check(panel.get_by_role("link", name="JSON").get_attribute("href") == "targets/up-250", "the link to the document is wrong")
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        check("q=up" in page.url, f"the filter is lost: {page.url}")


def filters_the_timeline(service, browser):
    with browser.open(service.url) as page:
        settled(page)
        timeline = page.locator(".timeline")
        timeline.get_by_role("combobox").select_option("gate")
        expect(timeline.locator(".event").first).to_contain_text("Gate")
        timeline.get_by_role("combobox").select_option("")
        timeline.get_by_role("searchbox").fill("env=prod far")
        expect(timeline.locator(".event").first).to_contain_text("far-")
        timeline.get_by_role("searchbox").fill("nothing")
        expect(timeline).to_contain_text("No event matches")
        times = timeline.locator("time")
        timeline.get_by_role("searchbox").fill("")
        check(re.search(r"UTC", times.first.get_attribute("title")), "a time has no zone")
        texts = [item["id"] for item in service.request("GET", "history?limit=500")["history"] if item["type"] == "target"]
        check(texts == sorted(texts, key=lambda word: -int(word.split("-")[1])), "the history is not newest first")


def hangs_on_a_wall(service, browser):
    with browser.open(service.url + "?kiosk", width=1920, height=1080) as page:
        expect(page.locator(".scroller")).to_have_attribute("aria-rowcount", str(20 + 1))
        for hidden in (".tools", ".timeline", "header .buttons", ".row .chart"):
            check(page.locator(hidden).first.is_hidden(), f"{hidden} is shown on a wall")
        size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.rows .row .id')).fontSize)")
        check(size >= 24, f"the type has {size} px")


def names_links_that_are_down(service, browser):
    """Without a link that is up, the diagnosis names the link, not the route."""
    links = [item["ifname"] for item in json.loads(subprocess.check_output(["ip", "-j", "link"])) if "LOOPBACK" not in item["flags"]]
    for name in links:
        subprocess.run(["ip", "link", "set", name, "down"], check=True)
    try:
        with browser.open(service.url + "#/target/up-0") as page:
            expect(page.locator("#headline")).to_contain_text("This machine is not reachable")
            failed = page.locator(".panel .steps .fail")
            expect(failed).to_contain_text("link no link is up: ")
            expect(failed).to_contain_text(f"{links[0]} (disabled)")
    finally:
        for name in links:
            subprocess.run(["ip", "link", "set", name, "up"], check=True)
        subprocess.run(["ip", "route", "replace", "default", "via", "10.9.0.1", "dev", "c0"], check=True)
    browser.take_messages()
