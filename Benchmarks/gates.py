"""Gates: the delay of a gate's event with 10,000 members, the memory of 256 such gates, and the throughput of the requests that
probes send. The first two run in a network namespace with a route that a change takes away.

Prints rows of RESULTS.md. Options select parts: throughput, memory, events.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

from daemon import Daemon, quantiles
from namespace import enter_new_namespace
from peers import ON_CLIENT, ON_SERVER, median

MEMBERS = int(os.environ.get("MEMBERS", 10_000))
GATES = 256
ROUNDS = int(os.environ.get("ROUNDS", 100))
COMMAND = "`Benchmarks/run gates`"


def address(number):
    return f"10.200.{number // 250}.{number % 250 + 1}"


def configuration(members, gates):
    """Targets whose routes the kernel reports, and gates that select all of them."""
    lines = ["limits:", f"  targets: {members}", "targets:"]
    lines += [f'  - {{ id: t{number}, target: "route://{address(number)}", labels: {{ tier: backend }} }}' for number in range(members)]
    lines += ["gates:"] + [f"  {gate}: {{ select: {{ tier: backend }} }}" for gate in gates] if gates else []
    file = tempfile.NamedTemporaryFile("w", suffix=".yaml")
    file.write("\n".join(lines) + "\n")
    file.flush()
    return file


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("a condition is not fulfilled within a minute")
        time.sleep(0.05)


def state(daemon, gate):
    return json.loads(daemon.get(f"/gates/{gate}")[1]).get("state")


class Route:
    """The route to one member, which is replaced by one that makes it unreachable."""

    def __init__(self, number):
        self.prefix = f"{address(number)}/32"

    def change(self, action):
        subprocess.run(["ip", "route", action, "unreachable", self.prefix], check=True)


class Events:
    """The events of targets and gates with the times at which their bytes came."""

    def __init__(self, daemon):
        self.socket = daemon.connect()
        self.socket.sendall(b"GET /events?types=target,gate HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.data = b""
        self.until(b"event: snapshot")

    def until(self, mark):
        """The number of the next event with a mark, and when it came."""
        while True:
            found = re.search(rb"id: \w+-(\d+)\n" + mark + rb"\n|" + mark, self.data)
            if found and b"\n\n" in self.data[found.end():]:
                self.data = self.data[found.end():]
                return int(found[1] or 0), time.monotonic()
            self.data += self.socket.recv(1 << 20)


def events(binary):
    with configuration(MEMBERS, ["app"]) as file:
        daemon = Daemon(binary, "--config", file.name, "--log-level", "notice")
        wait_for(lambda: state(daemon, "app") == "open")
        stream = Events(daemon)
        after, whole = [], []
        for number in range(ROUNDS):
            route = Route(number * 97 % MEMBERS)
            start = time.monotonic()
            route.change("add")
            target, target_time = stream.until(b"event: target")
            gate, gate_time = stream.until(b"event: gate")
            if gate != target + 1:
                raise SystemExit(f"the gate's event {gate} does not follow the target's {target}")
            after.append(gate_time - target_time)
            whole.append(gate_time - start)
            route.change("del")
            # It opens a second after it has closed.
            stream.until(b"event: gate")
        daemon.stop()
    print(f"| gate of {MEMBERS} members, one changes: `gate` event after the `target` event | p99 ≤ 5 ms, next number | "
          f"p99 {1e3 * quantiles(after)[1]:.2f} ms, next in all {ROUNDS} rounds; after the start of `ip`: median "
          f"{1e3 * quantiles(whole)[0]:.1f} ms, p99 {1e3 * quantiles(whole)[1]:.1f} ms | {COMMAND} |", flush=True)


def resident_mebibytes(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) / 1024


def put(daemon, gate):
    body = json.dumps({"select": {"tier": "backend"}}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{daemon.port}/gates/{gate}", body, {"Content-Type": "application/json"}, method="PUT")
    start = time.monotonic()
    urllib.request.urlopen(request).read()
    return time.monotonic() - start


def memory(binary):
    with configuration(MEMBERS, []) as file:
        daemon = Daemon(binary, "--config", file.name, "--log-level", "notice")
        wait_for(lambda: b'"state":"unknown"' not in daemon.get("/targets?limit=1000&state=unknown")[1])
        time.sleep(20)
        before = resident_mebibytes(daemon.pid)
        times = [put(daemon, f"g{number}") for number in range(GATES)]
        wait_for(lambda: state(daemon, f"g{GATES - 1}") == "open")
        time.sleep(2)
        growth = resident_mebibytes(daemon.pid) - before
        stream, route = Events(daemon), Route(7)
        start = time.monotonic()
        route.change("add")
        for _ in range(GATES):
            last = stream.until(b"event: gate")[1]
        daemon.get("/gates")
        daemon.stop()
        route.change("del")
    print(f"| {GATES} gates of {MEMBERS} members: memory | ≤ 16 MiB | {growth:.1f} MiB more than without them | {COMMAND} |")
    print(f"| … a `PUT` of one of them | ≤ 20 ms | median {1e3 * quantiles(times)[0]:.1f} ms, max {1e3 * max(times):.1f} ms | {COMMAND} |")
    print(f"| … one member changes: the last of {GATES} `gate` events | ≤ 50 ms | {1e3 * (last - start):.1f} ms after the start of `ip` "
          f"| {COMMAND} |", flush=True)


def load(port, path, header):
    """The requests a second that wrk counts with 64 connections."""
    out = subprocess.run(
        [*ON_CLIENT, "wrk", "-t1", "-c64", "-d3s", *(["-H", header] if header else []), f"http://127.0.0.1:{port}{path}"],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        raise SystemExit(out)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])


def throughput(binary):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        targets = "".join(f'  - {{ id: t{number}, target: "route://127.0.0.{number + 1}" }}\n' for number in range(10))
        names = ", ".join(f"t{number}" for number in range(10))
        file.write(f"targets:\n{targets}gates: {{ app: {{ targets: [{names}] }} }}\n")
        file.flush()
        daemon = Daemon(binary, "--config", file.name, "--log-level", "notice", before=ON_SERVER)
        wait_for(lambda: state(daemon, "app") == "open")
        tags = {path: re.search(rb"etag: (.*?)\r\n", daemon.get(path)[0], re.I)[1].decode() for path in ("/status", "/gates/app")}
        kinds = {
            "`GET /gates/app?require=open`": (("/gates/app?require=open", None), ("/status", None)),
            "`GET /gates/app` with `If-None-Match` (304)": (
                ("/gates/app", f"If-None-Match: {tags['/gates/app']}"), ("/status", f"If-None-Match: {tags['/status']}")),
        }
        for what, (gate, status) in kinds.items():
            rates = [(load(daemon.port, *gate), load(daemon.port, *status)) for _ in range(5)]
            ours, theirs = (median(column) for column in zip(*rates))
            print(f"| {what}, 10 members, compared with the same of `/status` | ≥ 0.9× | {ours / theirs:.2f}× ({ours:.0f} and "
                  f"{theirs:.0f} requests/s) | {COMMAND} |", flush=True)
        daemon.stop()


parts = {"throughput": throughput, "memory": memory, "events": events}
chosen = sys.argv[2:] or list(parts)
if "throughput" in chosen:
    throughput(sys.argv[1])
if set(chosen) & {"memory", "events"}:
    enter_new_namespace()
    subprocess.run(["ip", "route", "add", "default", "via", "10.9.0.1"], check=True)
    for part in ("memory", "events"):
        if part in chosen:
            parts[part](sys.argv[1])
