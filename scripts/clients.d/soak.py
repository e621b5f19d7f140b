"""Runs the service under load for minutes: soak.py BINARY MINUTES.

Ten route changes a second, 50 event readers that disconnect at random and resume by Last-Event-ID, registered targets
and on-demand checks. No reader may lose or repeat an event id; descriptors, threads and memory must stay constant.
"""
import json
import os
import random
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time

import network
from daemon import Daemon

FLAPS_PER_SECOND = 10
READERS = 50
TARGETS = 200
# A reader disconnects after 1 to 20 s: each resumes some thousand times in half an hour.
SESSION_SECONDS = (1, 20)
# Before the run the history is filled: its ring has at most 8 MiB / 256 B = 32,768 entries, and grows until it is full.
FILL_EVENTS = 33_000
FILL_PER_SECOND = 1_000
FILL_SECONDS = 300
SAMPLE_SECONDS = 5
# One line of progress a minute.
SAMPLES_REPORTED = 12
# The first part of the run fills rings, caches and allocator arenas; it is not evaluated.
WARM_UP = 1 / 3
# The accepted growth from the first to the last evaluated third, in KiB: allocator noise.
RSS_GROWTH = 1024
# Descriptors and threads vary with checks and readers that are open at the sample's moment; medians may differ by this.
DESCRIPTOR_DRIFT = 8
THREAD_DRIFT = 2
NUMBERED = {b"status", b"path", b"interface", b"target"}
READ_BYTES = 65536
PATIENCE = 30


class Reader:
    """One event stream of /events, without blocking; counts ids that are missing or come twice."""

    def __init__(self, port):
        self.port = port
        self.last = None
        self.number = None
        self.events = self.lost = self.repeated = self.resumed = self.resets = 0
        self.connection = None

    def open(self, selector, now):
        self.connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        resume = f"Last-Event-ID: {self.last}\r\n" if self.last else ""
        self.resumed += bool(self.last)
        self.connection.sendall(f"GET /events HTTP/1.0\r\nHost: localhost\r\n{resume}\r\n".encode())
        self.connection.setblocking(False)
        # A partial event of a disconnected stream is discarded, because it is sent again with its id.
        self.buffer = b""
        self.ends = now + random.uniform(*SESSION_SECONDS)
        selector.register(self.connection, selectors.EVENT_READ, self)

    def close(self, selector):
        selector.unregister(self.connection)
        self.connection.close()
        self.connection = None

    def read(self):
        """Reads the available data; returns False when the service has closed the stream."""
        try:
            block = self.connection.recv(READ_BYTES)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        self.buffer += block
        *frames, self.buffer = self.buffer.split(b"\n\n")
        for frame in frames:
            self.take(frame)
        return bool(block)

    def take(self, frame):
        # The response head precedes the first frame; HTTP/1.0 has no transfer coding.
        frame = frame.rpartition(b"\r\n\r\n")[2]
        fields = dict(line.split(b": ", 1) for line in frame.split(b"\n") if b": " in line)
        name, event_id = fields.get(b"event"), fields.get(b"id")
        if not event_id:
            return
        if name == b"reset":
            self.resets += 1
        number = int(event_id.decode().rsplit("-", 1)[-1])
        if name in NUMBERED:
            self.events += 1
            if self.number is not None:
                self.lost += max(0, number - self.number - 1)
                self.repeated += number <= self.number
        elif self.number is not None and number > self.number:
            # A snapshot instead of the requested events.
            self.lost += number - self.number
        self.number = max(number, self.number or 0)
        self.last = event_id.decode()


class Flaps(threading.Thread):
    """Replaces the default route, so many times a second, by one long-lived ip(8)."""

    def __init__(self, stop, rate=FLAPS_PER_SECOND):
        super().__init__(daemon=True)
        self.stop, self.rate, self.count = stop, rate, 0

    def run(self):
        with subprocess.Popen(["ip", "-batch", "-"], stdin=subprocess.PIPE, text=True) as ip:
            due = time.monotonic()
            while not self.stop.is_set():
                gateway = network.GATEWAYS[self.count % 2]
                ip.stdin.write(f"route replace default via {gateway} dev c0\n")
                ip.stdin.flush()
                self.count += 1
                due += 1 / self.rate
                time.sleep(max(0, due - time.monotonic()))
            ip.stdin.close()


