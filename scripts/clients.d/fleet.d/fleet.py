"""Runs a fleet with a scripted outage, and recomputes every verdict from the engine's stream with an independent client.

PyPI's nats-server has the stream, PyPI's nats-py reads it, and `fleetfold` has rules of its own. Verdicts, votes, cells and
events of the replica must be the same; with an error planted in the messages, the comparison must fail.
"""
import copy
import http.client
import json
import pathlib
import re
import subprocess
import sys
import threading
import time
import urllib.request

import fleetfold
import fleetnet
from fleetnet import ENGINE, HOST, REPLICA, Listener, define, expect, ip, request, wait

AGENTS = {"node-a": "a", "node-b": "b", "node-c": "c"}
# The fleet is quiet when it has had no event for longer than a check, a hold of `down` and a repeated proposal take.
QUIET = 3
VERDICTS = {"up", "down", "partial", "unreachable", "unknown", "paused"}


class Events(threading.Thread):
    """The replica's event stream, from before the first verdict."""

    def __init__(self):
        super().__init__(daemon=True)
        self.events = []
        connection = http.client.HTTPConnection(REPLICA, timeout=30)
        connection.request("GET", "/fleet/events")
        self.lines = connection.getresponse()
        self.start()

    def run(self):
        fields = {}
        for line in self.lines:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                fields[name] = value
            elif "data" in fields:
                self.events.append((fields.get("event"), fields.get("id"), json.loads(fields["data"])))
                fields = {}


def outages(a, b, c):
    """Causes every verdict, each by what causes it in use."""
    listener = Listener()
    for name, address, more in (("web", HOST, {}), ("far", "10.80.0.1", {}), ("one", HOST, {"place": {"count": 1}}),
                                ("part", "10.79.0.9", {}), ("behind", "10.79.0.9", {"dependsOn": ["one", {"anyOf": ["part"]}]})):
        define(name, address, **more)
    for name in ("web", "far", "one", "part", "behind"):
        expect(name, "up")
    listener.close()
    expect("web", "down")
    listener = Listener()
    expect("web", "up")
    expect("part", "up")
    # One agent's path is broken behind its first hop, then a second one's; then the second zone does not suffice.
    c.mislead("10.79.0.9")
    expect("part", "partial")
    b.mislead("10.79.0.9")
    expect("part", "down")
    expect("behind", "unreachable")
    define("part", "10.79.0.9", quorum={"zones": 3})
    expect("part", "partial")
    # Its dependencies work again, and it does not.
    expect("behind", "down")
    for agent in (b, c):
        agent.lead("10.79.0.9")
    expect("part", "up")
    expect("behind", "up")
    for agent in (a, b):
        agent.ip("route", "del", "default")
    expect("far", "unreachable")
    for agent in (a, b):
        agent.connect()
    expect("far", "up")
    define("one", HOST, place={"count": 1}, paused=True)
    expect("one", "paused")
    # Two of three agents are silent: one is killed, the other has no cable.
    a.process.kill()
    a.process.wait()
    ip("link", "set", b.cable, "down")
    expect("web", "unknown")
    b.connect()
    expect("web", "up")
    request("DELETE", "/fleet/targets/one?force=true")
    wait("the end of the target", lambda: len(request("GET", "/fleet/targets")["targets"]) == 4)
    listener.close()
    expect("far", "down")


def quiet():
    """Waits until the fleet has no more events."""
    last = None
    while (present := request("GET", "/fleet")["lastEventId"]) != last:
        last = present
        time.sleep(QUIET)


