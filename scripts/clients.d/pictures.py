"""Takes the pictures of the status page for the README: pictures.py BINARY DIRECTORY writes page-light.png and page-dark.png.

It uses the browser of page.py, and a network namespace of its own. It takes minutes, because the page shows the last hour.
"""
import contextlib
import pathlib
import subprocess
import sys
import tempfile
import time

from page import Browser, check, shows_machine
from playwright.sync_api import expect, sync_playwright

BINARY, DIRECTORY = sys.argv[1], pathlib.Path(sys.argv[2])
URL = "http://127.0.0.1:8080/"
MINUTES = 5
# So that the README loads quickly.
LARGEST = 150_000
CONFIGURATION = """\
targets:
  - { id: shop, target: "http://10.0.0.20:8000/", interval: 5s, labels: { env: prod } }
  - { id: api, target: "http://10.0.0.20:8001/", interval: 5s, labels: { env: prod } }
  - { id: db, target: "tcp://10.0.0.20:5432", interval: 5s, labels: { env: prod } }
  - { id: mail, target: "tcp://10.0.0.20:25", interval: 5s }
  - { id: branch-shop, target: "http://10.77.0.2:8000/", interval: 5s }
  - { id: branch-printer, target: "tcp://10.77.0.2:5432", interval: 5s }
  - { id: router, target: "route://10.0.0.1", interval: 5s }
  - { id: staging, target: "http://10.0.0.20:8001/", interval: 5s, paused: true }
gates:
  checkout: { machine: reachable, targets: [shop, api, db] }
  branch: { targets: [branch-shop] }
"""
# The other end of both links.
SERVERS = """
import http.server, socket, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
for port in (8000, 8001, 5432):
    server = http.server.ThreadingHTTPServer(("0.0.0.0", port), Handler)
    threading.Thread(target=server.serve_forever).start()
print("ready", flush=True)
"""


def run(line):
    subprocess.run(line.split(), check=True)


def set_up(stack):
    """Two links to another network namespace; returns the command that runs in it."""
    other = subprocess.Popen(["unshare", "-n", sys.executable, "-c", SERVERS], stdout=subprocess.PIPE, text=True)
    stack.callback(other.wait)
    stack.callback(other.kill)
    other.stdout.readline()
    inside = f"nsenter -t {other.pid} -n "
    for name, address, far in (("eth0", "10.0.0.5", "10.0.0.20"), ("wlan0", "10.77.0.1", "10.77.0.2")):
        run(f"ip link add {name} type veth peer name far-{name}")
        run(f"ip link set far-{name} netns {other.pid}")
        run(f"{inside} ip address add {far}/24 dev far-{name}")
        run(f"{inside} ip link set far-{name} up")
        run(f"ip address add {address}/24 dev {name}")
        run(f"ip link set {name} up")
    run("ip route add default via 10.0.0.1")
    return inside


def main():
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work, sync_playwright() as playwright, contextlib.ExitStack() as stack:
        inside = set_up(stack)
        file = pathlib.Path(work, "reachd.yaml")
        file.write_text(CONFIGURATION, encoding="utf-8")
        process = subprocess.Popen([BINARY, "serve", "--config", file, "--data", f"{work}/data"], stderr=subprocess.DEVNULL)
        stack.callback(process.wait)
        stack.callback(process.kill)
        time.sleep(60 * MINUTES)
        run(f"{inside} ip link set far-wlan0 down")
        time.sleep(20)
        browser = Browser(playwright)
        for scheme in ("light", "dark"):
            picture = DIRECTORY / f"page-{scheme}.png"
            with browser.open(URL, height=540, color_scheme=scheme) as page:
                shows_machine(page, "Reachable")
                expect(page.locator(".rows .row", has_text="branch-shop")).to_contain_text("unreachable")
                expect(page.locator(".rows .row", has_text="db").locator(".share")).to_have_text("100 %")
                # The canvases are drawn after the rows.
                page.wait_for_timeout(2000)
                page.screenshot(path=picture)
            check(picture.stat().st_size <= LARGEST, f"{picture} has {picture.stat().st_size} bytes, at most {LARGEST}")
        messages = browser.take_messages()
        check(not messages, f"the console has messages: {messages}")


if __name__ == "__main__":
    main()
