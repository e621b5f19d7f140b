"""Receives webhooks with independent programs: PyPI's standardwebhooks verifies every signature, cloudevents parses every
body. The receiver is down for a while, the service is killed, and the link to the receiver is cut: the order must be kept
and no event may be missing."""
import base64
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import receiver as receiving
from daemon import Daemon

CHANGES = 30
KILLS = 5
# Seconds for which the receiver is down; a minute in `DOWN=60 scripts/test-clients webhooks`.
DOWN = int(os.environ.get("DOWN", "1"))
# The delay between two attempts grows with it.
PATIENCE = 60 + DOWN
PORT = 9000


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Service:
    """The service with a data directory, which is killed and started again."""

    def __init__(self, binary, folder, secrets):
        self.binary = binary
        self.folder = folder
        self.secret_file = os.path.join(folder, "ops.secret")
        self.write_secrets(secrets)
        self.configuration = os.path.join(folder, "reachd.yaml")
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write(f"data: {folder}/data\n"
                       f"store: {{ runtime: {folder}/run }}\n"
                       f"webhooks: [{{ id: ops, url: 'http://10.8.0.1:{PORT}/hook', secretFile: {self.secret_file}, "
                       "types: [interface], timeout: 2s, insecure: true }]\n")
        os.makedirs(f"{folder}/run")
        self.start()

    def write_secrets(self, secrets):
        with open(self.secret_file, "w", encoding="utf-8") as file:
            file.write("\n".join(secrets) + "\n")

    def start(self):
        self.daemon = Daemon(self.binary, "--config", self.configuration, "--log-level", "notice")
        wait("the first reading", lambda: self.get("/status")["status"] != "unknown")

    def get(self, path):
        # The header selects the array of events instead of the stream.
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.daemon.port}{path}", headers={"Accept": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    def kill(self):
        self.daemon.process.send_signal(signal.SIGKILL)
        self.daemon.process.wait()
        self.start()

    def webhook(self):
        return self.get("/webhooks/ops")

    def last_id(self):
        """The number of the last event."""
        return int(self.get("/status")["id"].partition("-")[2])


def change(number):
    """One `interface` event: an address is added or removed."""
    ip("addr", "add" if number % 2 == 0 else "del", "10.7.0.1/32", "dev", "c1")
    time.sleep(0.02)


def wait(what, condition, details=lambda: ""):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"webhooks: timeout: {what} {details()}")
        time.sleep(0.01)


def numbers(requests):
    """The event numbers in order of their first accepted request."""
    seen = []
    for request in requests:
        match = re.fullmatch(r"[0-9a-f]{8}-([0-9]+)", request["id"])
        if match and request["accepted"] and int(match[1]) not in seen:
            seen.append(int(match[1]))
    return seen


def main(binary):
    secrets = ["whsec_" + base64.b64encode(os.urandom(32)).decode() for _ in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        receiver = receiving.Receiver(folder, PORT)
        # c1 leads to the receiver, which has a network of its own; there is no default route.
        ip("link", "add", "c1", "type", "veth", "peer", "name", "r1", "netns", str(receiver.pid))
        ip("addr", "add", "10.8.0.2/24", "dev", "c1")
        ip("link", "set", "c1", "up")
        receiver.run("ip addr add 10.8.0.1/24 dev r1 && ip link set r1 up && ip link set lo up")
        receiver.accept(True)
        service = Service(binary, folder, secrets[:1])
        wait("a route to the receiver", lambda: service.webhook()["state"] == "idle", service.webhook)

        for number in range(CHANGES):
            change(number)
        wait("delivery", lambda: service.webhook()["pending"] == 0, service.webhook)
        report("delivered", receiver, secrets[:1])

        # The receiver is down, and the service is killed meanwhile.
        receiver.accept(False)
        for number in range(CHANGES):
            change(number)
            if number % (CHANGES // KILLS) == 3:
                service.kill()
        time.sleep(DOWN)
        receiver.accept(True)
        wait("delivery after the kills", lambda: service.webhook()["pending"] == 0, service.webhook)
        report(f"receiver down, {KILLS} kills", receiver, secrets[:1])

        # No back-off while there is no route, and no attempt.
        ip("link", "set", "c1", "down")
        wait("the loss of the route", lambda: service.webhook()["state"] in ("held", "idle"), service.webhook)
        for number in range(CHANGES):
            change(number)
        wait("a held webhook", lambda: service.webhook()["state"] == "held", service.webhook)
        before = len(receiver.requests())
        time.sleep(1)
        if len(receiver.requests()) != before:
            raise SystemExit("webhooks: a request without a route")
        cut = time.time()
        ip("link", "set", "c1", "up")
        wait("delivery after the cut", lambda: service.webhook()["pending"] == 0, service.webhook)
        first = receiver.requests()[before]["at"] - cut
        report(f"link cut, first request {first * 1000:.1f} ms after `ip link set up` began", receiver, secrets[:1])

        # Rotation: both secrets are valid from the reload on.
        service.write_secrets(secrets)
        service.daemon.process.send_signal(signal.SIGHUP)
        wait("two signatures", lambda: service.webhook()["signatures"] == 2)
        before = len(receiver.requests())
        change(0)
        wait("delivery with two secrets", lambda: len(receiver.requests()) > before)
        for secret in secrets:
            receiving.verify(receiver.requests()[-1], [secret])
        found = numbers(receiver.requests())
        expected = list(range(found[0], found[-1] + 1))
        missing = sorted(set(expected) - set(found))
        # Other events of this machine have numbers too; only interface events are sent.
        others = {int(event["id"].partition("-")[2]) for event in service.get("/events") if event["type"] != "interface"}
        if found != sorted(found) or set(missing) - others:
            raise SystemExit(f"webhooks: received {found}, missing {missing}, of other types {sorted(others)}")
        gaps = [request["id"] for request in receiver.requests() if request["id"].endswith("-gap")]
        status = service.daemon.stop()
        receiver.stop()
    print(f"webhooks: {len(found)} events in order, none missing, {len(gaps)} gaps")
    if status or gaps:
        raise SystemExit(f"webhooks: the service ended with {status}, gaps {gaps}")


def report(what, receiver, secrets):
    requests = receiver.requests()
    for request in requests:
        receiving.verify(request, secrets)
    found = numbers(requests)
    print(f"webhooks: {what}: {len(requests)} requests verified, {len(found)} events, in order: {found == sorted(found)}")


if __name__ == "__main__":
    main(sys.argv[1])
