"""Programs for comparison: C programs built here, nginx and HAProxy from Debian."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).parent
BUILD = HERE.parent / ".build" / "bench"
# The server under measurement runs on the first processor, its clients on the second.
ON_SERVER = ["taskset", "-c", "0"]
ON_CLIENT = ["taskset", "-c", "1"] if os.cpu_count() > 1 else []


def compile_c(name, *libraries):
    """Builds Benchmarks/<name>.c; returns the program's path."""
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / name
    subprocess.run(["cc", "-O2", "-Wall", "-o", program, HERE / f"{name}.c", *libraries], check=True)
    return str(program)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port):
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    raise SystemExit(f"nothing listens on port {port}")


class Nginx:
    """One worker with as many connections as the descriptor limit permits; `locations` is part of its server block."""

    def __init__(self, locations, modules=()):
        self.port = free_port()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-nginx-"))
        loads = "".join(f"load_module {module};\n" for module in modules)
        (self.folder / "nginx.conf").write_text(f"""{loads}
            daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid {self.folder}/pid; error_log {self.folder}/log;
            events {{ worker_connections 19900; }}
            http {{
              access_log off; keepalive_requests 100000000;
              client_body_temp_path {self.folder}/body; proxy_temp_path {self.folder}/proxy;
              fastcgi_temp_path {self.folder}/f; uwsgi_temp_path {self.folder}/u; scgi_temp_path {self.folder}/s;
              server {{ listen 127.0.0.1:{self.port} backlog=4096; {locations} }}
            }}""")
        self.process = subprocess.Popen([*ON_SERVER, "nginx", "-c", self.folder / "nginx.conf"], stderr=subprocess.DEVNULL)
        wait_for_port(self.port)

    @property
    def pids(self):
        """The master and its worker, which starts shortly after the port is open."""
        master = self.process.pid
        for _ in range(500):
            if children := pathlib.Path(f"/proc/{master}/task/{master}/children").read_text().split():
                return [master, *map(int, children)]
            time.sleep(0.01)
        raise SystemExit("nginx has no worker")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)
        shutil.rmtree(self.folder)


class Program:
    """A server that takes its port as the last argument."""

    def __init__(self, *command, environment=None):
        self.port = free_port()
        self.process = subprocess.Popen(
            [*ON_SERVER, *command, str(self.port)], env={**os.environ, **(environment or {})}, stdout=subprocess.DEVNULL)
        wait_for_port(self.port)

    @property
    def pids(self):
        return [self.process.pid]

    def stop(self):
        self.process.kill()
        self.process.wait(timeout=20)


def cpu_nanoseconds(pids):
    """The CPU time of all threads of the processes."""
    total = 0
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat") as schedstat:
                total += int(schedstat.read().split()[0])
    return total


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


class HAProxy:
    """One thread that checks each address and port by a TCP connection, and logs the changes of their states."""

    def __init__(self, servers, interval):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-haproxy-"))
        lines = "\n".join(f"  server s{index} {server} check inter {interval}" for index, server in enumerate(servers))
        (self.folder / "haproxy.cfg").write_text(f"""global
  maxconn 4096
  nbthread 1
  log stdout format raw local0
defaults
  mode tcp
  log global
  option log-health-checks
  timeout connect 2s
  timeout client 5s
  timeout server 5s
frontend unused
  bind 127.0.0.1:{free_port()}
  default_backend all
backend all
{lines}
""")
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            ["haproxy", "-db", "-f", self.folder / "haproxy.cfg"], stdout=self.log, stderr=self.log)

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.log.close()
        shutil.rmtree(self.folder)
