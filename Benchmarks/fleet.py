"""The fleet against real nats-servers, in network namespaces: fleet.py PROGRAM [GROUP]…

NATS_SERVER is the server's program. Groups: change, leader, wipe, partition, hop, handover, memory, gateway. The
load average is printed first and last, because timings of a busy machine say little. The costs of many agents are in
fleet_scale.py.
"""
import asyncio
import json
import os
import random
import signal
import sys
import threading
import time

import nats

import fleet_network
from daemon import quantiles
from fleet_network import Fleet, Subscriber, wait
from start import memory

CHANGES = int(os.environ.get("CHANGES", "300"))
KILLS = int(os.environ.get("KILLS", "3"))
HOPS = int(os.environ.get("HOPS", "200"))


TICKS = os.sysconf("SC_CLK_TCK")


def processor_time(pid):
    """Seconds of processor time of a process."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def report(name, value, bar=""):
    print(f"  {name}: {value}{f' (bar: {bar})' if bar else ''}", flush=True)


def milliseconds(values):
    median, high, worst = quantiles([value * 1000 for value in values])
    return f"p50 {median:.1f} ms, p99 {high:.1f} ms, max {worst:.1f} ms of {len(values)}"


def cells_of(target, agent="node0"):
    words = f'"agent":"{agent}","target":"{target}"'.encode()
    return lambda event: event[1] == "cell" and words in event[3]


def change():
    """A link of an agent is cut: its `cell`, and the verdict that follows, at subscribers of both replicas."""
    for servers, bar in ((1, "10 ms"), (3, "25 ms")):
        fleet = Fleet(sys.argv[1], servers=servers, agents=1)
        try:
            fleet.define(1)
            wait(lambda: fleet.replicas[0].get("/fleet")["verdicts"]["up"] == 1, what="the verdict")
            subscribers = [Subscriber(replica.node.address) for replica in fleet.replicas]
            time.sleep(1)
            cells, verdicts, places = [], [], [0, 0]
            for number in range(CHANGES):
                begin = time.perf_counter()
                fleet.agents[0].node.set_link(number % 2 == 1)
                for index, subscriber in enumerate(subscribers):
                    cell, places[index] = subscriber.next(places[index], cells_of("t0"), 10)
                    verdict, places[index] = subscriber.next(places[index], lambda event: event[1] == "verdict", 10)
                    if not cell or not verdict:
                        raise SystemExit(f"no event of change {number}")
                    cells.append(cell[0] - begin)
                    verdicts.append(verdict[0] - cell[0])
                time.sleep(0.05)
            report(f"link cut or connected → cell at both replicas' subscribers, {servers} server(s)",
                   milliseconds(cells), "p50 ≤ 25 ms, p99 ≤ 100 ms")
            report(f"deciding cell → verdict, {servers} server(s)", milliseconds(verdicts), f"p99 ≤ {bar}")
        finally:
            fleet.close()


class Flapping:
    """Changes an agent's link all the time, in a thread of its own."""

    def __init__(self, agents, pause=0.05):
        self.agents, self.pause, self.is_running = agents, pause, True
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        is_up = True
        while self.is_running:
            is_up = not is_up
            for agent in self.agents:
                agent.node.set_link(is_up)
            time.sleep(self.pause)

    def end(self):
        self.is_running = False
        self.thread.join()
        for agent in self.agents:
            agent.node.set_link(True)


def origins(events, agent="node0"):
    """The numbers of an agent's changes in the order of their arrival."""
    words = f'"agent":"{agent}"'.encode()
    return [int(event[3].rsplit(b'-', 1)[1].split(b'"')[0]) for event in events
            if event[1] == "cell" and words in event[3]]


def settle(fleet, targets):
    """Waits until both replicas have all cells of all agents as `up`."""
    for replica in fleet.replicas:
        wait(lambda: sum(cell["state"] == "up" for cell in replica.get("/fleet/matrix?limit=10000")["cells"])
             == targets * len(fleet.agents), 90, "the cells")


def losses(subscriber):
    """Repeated numbers, and whole-stream gaps; missing numbers are of events that are of no target of the fleet."""
    numbers = origins(subscriber.events)
    gaps = sum(event[1] == "gap" for event in subscriber.events)
    return f"{len(numbers) - len(set(numbers))} repeated, {gaps} gaps of {len(numbers)} changes"


