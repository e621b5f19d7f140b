"""An agent of a fleet, written from docs/reference/fleet-messages.md with PyPI's nats-py: fleetagent.py URL ID ZONE.

It checks TCP targets. Its state is in memory, so that each start is a new epoch.
"""
import asyncio
import json
import random
import re
import sys
import time

import nats

UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
CHANGES = 255


def seconds(text, default):
    found = re.fullmatch(r"(\d+)(ms|s|m|h)", text or "")
    return int(found[1]) * UNITS[found[2]] if found else default


def now():
    return int(time.time() * 10**6)


class Rejected(Exception):
    """Replicas do not store the message."""


class Agent:
    """A chain of changes, a base, heartbeats, and answers to questions."""

    def __init__(self, client, name, zone):
        self.client, self.name, self.zone = client, name, zone
        self.instance = random.randrange(1, 2**62)
        self.epoch = f"python-{random.randrange(2**64):x}"
        self.hello_sequence, self.created, self.base_end = 0, 0, None
        self.after = self.published = self.number = 0
        self.waiting, self.cells, self.targets, self.hash = [], {}, {}, None
        self.wants_base, self.changed = True, asyncio.Event()

    async def ask(self, request, **members):
        """A request, until a replica has answered something final."""
        payload = json.dumps({"v": 1, "request": request, **members}).encode()
        while True:
            try:
                reply = await self.client.request(f"rx2.in.{self.name}", payload, timeout=3)
            except (nats.errors.NoRespondersError, nats.errors.TimeoutError):
                await asyncio.sleep(0.5)
                continue
            answer = json.loads(reply.data)
            match answer["answer"]:
                case "slowDown":
                    await asyncio.sleep(answer["milliseconds"] / 1000)
                case "failed":
                    await asyncio.sleep(0.5)
                case "rejected":
                    raise Rejected(answer["reason"])
                case "duplicate":
                    sys.exit(69)
                case _:
                    return answer

    # Membership

    async def hello(self, restates=False):
        attributes = {"role": "agent", "zone": self.zone, "labels": {"language": "python"}, "version": "python"}
        answer = await self.ask("hello", instance=self.instance, known=self.hello_sequence, restates=restates,
                                hello=attributes)
        if self.hello_sequence != answer["sequence"]:
            self.wants_base = True
        self.hello_sequence = answer["sequence"]
        await self.heartbeat()

    async def heartbeat(self):
        await self.client.publish(f"rx2.hb.{self.name}", json.dumps(
            {"agent": self.name, "instance": self.instance, "outbox": len(self.waiting), "hello": self.hello_sequence}
        ).encode())

    async def confirm(self):
        answer = await self.ask("confirm", roster=self.hash)
        if self.created not in (0, answer["created"]):
            self.base_end = None
        self.created = answer["created"]
        if answer["hello"] != self.hello_sequence:
            await self.hello()
        roster = answer["roster"]
        if roster and roster["created"] == answer["created"] and roster["hash"] != self.hash:
            await self.read_targets()
        missing = sorted(set(self.cells) - set(self.targets))[:256]
        if self.hash and missing:
            for name in (await self.ask("missing", targets=missing))["ended"]:
                self.report(name, None)

    async def read_targets(self):
        found, after, known = {}, None, None
        while True:
            page = await self.ask("roster", after=after)
            if page["answer"] != "roster" or known not in (None, page["hash"]):
                return
            known = page["hash"]
            found |= {each["id"]: each for each in page["targets"]}
            after = page["next"]
            if after is None:
                break
        self.hash, self.targets = known, found

    # The chain

    def report(self, name, state, reason=None):
        """A change of a cell; without a state the target is not checked any longer."""
        old = self.cells.get(name, {}).get("state", "unknown")
        if state == old and name in self.cells:
            return
        self.number += 1
        change = {"number": self.number, "target": name, "old": old, "time": now()}
        if state:
            cell = {"state": state, "since": now()} | ({"reason": reason} if reason else {})
            self.cells[name] = cell
            change |= cell
        else:
            self.cells.pop(name, None)
        self.waiting.append(change)
        self.changed.set()

    async def align(self):
        answer = await self.ask("last")
        self.after = answer.get("sequence", 0)
        self.published = answer["to"] if answer.get("epoch") == self.epoch else 0

    async def store(self, message):
        """Whether the stream has the message now."""
        message |= {"agent": self.name, "epoch": self.epoch, "after": self.after, "prev": self.published}
        answer = await self.ask("publish", message=message)
        if answer["answer"] == "refused":
            await self.align()
            return False
        self.after = answer["sequence"]
        self.published = message.get("to", message.get("number"))
        return True

    async def publish(self):
        """Changes before a base, which includes all of them."""
        await self.align()
        while True:
            self.waiting = [each for each in self.waiting if each["number"] > self.published]
            if self.waiting:
                batch = self.waiting[:CHANGES]
                await self.store({"from": batch[0]["number"], "to": batch[-1]["number"], "again": False, "changes": batch})
            elif self.wants_base:
                cells = [{"target": name, **cell} for name, cell in sorted(self.cells.items())]
                parts = [cells[begin:begin + CHANGES] for begin in range(0, len(cells), CHANGES)] or [[]]
                number = self.number
                for place, part in enumerate(parts, 1):
                    if not await self.store({"number": number, "part": place, "of": len(parts), "cells": part}):
                        break
                else:
                    self.wants_base, self.base_end = False, self.after
            else:
                self.changed.clear()
                await self.changed.wait()

    # Questions

    async def answer(self, message):
        if message.reply and not message.reply.startswith("_ANSWER."):
            return
        question = json.loads(message.data)
        reply = None
        match question["request"]:
            case "ping":
                reply = {"reply": "instance", "instance": self.instance}
            case "base":
                if question["created"] == self.created and self.base_end and self.base_end > question["sequence"]:
                    reply = {"reply": "published", "sequence": self.base_end}
                else:
                    self.wants_base = True
                    self.changed.set()
                    reply = {"reply": "accepted"}
            case "check":
                await asyncio.gather(*(self.check(name) for name in question["targets"] if name in self.targets))
                reply = {"reply": "results", "cells": [
                    {"target": name, **self.cells[name], "last": self.cells[name]["state"]}
                    for name in question["targets"] if name in self.cells]}
        if message.reply and reply:
            await self.client.publish(message.reply, json.dumps(reply).encode())

    # Checks

    async def check(self, name):
        target = self.targets[name]
        if target.get("paused"):
            return self.report(name, "paused")
        host, _, port = target["target"].removeprefix("tcp://").rpartition(":")
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(host, int(port)), seconds(target.get("timeout"), 5))
            writer.close()
            self.report(name, "up")
        except TimeoutError:
            self.report(name, "down", "connectTimeout")
        except OSError:
            self.report(name, "down", "connectionRefused")

    async def schedule(self):
        due = {}
        while True:
            for name, target in list(self.targets.items()):
                if due.get(name, 0) <= time.monotonic() and target["target"].startswith("tcp://"):
                    due[name] = time.monotonic() + seconds(target.get("interval"), 30)
                    await self.check(name)
            await asyncio.sleep(0.1)

    async def run(self):
        await self.hello()
        await self.client.subscribe(f"rx2.ask.{self.name}", cb=self.answer)
        hint = asyncio.Event()

        async def hinted(_):
            hint.set()

        await self.client.subscribe(f"rx2.new.{self.name}", cb=hinted)

        async def beats():
            while True:
                await self.heartbeat()
                await asyncio.sleep(2)

        async def comparisons():
            while True:
                hint.clear()
                await self.confirm()
                await asyncio.sleep(1)
                try:
                    await asyncio.wait_for(hint.wait(), 9)
                except TimeoutError:
                    pass

        await asyncio.gather(beats(), comparisons(), self.publish(), self.schedule())


async def main(url, name, zone):
    client = await nats.connect(url, inbox_prefix=f"_INBOX.agent.{name}".encode(), max_reconnect_attempts=-1)
    await Agent(client, name, zone).run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