def differences(fleet, events):
    """What the replica serves, compared with the own state."""
    found = list(fleet.failures)

    def same(what, own, theirs):
        if own != theirs:
            found.append(f"{what}: {own} in the stream, {theirs} at the replica")

    same("verdicts", {name: (each["verdict"] or {"to": "unknown"})["to"] for name, each in fleet.targets.items()},
         {each["id"]: each["verdict"] for each in request("GET", "/fleet/targets")["targets"]})
    same("cells",
         {(agent, target): fleet.vote(agent, target) for agent, node in fleet.nodes.items()
          if node["role"] == "agent" and node["state"] != "left" for target in node["cells"]},
         {(each["agent"], each["target"]): each["state"]
          for each in request("GET", "/fleet/matrix?limit=10000")["cells"]})
    same("events of verdicts",
         [(each["sequence"], each["target"], each["to"], each["votes"]) for each in fleet.accepted],
         [(int(identifier.split("-")[1]) // 256, data["target"], data["verdict"], data["votes"])
          for kind, identifier, data in events if kind == "verdict"])
    return found


def mesh():
    """Who reaches whom in the end: two agents reach each other, and not the one that was killed."""
    states = {(each["agent"], each["target"].removeprefix("mesh.")): each["state"]
              for each in request("GET", "/fleet/matrix?of=agents")["cells"]}
    expected = {("node-b", "node-c"): "up", ("node-c", "node-b"): "up", ("node-b", "node-a"): "down",
                ("node-c", "node-a"): "down", ("node-a", "node-b"): "unknown", ("node-a", "node-c"): "unknown"}
    reached = request("GET", "/fleet/agents/node-a")["reached"]["verdict"]
    zones = {(each["from"], each["to"]): {state for state, count in each["states"].items() if count}
             for each in request("GET", "/fleet/matrix?of=agents&group=zone")["groups"]}
    own = {(AGENTS[one], AGENTS[other]): {state} for (one, other), state in expected.items()}
    return [f"mesh: {found} instead of {right}" for found, right in ((states, expected), (reached, "down"), (zones, own))
            if found != right]


def metrics():
    """The families of the fleet that a replica and an agent have, compared with the reference."""
    text = "".join(urllib.request.urlopen(f"http://{address}:8080/metrics", timeout=10).read().decode()
                   for address in (HOST, "10.79.0.3"))
    types = dict(re.findall(r"^# TYPE (reachd_fleet_\w+) (\w+)$", text, re.M))
    own = {(name, types[name], meaning.rstrip(".")) for name, meaning in re.findall(r"^# HELP (reachd_fleet_\w+) (.*)$", text, re.M)}
    reference = pathlib.Path("docs/reference/metrics.md").read_text(encoding="utf-8")
    shown = {(name, kind, meaning)
             for name, kind, meaning in re.findall(r"^\| `(reachd_fleet_\w+)` \| (\w+) \|[^|]*\| (.*) \|$", reference, re.M)}
    return [f"docs/reference/metrics.md: {each}" for each in own ^ shown]


def event_members(events):
    """The members of the events' data, compared with the reference. An agent's attributes are present when it begins."""
    found = {}
    for kind, _, data in events:
        found.setdefault(kind, set()).update(data)
    text = pathlib.Path("docs/reference/fleet.md").read_text(encoding="utf-8")
    shown = {name: set(re.findall(r"`(\w+)`", cell))
             for name, cell in re.findall(r"^\| `(verdict|cell|agent|definition)` \| [^|]* \| (.*) \|$", text, re.M)}
    return [f"docs/reference/fleet.md: {name}: {sorted(shown[name] ^ found[name])}"
            for name in shown if shown[name] != found.get(name)]


def planted(messages, fleet):
    """Copies of the messages with one error each, which the comparison must find."""
    def last(kind, is_wanted):
        return max(index for index, each in enumerate(messages) if each[0].startswith(kind) and is_wanted(each[1]))

    def basis(verdict):
        """The report of an agent that led to a verdict."""
        sequences = {each["basis"] for each in fleet.accepted if each["to"] == verdict}
        return max(index for index, each in enumerate(messages) if each[2] in sequences and "changes" in each[1])

    def replaced(index, change):
        wrong = copy.deepcopy(messages)
        change(wrong[index][1])
        return wrong

    yield "another verdict", replaced(
        last("rx2.verdict.", lambda each: each["to"] == "down"), lambda each: each.update(to="paused"))
    yield "another root", replaced(
        last("rx2.verdict.", lambda each: each.get("dependency") == "part"), lambda each: each.update(dependency="web"))
    yield "no dependency", replaced(
        last("rx2.roster.target.behind", lambda each: "definition" in each and each["version"] == 1),
        lambda each: each["definition"].update(dependsOn=[]))
    yield "another state of a cell", replaced(
        basis("unreachable"), lambda each: [change.update(state="up") for change in each["changes"]])
    yield "another quorum", replaced(
        last("rx2.roster.target.", lambda each: each.get("definition", {}).get("quorum", {}).get("zones") == 3),
        lambda each: each["definition"]["quorum"].update(zones=1))
    yield "a lost agent that is not", [
        each for each in messages if not (each[0] == "rx2.roster.node.node-a" and "lost" in each[1])]


def independent(program):
    """An agent that was written from the reference takes part: it votes, answers, and ends in order."""
    name = "python"
    url = f"nats://{name}:{fleetnet.PASSWORD}@{HOST}:4222"
    agents = {"node-a": (2, "a"), "node-b": (3, "b")}
    with fleetnet.running(program, agents, others=(name,)):
        program = [sys.executable, "-u", str(pathlib.Path(__file__).with_name("fleetagent.py")), url, name]
        first = subprocess.Popen([*program, "c"])
        try:
            listener = Listener()
            define("web", HOST)
            wait("its vote", lambda: request("GET", "/fleet/targets/web")["votes"]["up"] == 3)
            second = subprocess.Popen([*program, "d"])
            if second.wait(20) != 69:
                raise SystemExit("fleet: the second process with the id of an agent does not end with 69")
            results = {each["agent"]: each["state"] for each in request("POST", "/fleet/checks", {"target": "web"})["results"]}
            if results != {"node-a": "up", "node-b": "up", name: "up"}:
                raise SystemExit(f"fleet: checks: {results}")
            listener.close()
            expect("web", "down")
            wait("its vote", lambda: request("GET", "/fleet/targets/web")["votes"]["down"] == 3)
            # A target that is assigned to others ends, and another one begins.
            listener = Listener()
            define("web", HOST, place={"select": {"language": "python"}})
            expect("web", "up")
            wait("one vote", lambda: request("GET", "/fleet/targets/web")["votes"]["assigned"] == 1)
            request("DELETE", "/fleet/targets/web")
            wait("the end of its cell", lambda: not any(
                each["agent"] == name for each in request("GET", "/fleet/matrix?of=targets")["cells"]))
            listener.close()
            quiet()
            messages = fleetfold.messages_of(ENGINE)
            if failures := fleetfold.fold(messages).failures:
                raise SystemExit("fleet: " + "\nfleet: ".join(failures))
        finally:
            first.kill()
            first.wait()
        wait("that it is lost", lambda: request("GET", f"/fleet/agents/{name}")["state"] == "lost")
    print("fleet: an agent in Python took part")


def main(program):
    independent(program)
    with fleetnet.running(program, {name: (number + 2, zone) for number, (name, zone) in enumerate(AGENTS.items())},
                          before=Events) as (members, events):
        outages(*members[1:])
        quiet()
        messages = fleetfold.messages_of(ENGINE)
        fleet = fleetfold.fold(messages)
        found = differences(fleet, events.events) + metrics() + event_members(events.events) + mesh()
    for name, wrong in planted(messages, fleet):
        if not fleetfold.fold(wrong).failures:
            found.append(f"not found: {name}")
    if missing := VERDICTS - {each["to"] for each in fleet.accepted}:
        found.append(f"not caused: {sorted(missing)}")
    if found:
        raise SystemExit("fleet: " + "\nfleet: ".join(found))
    print(f"fleet: {len(fleet.accepted)} verdicts recomputed from {len(messages)} messages; planted errors found")


if __name__ == "__main__":
    main(sys.argv[1] + "-fleet")