def leader():
    """The longest time without a new event while the stream's leader is killed (SIGKILL)."""
    fleet = Fleet(sys.argv[1], servers=3, agents=1)
    try:
        fleet.define(1)
        settle(fleet, 1)
        stalls, engine = [], []
        for number in range(KILLS):
            subscriber = Subscriber(fleet.replicas[0].node.address)
            flapping = Flapping(fleet.agents)
            time.sleep(2)
            victim = fleet.servers[leader_of(fleet)]
            probe = Probe(fleet.urls)
            time.sleep(1)
            victim.kill()
            time.sleep(15)
            flapping.end()
            engine.append(probe.end())
            victim.start()
            time.sleep(3)
            times = [event[0] for event in subscriber.events if event[1] == "cell"]
            stalls.append(max(after - before for before, after in zip(times, times[1:])))
            report(f"leader killed, attempt {number + 1}: {losses(subscriber)}",
                   f"stall {stalls[-1]:.1f} s, engine {engine[-1]:.1f} s")
            subscriber.close()
            settle(fleet, 1)
        report("leader killed: longest time without an event", f"{max(stalls):.1f} s",
               f"≤ the engine's {max(engine):.1f} s + 1 s")
    finally:
        fleet.close()


def leader_of(fleet):
    """The place of the server that leads the stream."""
    async def ask():
        client = await nats.connect(fleet.urls)
        answer = json.loads((await client.request("$JS.API.STREAM.INFO.RX2", timeout=5)).data)
        await client.close()
        return int(answer["cluster"]["leader"][-2:]) - 10

    return asyncio.run(ask())


async def ignore(_):
    """The server that is killed resets the connection."""


class Probe:
    """A client that publishes every 20 ms: the engine's own longest time without an acknowledgement."""

    def __init__(self, urls):
        self.urls, self.is_running, self.longest = urls, True, 0
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        asyncio.run(self.publish())

    async def publish(self):
        client = await nats.connect(self.urls, max_reconnect_attempts=-1, reconnect_time_wait=0.1, error_cb=ignore)
        stream, last = client.jetstream(timeout=0.5), time.perf_counter()
        while self.is_running:
            try:
                # No agent has this id, and the message is none of the fleet.
                await stream.publish("rx2.ev.probe", b"{}")
                now = time.perf_counter()
                self.longest, last = max(self.longest, now - last), now
                await asyncio.sleep(0.02)
            except Exception:  # pylint: disable=broad-except
                await asyncio.sleep(0.02)
        await client.close()

    def end(self):
        self.is_running = False
        self.thread.join()
        return self.longest


def wipe():
    """All servers are killed and their stores deleted: until both replicas have the whole state again."""
    fleet = Fleet(sys.argv[1], servers=3)
    try:
        fleet.define(20)
        settle(fleet, 20)
        times = []
        for _ in range(KILLS):
            for server in fleet.servers:
                server.kill()
            for server in fleet.servers:
                server.wipe()
                server.start()
            begin = time.perf_counter()
            time.sleep(1)
            settle(fleet, 20)
            wait(lambda: all(replica.get("/fleet")["verdicts"]["up"] == 20 for replica in fleet.replicas), 60,
                 "the verdicts")
            times.append(time.perf_counter() - begin)
        report("engine wiped: servers started → all cells and verdicts at both replicas",
               f"{min(times):.1f} to {max(times):.1f} s of {KILLS}")
    finally:
        fleet.close()


def partition():
    """The cable of an agent is cut for 15 s."""
    fleet = Fleet(sys.argv[1])
    try:
        fleet.define(20)
        settle(fleet, 20)
        lost, back = [], []
        for _ in range(KILLS):
            subscriber = Subscriber(fleet.replicas[0].node.address)
            time.sleep(1)
            node = fleet.agents[0].node
            node.connect(False)
            begin = time.perf_counter()
            event, place = subscriber.next(0, lambda each: each[1] == "agent" and b'"lost"' in each[3], 30)
            lost.append(event[0] - begin)
            time.sleep(max(0, 15 - lost[-1]))
            node.connect(True)
            begin = time.perf_counter()
            settle(fleet, 20)
            back.append(time.perf_counter() - begin)
            subscriber.close()
        report("agent cut off → lost", f"{min(lost):.1f} to {max(lost):.1f} s", "6 s without a heartbeat")
        report("cable connected → its cells count again", f"{min(back):.1f} to {max(back):.1f} s of {KILLS}")
    finally:
        fleet.close()


