"""The state of a fleet as a fold of the engine's stream, in code of its own: it follows ADR 36, not the program.

The state after the message that a verdict names as its basis must lead to that verdict and its votes.
"""
import asyncio
import json

import nats

STATES = ("up", "down", "unreachable", "unknown", "paused")
MASK = 2**64 - 1
HAND_OVER = 15 * 10**9
MINUTE = 60 * 10**9
DEPTH = 8


def stable_hash(*texts):
    """FNV-1a over the texts, each followed by 0xff, and the finalizer of SplitMix64."""
    state = 0xCBF29CE484222325
    for byte in b"".join(text.encode() + b"\xff" for text in texts):
        state = ((state ^ byte) * 0x100000001B3) & MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


def assigned(target, place, agents):
    """The agents that check a target: rendezvous hashing, present ones first, one of each zone before a second one."""
    select, count, spread = ({}, None, False) if place == "all" else (
        place.get("select", {}), place.get("count"), "spread" in place)
    chosen = [each for each in agents if all(each["labels"].get(key) == value for key, value in select.items())]
    if count is None or count >= len(chosen):
        return sorted(each["id"] for each in chosen)
    chosen.sort(key=lambda each: (stable_hash(target, each["id"]), each["id"]), reverse=True)
    present = [each for each in chosen if each["present"]]
    if spread:
        seen, rounds = {}, []
        for index, each in enumerate(present):
            rounds.append((seen.get(each["zone"], 0), index))
            seen[each["zone"]] = seen.get(each["zone"], 0) + 1
        present = [present[index] for _, index in sorted(rounds)]
    ordered = present + [each for each in chosen if not each["present"]]
    return sorted(each["id"] for each in ordered[:count])


