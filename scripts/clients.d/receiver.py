"""A receiver of webhooks in a network namespace of its own, which can be down: it records every request."""
import http.server
import json
import os
import subprocess
import sys
import time


class Receiver:
    """Controls the process."""

    def __init__(self, folder, port):
        self.log = os.path.join(folder, "requests")
        open(self.log, "w", encoding="utf-8").close()
        self.port = port
        # A shell in the namespace starts and stops the server.
        self.shell = subprocess.Popen(["unshare", "-n", "sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.run("true")

    @property
    def pid(self):
        return self.shell.pid

    def run(self, command):
        self.shell.stdin.write(f"{command}\necho done\n")
        self.shell.stdin.flush()
        while (line := self.shell.stdout.readline()) != "done\n":
            if not line:
                raise SystemExit(f"webhooks: the receiver's shell ended at {command!r}")

    def accept(self, is_accepting):
        """Starts or stops the server; without it connections are refused."""
        if is_accepting:
            self.run(f"{sys.executable} {__file__} {self.port} {self.log} </dev/null >/dev/null 2>&1 & server=$!")
        else:
            self.run("kill $server; wait $server 2>/dev/null")

    def requests(self):
        with open(self.log, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def stop(self):
        self.accept(False)
        self.shell.stdin.close()
        self.shell.wait()


def verify(request, secrets):
    """Verifies the signature and parses the event; raises for any fault."""
    from cloudevents.core.bindings.http import HTTPMessage, from_http_event
    from standardwebhooks import Webhook

    for secret in secrets:
        Webhook(secret).verify(request["body"], request["headers"])
    event = from_http_event(HTTPMessage(headers=request["headers"], body=request["body"].encode()))
    if event.get_id() != request["id"] or event.get_specversion() != "1.0":
        raise SystemExit(f"webhooks: {request['id']} has another id or version in its body")
    if not event.get_source().startswith("urn:reachd:") or not event.get_type().startswith("reachd."):
        raise SystemExit(f"webhooks: {event.get_source()} {event.get_type()}")
    if event.get_extension("sequence") != request["id"].split("-")[1].zfill(20):
        raise SystemExit(f"webhooks: {request['id']} has the sequence {event.get_extension('sequence')}")
    if event.get_data()["id"] != request["id"]:
        raise SystemExit(f"webhooks: {request['id']} has the data {event.get_data()}")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        record = {"id": headers.get("webhook-id"), "at": time.time(), "headers": headers, "body": body, "accepted": True}
        with open(sys.argv[2], "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("10.8.0.1", int(sys.argv[1])), Handler).serve_forever()