def hop():
    """A subscriber moves between two replicas while events arrive."""
    fleet = Fleet(sys.argv[1], agents=1)
    try:
        fleet.define(10)
        settle(fleet, 10)
        first = Subscriber(fleet.replicas[0].node.address)
        first.next(0, lambda event: event[1] == "snapshot")
        begun = last = first.events[-1][2]
        times, numbers, gaps = [], [], 0
        first.close()
        # One subscriber does not move: an event that it has is one that the next replica must send.
        whole = Subscriber(fleet.replicas[0].node.address, begun)
        position = 0
        flapping = Flapping(fleet.agents)
        for number in range(HOPS):
            time.sleep(random.uniform(0.02, 0.1))
            _, position = whole.next(position, lambda each: each[1] == "cell", 10)
            begin = time.perf_counter()
            subscriber = Subscriber(fleet.replicas[number % 2].node.address, last)
            event, _ = subscriber.next(0, lambda each: each[1] == "cell", 10)
            times.append(event[0] - begin)
            with subscriber.condition:
                events = list(subscriber.events)
            subscriber.close()
            gaps += sum(each[1] == "gap" for each in events)
            numbers += origins(events)
            last = events[-1][2]
            with whole.condition:
                position = next((index + 1 for index, each in enumerate(whole.events) if each[2] == last), position)
        flapping.end()
        whole.next(0, lambda event: event[2] == last, 30)
        expected = [number for number in origins(whole.events) if number <= numbers[-1]]
        report("move to the other replica → first event after the last id", milliseconds(times))
        report("the same: lost, repeated, gaps",
               f"{len(set(expected) - set(numbers))} lost, {len(numbers) - len(set(numbers))} repeated, {gaps} gaps, of "
               f"{len(expected)}",
               "0, 0, 0")
    finally:
        fleet.close()


def handover():
    """The only agent of a target ends: until another one has its first result."""
    killed, ended = [], []
    fleet = Fleet(sys.argv[1], agents=3)
    try:
        fleet.define(20, place={"count": 1})
        for number in range(2 * KILLS):
            subscriber = Subscriber(fleet.replicas[0].node.address)
            time.sleep(3)
            victim = fleet.agents[number % 3]
            name = f"node{number % 3}"
            held = {cell["target"] for cell in fleet.replicas[0].get("/fleet/matrix")["cells"] if cell["agent"] == name}
            begin, place, last = time.perf_counter(), 0, 0
            victim.end(signal.SIGKILL if number % 2 == 0 else signal.SIGTERM)
            while held:
                event, place = subscriber.next(
                    place, lambda each: each[0] > begin and each[1] == "cell" and b'"state":"up"' in each[3]
                    and f'"agent":"{name}"'.encode() not in each[3], 30)
                if not event:
                    raise SystemExit(f"{held} were not taken over")
                held = {target for target in held if f'"target":"{target}"'.encode() not in event[3]}
                last = event[0]
            if last:
                (killed if number % 2 == 0 else ended).append(last - begin)
            subscriber.close()
            victim.start()
            wait(lambda: fleet.replicas[0].get("/fleet")["agents"]["present"] == 3, what="the agent")
        report("agent killed → all of its targets have a result elsewhere",
               f"{min(killed):.1f} to {max(killed):.1f} s of {len(killed)}", "p50 ≤ 5 s, p99 ≤ 9 s")
        report("agent ended (SIGTERM) → the same", f"{min(ended):.2f} to {max(ended):.2f} s of {len(ended)}", "≤ 1 s")
    finally:
        fleet.close()


