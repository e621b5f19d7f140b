"""One replica with many simulated agents: fleet_scale.py PROGRAM [AGENTS TARGETS]; NATS_SERVER is the server's program.

The agents are one client that publishes what agents publish. What a cell and a change cost is measured, and the
fleet of 10,000 agents is computed from it.
"""
import asyncio
import json
import os
import subprocess
import sys
import time

import nats

import fleet_network
from fleet_network import Fleet, wait
from start import memory

AGENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 100
TARGETS = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
SECONDS = int(os.environ.get("SECONDS_STEADY", "20"))
PART = 255
TICKS = os.sysconf("SC_CLK_TCK")


def report(name, value, bar=""):
    print(f"  {name}: {value}{f' (bar: {bar})' if bar else ''}", flush=True)


def processor_time(pid):
    """Seconds of processor time of a process."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Agents:
    """The simulated agents; each has its own chain."""

    def __init__(self, client):
        self.client, self.stream = client, client.jetstream(publish_async_max_pending=4000)
        self.after = [0] * AGENTS
        self.number = [0] * AGENTS
        self.hellos = [0] * AGENTS

    async def publish(self, subject, document):
        return (await self.stream.publish(subject, json.dumps(document, separators=(",", ":")).encode(), timeout=30)).seq

    async def hello(self):
        for index in range(AGENTS):
            attributes = {"role": "agent", "zone": f"z{index % 10}", "labels": {}, "version": "0"}
            self.hellos[index] = await self.publish(f"rx2.roster.node.a{index}", {"id": f"a{index}", "hello": attributes})

    async def base(self, state):
        for index in range(AGENTS):
            parts = -(-TARGETS // PART)
            for part in range(parts):
                cells = [{"target": f"t{number}", "state": state, "since": 0}
                         for number in range(part * PART, min(TARGETS, (part + 1) * PART))]
                self.after[index] = await self.publish(f"rx2.ev.a{index}", {
                    "agent": f"a{index}", "epoch": "e", "after": self.after[index], "prev": self.number[index],
                    "number": self.number[index], "part": part + 1, "of": parts, "cells": cells})

    async def change(self, old, state):
        """Every cell of every agent; the agents publish side by side, each message after the one before."""
        await asyncio.gather(*(self.change_of(index, old, state) for index in range(AGENTS)))

    async def change_of(self, index, old, state):
        for start in range(0, TARGETS, PART):
            first = self.number[index]
            changes = [{"number": first + place + 1, "target": f"t{number}", "old": old, "time": 0, "state": state,
                        "since": 0} for place, number in enumerate(range(start, min(TARGETS, start + PART)))]
            self.number[index] += len(changes)
            self.after[index] = await self.publish(f"rx2.ev.a{index}", {
                "agent": f"a{index}", "epoch": "e", "after": self.after[index], "prev": first, "from": first + 1,
                "to": self.number[index], "again": False, "changes": changes})

    async def heartbeats(self):
        """Each agent every two seconds, not all together."""
        while True:
            begin = time.monotonic()
            for index in range(AGENTS):
                await self.client.publish(f"rx2.hb.a{index}", json.dumps(
                    {"agent": f"a{index}", "instance": index, "outbox": 0, "hello": self.hellos[index]}).encode())
                delay = begin + 2 * (index + 1) / AGENTS - time.monotonic()
                if delay > 0:
                    await asyncio.sleep(delay)


async def off_thread(body):
    return await asyncio.get_running_loop().run_in_executor(None, body)


async def measure(fleet):
    replica = fleet.replicas[0]
    pid = replica.process.pid
    client = await nats.connect(fleet.urls, pending_size=64 << 20)
    agents = Agents(client)
    empty = memory(pid)[0]
    begin = time.perf_counter()
    await off_thread(lambda: fleet.define(TARGETS))
    report(f"{TARGETS} targets defined one by one", f"{time.perf_counter() - begin:.1f} s")
    used = processor_time(pid)
    await agents.hello()
    beats = asyncio.create_task(agents.heartbeats())
    await agents.base("up")
    cells = AGENTS * TARGETS
    await off_thread(lambda: wait(lambda: replica.get("/fleet")["verdicts"]["up"] == TARGETS, 120, "the verdicts"))
    report(f"{AGENTS} agents begin: processor time of the replica", f"{processor_time(pid) - used:.2f} s")
    full = memory(pid)[0]
    report(f"replica with {cells} cells: resident memory",
           f"{full / 1024:.1f} MiB, {(full - empty) * 1024 / cells:.0f} bytes a cell", "≤ 64 MiB")
    await asyncio.sleep(3)
    used, begin = processor_time(pid), time.perf_counter()
    await asyncio.sleep(SECONDS)
    steady = (processor_time(pid) - used) / (time.perf_counter() - begin)
    report("steady: processor", f"{steady * 100:.2f} % of one", "≤ 10 %")
    change = await burst(fleet, agents, cells)
    await matrix(replica)
    await off_thread(lambda: restart(fleet))
    beats.cancel()
    await client.close()
    paper((full - empty) * 1024 / cells, change)


async def burst(fleet, agents, cells):
    """All cells change: until a subscriber has all of them."""
    replica = fleet.replicas[0]
    # A program of its own: a thread of this one would share its interpreter with the agents.
    file = f"/tmp/reachd-burst-{os.getpid()}"
    subscriber = subprocess.Popen(
        ["curl", "-sN", "-o", file, f"http://{replica.node.address}:8080/fleet/events?types=cell"])
    await asyncio.sleep(0.5)
    used, begin = processor_time(replica.process.pid), time.perf_counter()
    await agents.change("up", "down")
    published = time.perf_counter() - begin
    found, rest = -1, b""  # the snapshot is not a change
    with open(file, "rb") as output:
        while found < cells and time.perf_counter() < begin + 60 and subscriber.poll() is None:
            lines = (rest + output.read()).split(b"\n")
            rest = lines.pop()
            found += sum(line.startswith(b"data: ") for line in lines)
            await asyncio.sleep(0.02)
    took = time.perf_counter() - begin
    cost = (processor_time(replica.process.pid) - used) / cells
    report(f"{cells} cells change: published by one Python client", f"{published:.2f} s")
    report("the same: a subscriber of the replica has",
           f"{found} of them after {took:.2f} s, {took - published:.2f} s after the last acknowledgement; "
           f"{cost * 1e6:.1f} µs of processor time each, {found / took:.0f} changes/s", "≤ 2 s, agents → engine → fold ≥ 50,000 changes/s")
    subscriber.kill()
    subscriber.wait()
    os.unlink(file)
    return cost


async def matrix(replica):
    for path in ("/fleet/matrix?limit=10000", "/fleet/matrix?group=zone", "/fleet/matrix?group=zone&limit=10000", "/fleet"):
        # curl, because a Python client would take longer to read the document than the replica to make it.
        curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{time_total}", f"http://{replica.node.address}:8080{path}"]
        times = []
        for _ in range(20):
            times.append(float(await off_thread(lambda: subprocess.check_output(curl, text=True))) * 1000)
        report(f"GET {path}", f"median {sorted(times)[10]:.1f} ms", "≤ 20 ms" if "matrix" in path else "")


def restart(fleet):
    """A replica that reads everything that the stream has."""
    replica = fleet.replicas[0]
    messages = replica.get("/fleet")["engine"]["sequence"]
    replica.end()
    begin = time.perf_counter()
    replica.start()
    wait(lambda: replica.get("/fleet")["engine"]["complete"], 120, "the replica")
    report(f"replica started → complete, {messages} messages with {2 * AGENTS * TARGETS} cells",
           f"{time.perf_counter() - begin:.2f} s", "≤ 1.5 s")


def paper(cell, change):
    """10,000 agents with 16 neighbours each; a zone of 2,000 ends. fleet_heartbeats.py measures their heartbeats."""
    agents, neighbours, zone = 10_000, 16, 2_000
    report("10,000 agents × 16 neighbours, computed: cells", f"{agents * neighbours * cell / 2**20:.0f} MiB")
    changes = zone * neighbours * 4 // 5
    report(f"a zone of {zone} ends, computed: {changes} changes",
           f"{changes * change:.2f} s of processor time, without the {zone} reports of loss")


if __name__ == "__main__":
    fleet_network.enter()
    print(f"  load average {os.getloadavg()[0]:.1f}", flush=True)
    FLEET = Fleet(sys.argv[1], agents=0, replicas=1)
    try:
        asyncio.run(measure(FLEET))
    finally:
        FLEET.close()
    print(f"  load average {os.getloadavg()[0]:.1f}", flush=True)