class Checks(threading.Thread):
    """Makes on-demand checks, and registers and deletes a target."""

    def __init__(self, port, peer, stop):
        super().__init__(daemon=True)
        self.port, self.peer, self.stop = port, peer, stop
        self.count, self.failures = 0, []

    def run(self):
        while not self.stop.wait(0.2):
            answer = self.request("GET", f"/check?target=tcp://127.0.0.1:{self.peer}")
            self.expect(answer, b" 200 ")
            body = json.dumps({"target": f"tcp://127.0.0.1:{self.peer}", "interval": "1s"})
            self.expect(self.request("PUT", "/targets/transient", body), b" 20")
            self.expect(self.request("DELETE", "/targets/transient"), b" 204 ")
            self.count += 1

    def expect(self, answer, status):
        if status not in answer.split(b"\r\n", 1)[0] + b" ":
            self.failures.append(answer[:300])

    def request(self, method, path, body=""):
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(
                f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            answer = b""
            while block := connection.recv(READ_BYTES):
                answer += block
        return answer


class Peer(threading.Thread):
    """Accepts and closes the connections of the checks."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("0.0.0.0", 0), backlog=512)
        self.port = self.listener.getsockname()[1]

    def run(self):
        while True:
            self.listener.accept()[0].close()


def configuration(peer):
    lines = ["policy: { allow: [127.0.0.0/8] }", "targets:"]
    for number in range(TARGETS):
        # Every fourth is down; a tenth flaps with the route.
        port = 1 if number % 4 == 3 else peer
        target = f"tcp://127.0.1.{number + 1}:{port}" if number % 10 else f"route://192.0.2.{number + 1}"
        lines.append(f"  - {{ id: t{number}, target: '{target}', interval: 1s }}")
    return "\n".join(lines) + "\n"


def sample(pid):
    """Resident KiB, descriptors, threads (proc(5))."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        fields = dict(line.split(":", 1) for line in status)
    return int(fields["VmRSS"].split()[0]), len(os.listdir(f"/proc/{pid}/fd")), int(fields["Threads"])


def slope(samples):
    """KiB a minute, by least squares over (seconds, KiB)."""
    n = len(samples)
    mean_t, mean_r = (sum(column) / n for column in zip(*samples))
    spread = sum((t - mean_t) ** 2 for t, _ in samples)
    return 60 * sum((t - mean_t) * (r - mean_r) for t, r in samples) / spread if spread else 0.0


def median(values):
    return sorted(values)[len(values) // 2]


def fill(service):
    """Causes events until the history's ring is full."""
    stop = threading.Event()
    flaps = Flaps(stop, FILL_PER_SECOND)
    flaps.start()
    deadline = time.monotonic() + FILL_SECONDS
    while (number := last_event(service)) < FILL_EVENTS:
        if time.monotonic() > deadline:
            raise SystemExit(f"soak: {number} events after {FILL_SECONDS} s, {FILL_EVENTS} fill the history")
        time.sleep(1)
    stop.set()
    flaps.join()


def last_event(service):
    head, _ = service.get("/targets?limit=1")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b": ")
        if name.lower() == b"last-event-id":
            return int(value.decode().rsplit("-", 1)[-1])
    raise SystemExit(f"soak: no Last-Event-ID in {head!r}")


def soak(service, peer, seconds):
    """Runs the load; returns readers, samples and the load's threads."""
    stop = threading.Event()
    flaps, checks = Flaps(stop), Checks(service.port, peer.port, stop)
    selector = selectors.DefaultSelector()
    readers = [Reader(service.port) for _ in range(READERS)]
    begun = now = time.monotonic()
    for reader in readers:
        reader.open(selector, now)
    flaps.start()
    checks.start()
    samples, due = [], begun
    while (now := time.monotonic()) < begun + seconds:
        for key, _ in selector.select(timeout=0.05):
            reader = key.data
            if not reader.read():
                reader.ends = 0
        for reader in readers:
            if reader.ends <= now:
                reader.close(selector)
                reader.open(selector, now)
        if now >= due:
            samples.append((now - begun, *sample(service.pid)))
            due += SAMPLE_SECONDS
            if len(samples) % SAMPLES_REPORTED == 1:
                print("soak: after {:.0f} s: resident {} KiB, {} descriptors, {} threads".format(*samples[-1]))
        if service.process.poll() is not None:
            raise SystemExit(f"soak: the service ended with {service.process.returncode}")
    stop.set()
    flaps.join()
    checks.join()
    drain(selector, readers)
    return readers, samples, flaps, checks


def drain(selector, readers):
    """Reads until all readers have the same last event."""
    deadline = time.monotonic() + PATIENCE
    quiet = False
    while time.monotonic() < deadline and not (quiet and len({reader.number for reader in readers}) == 1):
        ready = selector.select(timeout=2)
        quiet = not ready
        for key, _ in ready:
            if not key.data.read():
                raise SystemExit("soak: the service closed a stream")


def judge(readers, samples, flaps, checks, seconds):
    """Prints the figures; returns the problems."""
    judged = [one for one in samples if one[0] >= seconds * WARM_UP]
    half = len(judged) // 2
    early, late = judged[:half], judged[half:]
    events, lost, repeated = (sum(getattr(reader, name) for reader in readers) for name in ("events", "lost", "repeated"))
    resumed, resets = sum(reader.resumed for reader in readers), sum(reader.resets for reader in readers)
    rss, descriptors, threads = ([median([one[i] for one in part]) for part in (early, late)] for i in (1, 2, 3))
    growth = slope([(one[0], one[1]) for one in judged])
    last = {reader.number for reader in readers}
    print(f"soak: {seconds} s, {flaps.count} route changes, {max(last)} events, {READERS} readers: {events} received, "
          f"{resumed} resumed by id, {lost} lost, {repeated} repeated, {resets} resets")
    print(f"soak: {checks.count} rounds of checks and changes of a target, {len(checks.failures)} refused")
    print(f"soak: resident {samples[0][1]} KiB at the start, {rss[0]} to {rss[1]} KiB in the evaluated part, "
          f"slope {growth:+.1f} KiB/min; descriptors {descriptors[0]} to {descriptors[1]}; "
          f"threads {threads[0]} to {threads[1]}")
    wrong = []
    if lost or repeated:
        wrong.append(f"{lost} ids lost, {repeated} repeated")
    if len(last) != 1:
        wrong.append(f"the readers ended at different events: {sorted(last)}")
    if events < seconds * FLAPS_PER_SECOND * READERS // 2:
        wrong.append(f"only {events} events were received")
    if checks.failures:
        wrong.append(f"a request was refused: {checks.failures[0]!r}")
    if rss[1] - rss[0] > RSS_GROWTH:
        wrong.append(f"resident memory grew by {rss[1] - rss[0]} KiB")
    if abs(descriptors[1] - descriptors[0]) > DESCRIPTOR_DRIFT:
        wrong.append(f"descriptors went from {descriptors[0]} to {descriptors[1]}")
    if abs(threads[1] - threads[0]) > THREAD_DRIFT:
        wrong.append(f"threads went from {threads[0]} to {threads[1]}")
    return wrong


def main(binary, minutes):
    seconds = int(minutes) * 60
    network.set_up()
    peer = Peer()
    peer.start()
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(configuration(peer.port))
        file.flush()
        service = Daemon(binary, "--log-level", "notice", "--config", file.name)
        # With a full pipe, log lines would be dropped.
        threading.Thread(target=service.process.stderr.read, daemon=True).start()
        fill(service)
        readers, samples, flaps, checks = soak(service, peer, seconds)
        wrong = judge(readers, samples, flaps, checks, seconds)
        if status := service.stop():
            wrong.append(f"the service ended with {status}")
    if wrong:
        raise SystemExit("soak: " + "; ".join(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
