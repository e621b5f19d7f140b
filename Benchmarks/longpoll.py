"""Long polls that wait for one change: the cost of each waiting request, and the time to the last response."""
import ctypes
import os
import re
import resource
import select
import subprocess
import sys
import time

from daemon import Daemon

CLONE_NEWNET = 0x40000000
WAITERS = 10_000
ROUNDS = 3
DEADLINE = 60


def enter_new_namespace():
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise SystemExit("unshare: " + os.strerror(ctypes.get_errno()))
    for command in ("link set lo up", "link add c0 type veth peer name r0", "link set c0 up", "link set r0 up",
                    "addr add 10.9.0.2/24 dev c0", "route add default via 10.9.0.1"):
        subprocess.run(["ip", *command.split()], check=True)
    # The state changes until duplicate address detection is complete, and ends every long poll.
    limit = time.monotonic() + DEADLINE
    while subprocess.run(["ip", "-o", "-6", "addr", "show", "tentative"], capture_output=True, check=True).stdout:
        if time.monotonic() > limit:
            raise SystemExit("addresses stay tentative")
        time.sleep(0.1)


def raise_descriptor_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < WAITERS + 512:
        raise SystemExit(f"too few descriptors: {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def number(daemon, series):
    _, page = daemon.get("/metrics")
    return float(re.search(rf"^{re.escape(series)}(?:{{[^}}]*}})? (\S+)$", page.decode(), re.M).group(1))


def park(daemon, tag):
    connections = []
    request = f"GET /status?wait=10m HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {tag}\r\n\r\n".encode()
    for _ in range(WAITERS):
        connection = daemon.connect()
        connection.sendall(request)
        connections.append(connection)
    limit = time.monotonic() + DEADLINE
    while number(daemon, "reachd_http_waiting_requests") < WAITERS:
        if time.monotonic() > limit:
            raise SystemExit("they do not wait")
        time.sleep(0.05)
    return connections


def receive(connections):
    """The time at which the last response was received."""
    poller = select.epoll()
    by_number = {connection.fileno(): connection for connection in connections}
    for descriptor in by_number:
        poller.register(descriptor, select.EPOLLIN)
    limit = time.monotonic() + DEADLINE
    while by_number:
        if time.monotonic() > limit:
            raise SystemExit(f"{len(by_number)} have no answer")
        for descriptor, _ in poller.poll(1):
            if not by_number.pop(descriptor).recv(65536).startswith(b"HTTP/1.1 200 "):
                raise SystemExit("another answer came")
            poller.unregister(descriptor)
    return time.monotonic()


def main(binary):
    raise_descriptor_limit()
    enter_new_namespace()
    daemon = Daemon(binary, "--log-level", "notice", "--settle", "0s")
    results = []
    for turn in range(ROUNDS):
        before = number(daemon, "process_resident_memory_bytes")
        tag = re.search(rb"ETag: (\S+)", daemon.get("/status")[0]).group(1).decode()
        connections = park(daemon, tag)
        memory = (number(daemon, "process_resident_memory_bytes") - before) / WAITERS / 1024
        cpu = number(daemon, "process_cpu_seconds_total")
        start = time.monotonic()
        subprocess.run(["ip", "route", "replace", "default", "via", f"10.9.0.{turn + 3}", "dev", "c0"], check=True)
        last = receive(connections) - start
        cpu = number(daemon, "process_cpu_seconds_total") - cpu
        results.append((last * 1000, cpu * 1e6 / WAITERS, memory))
        for connection in connections:
            connection.close()
    last, cpu, _ = sorted(results)[ROUNDS // 2]
    # The allocator reuses memory, so only the first round shows what a request needs.
    print(f"{WAITERS} long polls, one change: last response after {last:.0f} ms, {cpu:.1f} µs CPU and "
          f"{results[0][2]:.1f} KiB a request (median of {ROUNDS} rounds; the Python client's own time is in it)")
    daemon.stop()


main(sys.argv[1])
