"""A proxy that disconnects only its first stream, in the middle of an event."""
import re
import socket
import threading

PAGE = b"<!doctype html><title>reader</title>"


class Scissors:
    def __init__(self, target, cut_after):
        self.target = target
        self.cut_after = cut_after
        self.cuts = 0
        # The Last-Event-ID of the reader when it reconnected.
        self.resumed = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client:
            head = b""
            while b"\r\n\r\n" not in head:
                block = client.recv(65536)
                if not block:
                    return
                head += block
            # A page of the stream's origin, for browsers.
            if not head.startswith(b"GET /events"):
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
                               b"Content-Length: %d\r\n\r\n%s" % (len(PAGE), PAGE))
                return
            if found := re.search(rb"(?i)last-event-id: *(\S+)", head):
                self.resumed = found[1].decode()
            with socket.create_connection(("127.0.0.1", self.target)) as server:
                server.sendall(head)
                self.forward(server, client)

    def forward(self, server, client):
        events = 0
        while block := server.recv(65536):
            events += block.count(b"event: path")
            if not self.cuts and events > self.cut_after:
                # Up to the middle of an event's data: a reader must not treat a partial event as complete.
                client.sendall(block[:block.rindex(b"event: path") + 40])
                self.cuts += 1
                return
            try:
                client.sendall(block)
            except OSError:
                return
