"""A replica with made-up documents of a large fleet, and the page of a real replica: more agents than a machine can run."""
import contextlib
import http.server
import json
import threading
import urllib.parse
import urllib.request

AGENTS, TARGETS, ZONES = 60, 1200, ("eu-1", "eu-2", "us-1", "us-2", "ap-1", "ap-2")
SINCE = "2026-01-01T00:00:00.000000Z"
STATES = ("up", "down", "unreachable", "unknown", "paused")


def votes(**counts):
    return {**dict.fromkeys(STATES, 0), **counts}


def agents():
    return [{"id": f"edge-{ZONES[number % len(ZONES)]}-{number:03}.prod.example", "zone": ZONES[number % len(ZONES)],
             "state": "present", "since": SINCE, "labels": {}, "address": None, "version": "0", "outbox": 0, "awaitingBase": False,
             "gaps": 0, "cells": votes(up=TARGETS), "reached": {"verdict": "up", "votes": {"assigned": AGENTS - 1, **votes(up=AGENTS - 1)}, "downFrom": []}}
            for number in range(AGENTS)]


def failing(number):
    """The number of agents that report a target as down: all, or some of them."""
    return AGENTS if number % 120 == 30 else 7 if number % 53 == 20 else 0


class Fleet:
    """The documents of `AGENTS` agents and `TARGETS` targets: 10 are down for all agents, 23 for some."""

    def __init__(self):
        self.agents = agents()
        ids = [agent["id"] for agent in self.agents]
        self.targets, self.cells = [], []
        for number in range(TARGETS):
            down = failing(number)
            verdict = "up" if down == 0 else "down" if down == AGENTS else "partial"
            name = f"svc-{number:04}"
            self.targets.append({
                "id": name, "target": f"https://{name}.prod.example/health", "labels": {"env": "prod"}, "paused": False, "place": "all",
                "quorum": {}, "version": 1, "verdict": verdict, "reason": "refused" if verdict == "down" else None, "since": SINCE,
                "votes": {"assigned": AGENTS, **votes(up=AGENTS - down, down=down)}, "needed": {"down": 31, "minimum": 30},
                "downFrom": ids[:min(16, down)]})
            self.cells += [self.cell(name, agent, "down" if place < down else "up") for place, agent in enumerate(self.agents)]
        self.cells += [self.cell(f"mesh.{other['id']}", agent, "up") for agent in self.agents for other in self.agents if agent is not other]

    @staticmethod
    def cell(target, agent, state):
        return {"target": target, "agent": agent["id"], "zone": agent["zone"], "state": state,
                "reason": "refused" if state == "down" else None, "since": SINCE}

    def document(self, path, query):
        first, limit = int(query.get("cursor", 0)), int(query.get("limit", 100))

        def page(member, items):
            end = first + limit
            return {member: items[first:end], "next": str(end) if end < len(items) else None}

        if path == "/fleet":
            return {"replica": "made-up", "lastEventId": "0-0-0", "engine": {"connected": True, "complete": True, "sequence": 1, "lag": 0, "age": 0},
                    "agents": {"present": AGENTS, "lost": 0}, "replicas": ["made-up"], "targets": TARGETS, "verdicts": {}}
        if path == "/fleet/agents":
            return {"agents": self.agents}
        if path == "/fleet/targets":
            return page("targets", self.targets)
        if path == "/fleet/matrix":
            return page("cells", self.cells)
        return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        parts = urllib.parse.urlsplit(self.path)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if parts.path == "/fleet/events":
                self.stream()
                return
            document = self.server.fleet.document(parts.path, dict(urllib.parse.parse_qsl(parts.query)))
            if document is not None:
                self.answer(200, {"Content-Type": "application/json"}, json.dumps(document).encode())
                return
            # The page and its files, with their policy.
            request = urllib.request.Request(self.server.origin + self.path, headers={"Accept": self.headers.get("Accept", "*/*")})
            with urllib.request.urlopen(request, timeout=10) as response:
                names = ("Content-Type", "Content-Security-Policy")
                self.answer(response.status, {name: response.headers[name] for name in names if response.headers[name]}, response.read())

    def answer(self, status, fields, body):
        self.send_response(status)
        for name, value in {**fields, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def stream(self):
        """An event stream without events; it ends with its client."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        while not self.server.is_closing.is_set():
            self.wfile.write(b": no events\n\n")
            self.wfile.flush()
            self.server.is_closing.wait(5)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def replica(origin):
    """Serves the made-up fleet with the page of the replica at `origin`; yields its URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.fleet, server.origin, server.is_closing = Fleet(), origin, threading.Event()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.is_closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
