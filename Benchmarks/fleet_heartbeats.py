"""The heartbeats of a large fleet at one replica: fleet_heartbeats.py PROGRAM [AGENTS]; NATS_SERVER is the server's program.

One client publishes the hello and the heartbeats of all agents, each every two seconds, evenly spread. The processor time of
the replica includes everything that it does meanwhile: reading from the socket, rounds over all agents, comparisons of the
stream.
"""
import json
import os
import socket
import sys
import threading
import time

import fleet_network
from fleet_network import Fleet, wait

AGENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
SECONDS = 20
ROUNDS = 3
INTERVAL = 2.0  # of the heartbeats of one agent
SLOTS = 200  # parts of the interval in which heartbeats are sent
HELLO, HEARTBEAT = "rx2.roster.node.a{}", "rx2.hb.a{}"
TICKS = os.sysconf("SC_CLK_TCK")


def processor_time(pid):
    """Seconds of processor time of a process."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def message(subject, document):
    payload = json.dumps(document, separators=(",", ":")).encode()
    return f"PUB {subject} {len(payload)}\r\n".encode() + payload + b"\r\n"


class Client:
    """A connection to a server without a library, which would take longer than the replica."""

    def __init__(self, url):
        host, port = url.split("//")[1].split(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.sendall(b'CONNECT {"verbose":false}\r\n')
        threading.Thread(target=self.answer, daemon=True).start()

    def answer(self):
        for line in self.socket.makefile("rb"):
            if line.startswith(b"PING"):
                self.socket.sendall(b"PONG\r\n")

    def beat(self, heartbeats, seconds):
        begin, slot = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds:
            self.socket.sendall(b"".join(heartbeats[slot % SLOTS::SLOTS]))
            slot += 1
            time.sleep(max(0, begin + slot * INTERVAL / SLOTS - time.perf_counter()))


def measure(fleet):
    replica = fleet.replicas[0]
    client = Client(fleet.urls[0])
    attributes = {"role": "agent", "zone": "z", "labels": {}, "version": "0"}
    for index in range(AGENTS):
        client.socket.sendall(message(HELLO.format(index), {"id": f"a{index}", "hello": attributes}))
    heartbeats = [message(HEARTBEAT.format(index), {"agent": f"a{index}", "instance": index, "outbox": 0, "hello": index})
                  for index in range(AGENTS)]
    wait(lambda: sum(replica.get("/fleet")["agents"].values()) == AGENTS, 60, "the agents")
    client.beat(heartbeats, 10)
    rates = []
    for _ in range(ROUNDS):
        used, begin = processor_time(replica.process.pid), time.perf_counter()
        client.beat(heartbeats, SECONDS)
        rates.append((processor_time(replica.process.pid) - used) / (time.perf_counter() - begin))
    rate = sorted(rates)[ROUNDS // 2]
    lost = replica.get("/fleet")["agents"]["lost"]
    print(f"  heartbeats of {AGENTS} agents: {rate * 100:.1f} % of a processor, {rate * INTERVAL / AGENTS * 1e6:.1f} µs each, "
          f"{lost} lost (bar: ≤ 12 %, 0)", flush=True)


if __name__ == "__main__":
    fleet_network.enter()
    FLEET = Fleet(sys.argv[1], agents=0, replicas=1)
    try:
        measure(FLEET)
    finally:
        FLEET.close()