def needed(threshold, whole, default):
    """The number that a threshold means."""
    if threshold is None:
        return default
    if isinstance(threshold, int):
        return max(threshold, 1)
    return max((whole * int(threshold.rstrip("%")) + 99) // 100, 1)


def count(votes):
    """The votes as a verdict reports them; an agent without a result abstains as `unknown`."""
    return {"assigned": len(votes), **{state: sum((each or "unknown") == state for _, each in votes) for state in STATES}}


def decide(quorum, votes):
    """The verdict of votes, which are pairs of zone and state."""
    total, counts = len(votes), count(votes)
    voters, least = counts["up"] + counts["down"], 2 if total >= 2 else 1
    minimum = max(needed(quorum["minimum"], total, (total + 1) // 2), least)
    down = max(needed(quorum["down"], voters, voters // 2 + 1), least)
    if total == 0:
        return "unknown"
    if counts["paused"] == total:
        return "paused"
    if voters < minimum:
        return "unreachable" if counts["unreachable"] >= minimum else "unknown"
    if counts["down"] == 0:
        return "up"
    zones = len({zone for zone, state in votes if state == "down"})
    return "down" if counts["down"] >= down and zones >= quorum["zones"] else "partial"


def alternatives(entry):
    """The targets of an entry of `dependsOn`."""
    return [entry] if isinstance(entry, str) else entry["anyOf"]


def parents(target):
    """The targets that a target names."""
    return {each for entry in target["dependsOn"] for each in alternatives(entry)}


class Fleet:
    """The state after each message of the stream."""

    def __init__(self):
        self.nodes, self.targets, self.deleted = {}, {}, {}
        self.sequence = self.time = 0
        self.decisions, self.accepted, self.failures = {}, [], []
        self.failing, self.marked = {}, set()

    def apply(self, subject, message, sequence, time):
        before, self.sequence, self.time = self.time, sequence, time
        if before // MINUTE != time // MINUTE:
            self.expire()
        kind = subject.split(".")[-2]
        getattr(self, {"ev": "events", "node": "node", "verdict": "verdict", "target": "definition"}[kind])(message)
        self.judge()

    def mark(self, names):
        """Notes that this message concerns the votes on targets."""
        self.marked |= set(names)
        for name in names:
            if target := self.targets.get(name):
                target["changed"] = self.time

    def judge(self):
        """Keeps what the votes say after this message, for the targets that it concerns and those that depend on them."""
        moved = {name for name in self.marked if self.state(name) != self.failing.get(name)}
        self.failing |= {name: self.state(name) for name in moved}
        while below := {name for name, each in self.targets.items() if moved & parents(each)} - moved:
            moved |= below
            self.mark(below)
        for name in self.marked & self.targets.keys():
            target = self.targets[name]
            votes = self.votes(name, target)
            self.decisions[name, self.sequence] = decide(target["quorum"], votes), count(votes), self.root(name)
        self.marked = set()

    def state(self, name):
        """Whether a target fails for those that depend on it; None if it decides nothing."""
        target = self.targets.get(name)
        verdict = target and decide(target["quorum"], self.votes(name, target))
        return None if not target or target["paused"] or verdict == "paused" else verdict in ("down", "unreachable")

    def root(self, name):
        """The last target of the path of failing ones; None if no entry is broken, or for a cycle."""
        path = [name]
        while len(path) <= DEPTH and path[-1] in self.targets:
            states = [[(each, self.failing.get(each)) for each in alternatives(entry)]
                      for entry in self.targets[path[-1]]["dependsOn"]]
            broken = [[each for each, fails in entry if fails] for entry in states
                      if all(fails is not False for _, fails in entry)]
            if not (found := next((each[0] for each in broken if each), None)):
                break
            if found in path:
                return None
            path.append(found)
        return path[-1] if len(path) > 1 else None

    def vote(self, agent, target):
        node = self.nodes.get(agent)
        state = node and node["cells"].get(target)
        is_heard = node is not None and node["state"] != "lost" and not node["waits"]
        return state if is_heard or state in (None, "paused") else "unknown"

    def votes(self, name, target):
        leaving = sorted(agent for agent, until in target["leaving"].items() if until > target["changed"])
        found = []
        for agent in target["assigned"]:
            state = self.vote(agent, name)
            while state is None and leaving:
                agent = leaving.pop(0)
                state = self.vote(agent, name)
            found.append((self.nodes.get(agent, {}).get("zone", ""), state))
        return found

    def record(self, agent):
        return self.nodes.setdefault(agent, {
            "role": None, "zone": "", "labels": {}, "state": "present", "since": 0, "hello": 0, "cells": {},
            "waits": False, "epoch": None, "high": None, "parts": []})

    def of_agent(self, agent):
        return [name for name, each in self.targets.items() if agent in each["assigned"] or agent in each["leaving"]]

    def events(self, message):
        is_new = message["agent"] not in self.nodes
        node = self.record(message["agent"])
        if node["epoch"] != message["epoch"]:
            node["waits"] = node["waits"] or node["epoch"] is not None
            node.update(epoch=message["epoch"], high=None, parts=[])
            if not is_new:
                self.mark(self.of_agent(message["agent"]))
        high = node["high"] or 0
        if "changes" in message:
            node["parts"] = []
            changes = [each for each in message["changes"] if each["number"] > high]
            for each in changes:
                if "state" in each:
                    node["cells"][each["target"]] = each["state"]
                else:
                    node["cells"].pop(each["target"], None)
            node["high"] = max(high, message["to"])
            self.mark({each["target"] for each in changes})
            return
        node["high"] = max(high, message["number"])
        parts = node["parts"] = [] if message["part"] == 1 else node["parts"]
        if message["part"] != len(parts) + 1 or any(
                (each["number"], each["of"]) != (message["number"], message["of"]) for each in parts):
            node["parts"] = []
            return
        parts.append(message)
        if message["part"] < message["of"]:
            return
        old, waited = node["cells"], node["waits"]
        cells = {each["target"]: each["state"] for part in parts for each in part["cells"]}
        node.update(cells=cells, waits=False, parts=[])
        self.mark(name for name in old.keys() | cells.keys() if waited or old.get(name) != cells.get(name))

    def node(self, message):
        name = message["id"]
        known = self.nodes.get(name)
        state = known["state"] if known and known["role"] else None
        if hello := message.get("hello"):
            node = self.record(name)
            attributes = (hello["role"], hello["zone"], hello["labels"])
            is_change = state != "present" or attributes != (node["role"], node["zone"], node["labels"])
            node.update(role=hello["role"], zone=hello["zone"], labels=hello["labels"], hello=self.sequence)
            if state != "present":
                node["waits"] = node["waits"] or state is not None
                node.update(state="present", since=self.time)
            if is_change:
                self.reassign(name)
        elif "bye" in message:
            if state in ("present", "lost"):
                known.update(state="left", since=self.time)
                self.reassign(name)
        elif lost := message.get("lost"):
            if state is None or state == "present" and known["hello"] == lost["hello"]:
                attributes = lost["attributes"]
                self.record(name).update(
                    role=attributes["role"], zone=attributes["zone"], labels=attributes["labels"], hello=lost["hello"],
                    state="lost", since=self.time)
                self.reassign(name)

    def expire(self):
        """Forgets the nodes whose messages are, or will be, too old for the stream."""
        limits = {"left": HAND_OVER, "lost": 24 * 60 * MINUTE}
        ended = {name for name, each in self.nodes.items()
                 if each["state"] in limits and each["since"] + limits[each["state"]] <= self.time}
        has_lost = any(self.nodes[name]["state"] == "lost" for name in ended)
        for name in ended:
            del self.nodes[name]
        for name in self.targets if has_lost else ():
            self.assign(name)

    def reassign(self, node):
        for name in self.targets:
            self.assign(name)
        self.mark(self.of_agent(node))

    def assign(self, name):
        target = self.targets[name]
        agents = [{"id": key, "zone": each["zone"], "labels": each["labels"], "present": each["state"] == "present"}
                  for key, each in self.nodes.items() if each["role"] == "agent" and each["state"] != "left"]
        chosen = assigned(name, target["place"], agents)
        if chosen == target["assigned"]:
            return
        leaving = {agent: until for agent, until in target["leaving"].items() if until > self.time}
        for agent in target["assigned"]:
            if agent not in chosen and self.nodes.get(agent, {}).get("state") != "lost":
                leaving[agent] = self.time + HAND_OVER
        target["leaving"] = {agent: until for agent, until in leaving.items() if agent not in chosen}
        target["assigned"] = chosen
        self.mark([name])

    def definition(self, message):
        name, version = message["id"], message["version"]
        known = self.targets.get(name, {}).get("version", self.deleted.get(name, 0))
        if version <= known:
            return
        if message.get("deleted"):
            self.mark([name])
            self.targets.pop(name, None)
            self.deleted[name] = version
            return
        self.deleted.pop(name, None)
        target = self.targets.setdefault(name, {"assigned": [], "leaving": {}, "verdict": None, "changed": self.time})
        definition = message["definition"]
        target.update(version=version, place=definition["place"], quorum=definition["quorum"],
                      dependsOn=definition.get("dependsOn", []), paused=definition["paused"])
        self.assign(name)
        self.mark([name])

    def verdict(self, message):
        target = self.targets.get(message["target"])
        if not target:
            return
        last = target["verdict"]
        is_move = message["from"] == message["to"] == "unreachable" and "since" not in message
        if message["basis"] >= self.sequence:
            is_accepted = False
        elif last is None:
            is_accepted = message["prev"] == 0
        elif message["prev"] != last["sequence"]:
            is_accepted = False
        elif message["from"] == message["to"]:
            is_accepted = message["to"] == last["to"] and (not is_move or message["basis"] > last["basis"])
        else:
            is_accepted = message["to"] != last["to"] and (message["basis"], message["attempt"]) > (
                last["basis"], last["attempt"])
        if not is_accepted:
            return
        target["verdict"] = message | {"sequence": self.sequence}
        if message["from"] == message["to"] and not is_move:
            return
        self.accepted.append(target["verdict"])
        verdict, votes, root = self.decisions.get((message["target"], message["basis"]), (None, None, None))
        # What was down before another target failed stays down.
        root = root if verdict == "down" and message["from"] != "down" else None
        own = ("unreachable" if root else verdict), votes, root
        if own != (message["to"], message["votes"], message.get("dependency")):
            self.failures.append(f"{message['target']}: the verdict {self.sequence} is {message['to']} of {message['votes']} "
                                 f"by {message.get('dependency')}, at {message['basis']} it is {own[0]} of {own[1]} by {own[2]}")


def fold(messages):
    """The state after messages, each with its subject, content, sequence, and time in nanoseconds."""
    fleet = Fleet()
    for message in messages:
        fleet.apply(*message)
    return fleet


async def read(server):
    """The messages of the stream, from its first one to its last one."""
    client = await nats.connect(server)
    context = client.jetstream()
    state = (await context.stream_info("RX2")).state
    if state.messages and state.first_seq > 1:
        raise SystemExit("fleet: the stream does not begin with its first message; its state before is not known")
    messages = []
    subscription = await context.subscribe("rx2.>", ordered_consumer=True)
    while not messages or messages[-1][2] < state.last_seq:
        message = await subscription.next_msg(timeout=10)
        # A datetime has microseconds: enough for the 15 s of a hand-over.
        time = int(message.metadata.timestamp.timestamp() * 10**6) * 1000
        messages.append((message.subject, json.loads(message.data), message.metadata.sequence.stream, time))
    await client.close()
    return messages


def messages_of(server):
    """The same, for callers without an event loop."""
    return asyncio.run(read(server))