def idle():
    """Memory of an idle agent against a node of `reachd`."""
    fleet = Fleet(sys.argv[1], agents=1, replicas=1)
    try:
        program = fleet.program.removesuffix("-fleet")
        node = fleet.node(90)
        single = fleet_network.Member(node, program, "serve", write(fleet, node))
        wait(lambda: single.get("/status"), what="the node")
        time.sleep(10)
        own, alone = memory(fleet.agents[0].process.pid), memory(single.process.pid)
        single.end()
        report("idle agent: resident memory more than a node",
               f"{(own[0] - alone[0]) / 1024:.1f} MiB ({own[0] / 1024:.1f} and {alone[0] / 1024:.1f} MiB), "
               f"anonymous {(own[1] - alone[1]) / 1024:.1f} MiB more", "≤ 8 MiB")
    finally:
        fleet.close()


def write(fleet, node):
    file = f"{fleet.directory}/single.yaml"
    with open(file, "w") as text:
        text.write(f"listen: \"{node.address}:8080\"\nallowedHosts: [\"{node.address}\"]\ndrainDelay: 0s\n"
                   f"data: {fleet.directory}/single\n")
    return file


class Chains:
    """The chains of simulated agents, each over a connection of its own: one message in flight."""

    def __init__(self, fleet, count):
        self.fleet, self.count, self.stored = fleet, count, 0

    @staticmethod
    def message(name, after, number):
        change = {"number": number, "target": "t0", "old": "up", "time": 0, "state": "up", "since": 0}
        return {"agent": name, "epoch": "e", "after": after, "prev": number - 1, "from": number, "to": number, "again": False,
                "changes": [change]}

    async def through_replicas(self, client, name, end):
        after = number = 0
        while time.monotonic() < end:
            body = json.dumps({"v": 1, "request": "publish", "message": self.message(name, after, number + 1)})
            answer = json.loads((await client.request(f"rx2.in.{name}", body.encode(), timeout=10)).data)
            if answer["answer"] == "stored":
                after, number, self.stored = answer["sequence"], number + 1, self.stored + 1
            elif answer["answer"] == "slowDown":
                await asyncio.sleep(answer["milliseconds"] / 1000)
            else:
                raise SystemExit(f"gateway: {answer}")

    async def to_engine(self, client, name, end):
        after = number = 0
        while time.monotonic() < end:
            acknowledgement = json.loads((await client.request(
                f"rx2.ev.{name}", json.dumps(self.message(name, after, number + 1)).encode(), timeout=10,
                headers={"Nats-Expected-Last-Subject-Sequence": str(after)})).data)
            after, number, self.stored = acknowledgement["seq"], number + 1, self.stored + 1

    async def run(self, publish, prefix, seconds):
        clients = [await nats.connect(self.fleet.urls, inbox_prefix=f"_INBOX.agent.{prefix}{index}".encode())
                   for index in range(self.count)]
        end = time.monotonic() + seconds
        await asyncio.gather(*(publish(client, f"{prefix}{index}", end) for index, client in enumerate(clients)))
        for client in clients:
            await client.close()


def gateway():
    """Messages of agents through one replica and three, and to the engine without a replica, by clients in Python."""
    seconds = int(os.environ.get("GATEWAY_SECONDS", "8"))
    for servers, replicas in ((1, 1), (1, 3), (3, 1), (3, 3)):
        fleet = Fleet(sys.argv[1], servers=servers, agents=0, replicas=replicas)
        try:
            for name, what in (("without", "to_engine"), ("through", "through_replicas")):
                chains = Chains(fleet, 64)
                before = [processor_time(each.process.pid) for each in fleet.replicas]
                asyncio.run(chains.run(getattr(chains, what), name[0], seconds))
                used = sum(processor_time(each.process.pid) - one for each, one in zip(fleet.replicas, before, strict=True))
                report(f"{name} the gateway, {servers} server(s), {replicas} replica(s), 64 agents",
                       f"{chains.stored / seconds:.0f} messages/s, {used / chains.stored * 1e6:.0f} µs of the replicas each")
        finally:
            fleet.close()


GROUPS = {"change": change, "leader": leader, "wipe": wipe, "partition": partition, "hop": hop, "handover": handover,
          "memory": idle, "gateway": gateway}

if __name__ == "__main__":
    fleet_network.run(GROUPS, sys.argv[2:])
