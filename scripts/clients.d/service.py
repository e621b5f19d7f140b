"""A reachd that can be killed and started again on the same port, with a data directory."""
import contextlib
import json
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

START_LIMIT = 30
# A service that is busy with durable changes asks for another attempt.
BUSY_ATTEMPTS = 20


class Service:
    def __init__(self, binary, configuration, *options):
        self.binary = binary
        self.directory = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.directory.name, "reachd.yaml")
        self.file.write_text(configuration)
        self.data = pathlib.Path(self.directory.name, "data")
        self.options = options
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "serve", "--listen", f"127.0.0.1:{self.port}", "--config", str(self.file),
             "--data", str(self.data), *self.options],
            stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_LIMIT
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
        self.process.wait(START_LIMIT)
        self.directory.cleanup()

    def request(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        for attempt in range(BUSY_ATTEMPTS):
            request = urllib.request.Request(
                self.url + path, data, {"Content-Type": "application/json", "Accept": "application/json"}, method=method)
            try:
                with urllib.request.urlopen(request, timeout=20) as response:
                    return json.loads(response.read() or b"null")
            except urllib.error.HTTPError as error:
                if error.code != 503 or attempt == BUSY_ATTEMPTS - 1:
                    raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()}") from error
                time.sleep(0.5)

    def register_many(self, count, target, **definition):
        """Registers `bulk-0`, `bulk-1` …, in requests of 500."""
        for start in range(0, count, 500):
            results = self.request("POST", "targets", [
                {"id": f"bulk-{number}", "target": target.format(number=number), "labels": {"rack": str(number % 40)},
                 **definition} for number in range(start, min(count, start + 500))])["results"]
            wrong = [result for result in results if result["status"] not in (200, 201)]
            if wrong:
                raise SystemExit(f"not registered: {wrong[0]}")
