"""Readers of an event stream: each collects the ids of the numbered events and reconnects with the last one it received."""
import http.client
import subprocess
import threading
import urllib.parse

# A snapshot has an id too, but is not an event of the history.
NUMBERED = {"status", "path", "interface"}


def target(url):
    """The request target of a parsed URL: without its query a reader would receive events of every type."""
    return f"{url.path}?{url.query}" if url.query else url.path


class Reader:
    def __init__(self, url):
        self.url = url
        self.ids = []
        self.last = None
        self.ready = False
        self.stopped = False
        self.error = None
        # Not in the threads, because concurrent imports of the same module can see a partial module.
        self.load()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def load(self):
        """Imports the modules that only this reader needs."""

    def run(self):
        while not self.stopped:
            try:
                self.read({"Last-Event-ID": self.last} if self.last else {})
            # Each library reports a disconnect differently; a reader that stops is detected by its ids.
            except Exception as error:  # pylint: disable=broad-except
                self.error = error

    def take(self, name, event_id):
        self.ready = True
        if event_id:
            self.last = event_id
        if name in NUMBERED:
            self.ids.append(event_id)

    def parse(self, lines):
        """Parses as in WHATWG HTML; only an empty line completes an event."""
        fields = {}
        for line in lines:
            line = line.rstrip(b"\r\n")
            if not line:
                if "data" in fields:
                    self.take(fields.get("event"), fields.get("id"))
                fields = {}
            elif not line.startswith(b":"):
                name, _, value = line.decode().partition(":")
                fields[name] = value.removeprefix(" ")

    def stop(self):
        self.stopped = True


class Raw(Reader):
    def read(self, headers):
        url = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
        connection.request("GET", target(url), headers=headers)
        self.parse(connection.getresponse())


class Curl(Reader):
    def read(self, headers):
        words = [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]
        with subprocess.Popen(["curl", "-sN", *words, self.url], stdout=subprocess.PIPE) as self.process:
            self.parse(self.process.stdout)

    def stop(self):
        super().stop()
        self.process.kill()


class HTTPX(Reader):
    def load(self):
        import httpx
        import httpx_sse
        self.httpx, self.httpx_sse = httpx, httpx_sse

    def read(self, headers):
        with self.httpx.Client(timeout=60) as client, self.httpx_sse.connect_sse(
                client, "GET", self.url, headers=headers) as source:
            for event in source.iter_sse():
                self.take(event.event, event.id)


class SSEClient(Reader):
    def load(self):
        import requests
        import sseclient
        self.requests, self.sseclient = requests, sseclient

    def read(self, headers):
        with self.requests.get(self.url, headers=headers, stream=True, timeout=60) as response:
            for event in self.sseclient.SSEClient(response).events():
                self.take(event.event, event.id)


class EventSource(Reader):
    """Records the events; the browser reconnects itself."""

    def run(self):
        from playwright.sync_api import sync_playwright
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox"])
            page = browser.new_page()
            page.expose_function("take", self.take)
            url = urllib.parse.urlsplit(self.url)
            # The proxy has a page of the stream's origin (scissors.py).
            page.goto(url._replace(path="/page", query="").geturl())
            page.evaluate("""([target, names]) => {
              const source = new EventSource(target)
              for (const name of names) source.addEventListener(name, event => take(name, event.lastEventId))
            }""", [target(url), ["snapshot", *NUMBERED]])
            while not self.stopped:
                page.wait_for_timeout(50)
            browser.close()

    def stop(self):
        super().stop()
        self.thread.join(30)


READERS = {"raw": Raw, "curl": Curl, "httpx-sse": HTTPX, "sseclient-py": SSEClient, "EventSource": EventSource}
