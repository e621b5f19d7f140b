"""The reachd under measurement: started on a free loopback port, queried over a socket, stopped."""
import os
import re
import signal
import socket
import subprocess
import threading
import time


class Daemon:
    def __init__(self, binary, *options, before=()):
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [*before, binary, "serve", "--listen", "127.0.0.1:0", "--drain-delay", "0s", *options],
            stderr=subprocess.PIPE, text=True)
        # One of the first lines on standard error contains the bound address; warnings may precede it.
        for _ in range(10):
            line = self.process.stderr.readline()
            match = re.search(r"listening.*127\.0\.0\.1:(\d+)", line)
            if match:
                break
        if not match:
            raise SystemExit(f"reachd did not start: {line}")
        self.port = int(match.group(1))
        # The log is read as it is written, as by a service manager.
        threading.Thread(target=self.read_log, daemon=True).start()

    def read_log(self):
        try:
            while os.read(self.process.stderr.fileno(), 65536):
                pass
        except (OSError, ValueError):
            # A benchmark has closed the pipe.
            pass

    @property
    def pid(self):
        return self.process.pid

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def get(self, path):
        """The head and the body of one response."""
        with self.connect() as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            answer = b""
            while block := connection.recv(65536):
                answer += block
        head, _, body = answer.partition(b"\r\n\r\n")
        return head, body

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        return self.process.returncode


def quantiles(values):
    """Median, 99th percentile and maximum."""
    values = sorted(values)
    return values[len(values) // 2], values[min(len(values) - 1, len(values) * 99 // 100)], values[-1]
