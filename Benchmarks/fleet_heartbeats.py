"""What the agents of a large fleet cost the replicas at rest: fleet_heartbeats.py PROGRAM [AGENTS [REPLICAS]]; NATS_SERVER is the
server's program.

One client publishes for all agents, evenly spread: the hello once, a heartbeat every two seconds, then also the request `confirm`
every ten seconds. The processor time of a replica includes everything that it does meanwhile: reading from the socket, rounds over
all agents, comparisons of the stream.
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
REPLICAS = int(sys.argv[3]) if len(sys.argv) > 3 else 1
SECONDS = 20
ROUNDS = 3
SLOT = 0.01  # seconds, after which a part of the messages is sent
HEARTBEAT_SLOTS = 200  # between the heartbeats of one agent
CONFIRMATION_SLOTS = 1000  # between its confirmations
HELLO, HEARTBEAT, REQUEST, INBOX = "rx2.roster.node.a{}", "rx2.hb.a{}", "rx2.in.a{}", "_INBOX.agent.a{}.1"
TICKS = os.sysconf("SC_CLK_TCK")


def processor_time(pid):
    """Seconds of processor time of a process."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def message(subject, document, reply=""):
    payload = json.dumps(document, separators=(",", ":")).encode()
    return f"PUB {subject} {reply} {len(payload)}\r\n".encode() + payload + b"\r\n"


class Client:
    """A connection to a server without a library, which would take longer than the replica."""

    def __init__(self, url):
        host, port = url.split("//")[1].split(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.sendall(b'CONNECT {"verbose":false}\r\nSUB _INBOX.agent.> 1\r\n')
        self.confirmed = 0
        threading.Thread(target=self.answer, daemon=True).start()

    def answer(self):
        for line in self.socket.makefile("rb"):
            if line.startswith(b"PING"):
                self.socket.sendall(b"PONG\r\n")
            elif line.startswith(b"{"):
                self.confirmed += b'"confirmed"' in line

    def send(self, parts, seconds):
        """Sends a part of each list of messages in each slot; a list comes with its number of slots."""
        begin, slot = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds:
            self.socket.sendall(b"".join(each for messages, slots in parts for each in messages[slot % slots::slots]))
            slot += 1
            time.sleep(max(0, begin + slot * SLOT - time.perf_counter()))


def measure(fleet):
    client = Client(fleet.urls[0])
    attributes = {"role": "agent", "zone": "z", "labels": {}, "version": "0"}
    for index in range(AGENTS):
        client.socket.sendall(message(HELLO.format(index), {"id": f"a{index}", "hello": attributes}))
    heartbeats = [message(HEARTBEAT.format(index), {"agent": f"a{index}", "instance": index, "outbox": 0, "hello": index})
                  for index in range(AGENTS)], HEARTBEAT_SLOTS
    confirmations = [message(REQUEST.format(index), {"v": 1, "request": "confirm", "roster": None}, INBOX.format(index))
                     for index in range(AGENTS)], CONFIRMATION_SLOTS
    for replica in fleet.replicas:
        wait(lambda replica=replica: sum(replica.get("/fleet")["agents"].values()) == AGENTS, 60, "the agents")
    for what, parts in (("heartbeats", [heartbeats]), ("heartbeats and confirmations", [heartbeats, confirmations])):
        client.send(parts, 10)
        client.confirmed, rates = 0, []
        for _ in range(ROUNDS):
            used, begin = [processor_time(replica.process.pid) for replica in fleet.replicas], time.perf_counter()
            client.send(parts, SECONDS)
            passed = time.perf_counter() - begin
            rates.append([(processor_time(replica.process.pid) - before) / passed
                          for replica, before in zip(fleet.replicas, used, strict=True)])
        middle = sorted(rates, key=max)[ROUNDS // 2]
        lost = max(replica.get("/fleet")["agents"]["lost"] for replica in fleet.replicas)
        print(f"  {what} of {AGENTS} agents, {REPLICAS} replica(s): {', '.join(f'{rate * 100:.1f}' for rate in middle)} % of a processor, "
              f"{client.confirmed / ROUNDS / SECONDS:.0f} confirmed/s, {lost} lost (bar: ≤ {12 if REPLICAS == 1 else 10} %, 0)", flush=True)


if __name__ == "__main__":
    fleet_network.enter()
    FLEET = Fleet(sys.argv[1], agents=0, replicas=REPLICAS)
    try:
        measure(FLEET)
    finally:
        FLEET.close()
