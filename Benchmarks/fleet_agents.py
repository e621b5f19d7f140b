"""The fleet's agents against a real nats-server, in network namespaces: fleet_agents.py PROGRAM [GROUP]…

NATS_SERVER is the server's program. Groups: target (a target fails: until its verdict is `down`), backlog (an agent's
changes while the server was away).
"""
import os
import random
import re
import socket
import subprocess
import sys
import time

import fleet_network
from daemon import quantiles
from fleet_network import Fleet, Subscriber, wait

TRIALS = int(os.environ.get("TRIALS", "10"))
# Each has a phase of its own at each agent, and they fail together: a trial gives as many times.
TARGETS = 20
VANTAGES = 5
FIRST_PORT = 9000
BACKLOG = 100_000
BACKLOG_TARGETS = 1000

# A server that accepts connections on many ports.
LISTENER = """
import selectors, socket, sys
selector = selectors.DefaultSelector()
for port in range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[3])):
    listener = socket.create_server((sys.argv[1], port), backlog=128)
    selector.register(listener, selectors.EVENT_READ)
print("ready", flush=True)
while True:
    for key, _ in selector.select():
        key.fileobj.accept()[0].close()
"""


def report(name, value, bar=""):
    print(f"  {name}: {value}{f' (bar: {bar})' if bar else ''}", flush=True)


class Service:
    """The process that all targets are served by, on a node of its own."""

    def __init__(self, node):
        self.node = node
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [*self.node.prefix(), sys.executable, "-c", LISTENER, self.node.address, str(FIRST_PORT), str(TARGETS)],
            stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def verdicts(fleet, state):
    return fleet.replicas[0].get("/fleet")["verdicts"][state]


def downs(subscriber, place):
    """When the verdict of each target became `down`."""
    times = {}
    while len(times) < TARGETS:
        event, place = subscriber.next(place, lambda each: each[1] == "verdict" and b'"verdict":"down"' in each[3], 30)
        if not event:
            raise SystemExit(f"only {len(times)} of {TARGETS} targets are down")
        target = event[3].split(b'"target":"', 1)[1].split(b'"', 1)[0]
        times.setdefault(target, event[0])
    return list(times.values())


def seconds(values):
    median, high, worst = quantiles(values)
    return f"p50 {median:.1f} s, p99 {high:.1f} s, max {worst:.1f} s of {len(values)}"


def target():
    """The link of the targets' machine is cut, or its process ends: until the verdicts at a replica's subscriber."""
    fleet = Fleet(sys.argv[1], agents=VANTAGES, replicas=1)
    service = None
    try:
        service = Service(fleet.node(60))
        for number in range(TARGETS):
            fleet.replicas[0].post("/fleet/targets", {
                "id": f"t{number}", "target": f"tcp://{service.node.address}:{FIRST_PORT + number}",
                "interval": "5s", "timeout": "1s", "fall": 3, "rise": 1})
        for name, begin, end, bar in (
                ("link of the target cut", lambda: service.node.connect(False), lambda: service.node.connect(True),
                 "p50 ≤ 5 s, p99 ≤ 8 s"),
                ("target refuses", service.end, service.start, "p50 ≤ 3 s")):
            times = []
            for _ in range(TRIALS):
                wait(lambda: verdicts(fleet, "up") == TARGETS, 60, "the verdicts")
                subscriber = Subscriber(fleet.replicas[0].node.address)
                _, place = subscriber.next(0, lambda each: each[1] == "snapshot", 10)
                time.sleep(random.uniform(0, 1))
                start = time.perf_counter()
                begin()
                times += [each - start for each in downs(subscriber, place)]
                subscriber.close()
                end()
            report(f"{name} → verdict down, {VANTAGES} vantages, interval 5 s, timeout 1 s, fall 3", seconds(times), bar)
    finally:
        if service and service.process.poll() is None:
            service.end()
        fleet.close()


def waiting(agent):
    """The changes that an agent has not published."""
    text = subprocess.check_output(["curl", "-s", f"http://{agent.node.address}:8080/metrics"], text=True)
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("reachd_fleet_outbox_events "))


class Recorder:
    """A subscriber that is a program of its own: a thread of this one would be slower than the replica."""

    def __init__(self, address):
        self.file = f"/tmp/reachd-cells-{os.getpid()}"
        self.process = subprocess.Popen(
            ["curl", "-sN", "-o", self.file, f"http://{address}:8080/fleet/events?types=cell"])
        wait(lambda: os.path.getsize(self.file), what="the snapshot")

    def end(self):
        self.process.kill()
        self.process.wait()
        os.unlink(self.file)


def received(file):
    """The number of the last change of an agent in a recorded stream."""
    with open(file, "rb") as stream:
        stream.seek(max(0, os.path.getsize(file) - 2000))
        found = re.findall(rb'"origin":"[^"]*-(\d+)"', stream.read())
    return int(found[-1]) if found else 0


def accepts(address):
    with socket.create_connection((address, 4222), timeout=1):
        return True


def last_number(agent):
    return int(agent.get("/history?types=target&order=desc&limit=1")["history"][0]["id"].rsplit("-", 1)[1])


def backlog():
    """The server is away while all targets of an agent change: from its return until the replica has all changes."""
    fleet = Fleet(sys.argv[1], agents=1, replicas=1)
    try:
        fleet.define(BACKLOG_TARGETS)
        wait(lambda: verdicts(fleet, "up") == BACKLOG_TARGETS, what="the verdicts")
        agent, server, replica = fleet.agents[0], fleet.servers[0], fleet.replicas[0]
        server.kill()
        before, made, is_up = waiting(agent), 0, True
        # Above the limit of the outbox, only the last change of each target would be published.
        while made + BACKLOG_TARGETS <= BACKLOG - before:
            first = last_number(agent)
            is_up = not is_up
            agent.node.set_link(is_up)
            wait(lambda: last_number(agent) >= first + BACKLOG_TARGETS, what="the changes")
            made = waiting(agent) - before
        last = last_number(agent)
        sequence = replica.get("/fleet")["engine"]["sequence"]
        subscriber = Recorder(replica.node.address)
        server.start()
        wait(lambda: accepts(server.node.address), what="the server")
        begin = time.perf_counter()
        wait(lambda: replica.get("/fleet")["engine"]["complete"], what="the replica")
        connected = time.perf_counter() - begin
        wait(lambda: received(subscriber.file) >= last, 120, "the changes")
        took = time.perf_counter() - begin
        subscriber.end()
        messages = replica.get("/fleet")["engine"]["sequence"] - sequence
        report(f"backlog of {made} changes of one agent: server accepts connections → replica has all",
               f"{took:.2f} s, {made / took:.0f} changes/s, {messages} messages, replica connected after "
               f"{connected:.2f} s", "≤ 5 s")
    finally:
        fleet.close()


GROUPS = {"target": target, "backlog": backlog}

if __name__ == "__main__":
    fleet_network.run(GROUPS, sys.argv[2:])
