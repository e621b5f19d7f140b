"""Active checks compared with HAProxy's health checks and blackbox_exporter (TCP, HTTP) and with fping (ICMP).

HTTP checks are compared with libcurl alone, too (`curl.c`), which is their floor.

All check the same nginx, or the kernel, on loopback addresses of a separate network namespace. Rounds alternate; the
medians are printed as rows of RESULTS.md.
"""
import concurrent.futures
import http.client
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from peers import compile_c

ROUNDS = 5
PORT = 8080
SWEEP = int(os.environ.get("REACHD_BENCH_TARGETS", "10000"))
SERVERS = 1000
SECONDS = 5
TICK = os.sysconf("SC_CLK_TCK")


def addresses(count):
    return [f"127.0.{1 + index // 250}.{1 + index % 250}" for index in range(count)]


def cpu(pid):
    """The CPU time of all threads of a process, in seconds."""
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def connections():
    """TCP connections opened in this network namespace: HAProxy closes its connections before nginx accepts them."""
    head, values = [line.split() for line in open("/proc/self/net/snmp") if line.startswith("Tcp:")]
    return int(values[head.index("ActiveOpens")])


class Nginx:
    def __init__(self, directory):
        path = f"{directory}/nginx.conf"
        with open(path, "w") as file:
            file.write(f"""daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log {directory}/error.log;
                events {{ worker_connections 16384; }}
                worker_rlimit_nofile 32768;
                http {{ access_log off; keepalive_timeout 0;
                  client_body_temp_path {directory}/b; proxy_temp_path {directory}/p; fastcgi_temp_path {directory}/f;
                  uwsgi_temp_path {directory}/u; scgi_temp_path {directory}/s;
                  server {{ listen {PORT} backlog=16384; location / {{ return 200 "ok"; }} }} }}""")
        self.process = subprocess.Popen(["nginx", "-c", path, "-e", f"{directory}/error.log"])
        wait_for(self.answers)

    def answers(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=5)
            connection.request("GET", "/")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def wait_for(condition):
    for _ in range(500):
        if condition():
            return
        time.sleep(0.02)
    raise SystemExit("a peer did not start")


def sweep(binary, targets, *arguments):
    run = subprocess.run([binary, *arguments], input="\n".join(targets), capture_output=True, text=True, timeout=120)
    answer = json.loads(run.stdout)
    if answer["up"] != len(targets):
        raise SystemExit(f"only {answer['up']} of {len(targets)} answered")
    return answer


def haproxy(directory, is_http):
    """The CPU time of one HAProxy check."""
    path = f"{directory}/haproxy.cfg"
    check = "option httpchk GET /" if is_http else ""
    servers = "\n".join(
        f"  server s{index} {address}:{PORT} check inter 200ms" for index, address in enumerate(addresses(SERVERS)))
    with open(path, "w") as file:
        file.write(f"""global
  maxconn 4096
  nbthread 1
defaults
  mode {'http' if is_http else 'tcp'}
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend unused
  bind 127.0.0.1:9116
  default_backend all
backend all
  {check}
{servers}
""")
    process = subprocess.Popen(["haproxy", "-db", "-f", path], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        time.sleep(2)
        before, used = connections(), cpu(process.pid)
        time.sleep(SECONDS)
        after, spent = connections(), cpu(process.pid)
    finally:
        process.terminate()
        process.wait(10)
    checks = after - before
    if checks < SERVERS:
        raise SystemExit(f"HAProxy made only {checks} checks, and ended with {process.returncode}")
    return (spent - used) / checks


class Blackbox:
    def __init__(self, directory):
        path = f"{directory}/blackbox.yml"
        with open(path, "w") as file:
            file.write("modules: {http_2xx: {prober: http}, tcp_connect: {prober: tcp}}\n")
        self.process = subprocess.Popen(
            ["prometheus-blackbox-exporter", f"--config.file={path}", "--web.listen-address=127.0.0.1:9115"],
            stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        wait_for(lambda: self.probe([("http_2xx", f"http://127.0.0.1:{PORT}/")]))

    def probe(self, questions):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", 9115, timeout=10)
            for module, target in questions:
                connection.request("GET", f"/probe?module={module}&target={target}")
                if b"probe_success 1" not in connection.getresponse().read():
                    raise SystemExit(f"blackbox_exporter: {target} failed")
            return True
        except OSError:
            return False

    def cost(self, module, targets):
        """The CPU time of one probe, including its HTTP response."""
        used = cpu(self.process.pid)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(self.probe, [[(module, target) for target in targets[part::4]] for part in range(4)]))
        return (cpu(self.process.pid) - used) / len(targets)

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def fping(directory, targets):
    path = f"{directory}/hosts"
    with open(path, "w") as file:
        file.write("\n".join(targets) + "\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    # Root may send without pauses; -r0 disables retries.
    run = subprocess.run(
        ["fping", "-q", "-i0", "-r0", "-s", "-f", path], capture_output=True, text=True, timeout=120)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        raise SystemExit(f"fping: {run.stderr}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used / len(targets)


def main(binary):
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # ICMP sockets for every user, as systemd and Docker configure; fping as root uses raw sockets nevertheless.
    for name, value in [
        ("net.core.somaxconn", 16384), ("net.ipv4.tcp_max_syn_backlog", 16384),
        ("net.ipv4.ping_group_range", "0 2147483647")]:
        subprocess.run(["sysctl", "-q", "-w", f"{name}={value}"], check=False)
    hosts = addresses(SWEEP)
    flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "libcurl"], text=True).split()
    libcurl = compile_c("curl", *flags)
    figures = {name: [] for name in [
        "tcp", "http", "icmp", "icmpWall", "haproxyTCP", "haproxyHTTP", "blackboxTCP", "blackboxHTTP", "fping", "fpingWall",
        "curl64", "curl1024"]}
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        nginx = Nginx(directory)
        blackbox = Blackbox(directory)
        try:
            for _ in range(ROUNDS):
                for scheme in ["tcp", "http"]:
                    targets = [f"{scheme}://{host}:{PORT}" for host in hosts]
                    figures[scheme].append(sweep(binary, targets)["cpuSeconds"] / len(hosts))
                    figures["haproxy" + scheme.upper()].append(haproxy(directory, scheme == "http"))
                for window in ["64", "1024"]:
                    figures["curl" + window].append(sweep(libcurl, targets, window)["cpuSeconds"] / len(hosts))
                some = hosts[:1000]
                figures["blackboxTCP"].append(blackbox.cost("tcp_connect", [f"{host}:{PORT}" for host in some]))
                figures["blackboxHTTP"].append(blackbox.cost("http_2xx", [f"http://{host}:{PORT}/" for host in some]))
                answer = sweep(binary, [f"icmp://{host}" for host in hosts])
                figures["icmp"].append(answer["cpuSeconds"] / len(hosts))
                figures["icmpWall"].append(answer["wallSeconds"])
                wall, used = fping(directory, hosts)
                figures["fpingWall"].append(wall)
                figures["fping"].append(used)
        finally:
            blackbox.stop()
            nginx.stop()
    median = {name: statistics.median(values) for name, values in figures.items()}
    us = {name: f"{value * 1e6:.1f} µs" for name, value in median.items()}
    command = "`Benchmarks/run checks`"

    def row(what, bar, ours, theirs, peer):
        print(f"| {what} | {bar} | {us[ours]}; {peer} {us[theirs]}: {median[ours] / median[theirs]:.2f}× | {command} |")

    row("CPU of a TCP check", "≤ 1.0× HAProxy", "tcp", "haproxyTCP", "HAProxy")
    row("CPU of a TCP check", "–", "tcp", "blackboxTCP", "blackbox_exporter")
    row("CPU of an HTTP check", "≤ 0.3× blackbox_exporter", "http", "blackboxHTTP", "blackbox_exporter")
    row("CPU of an HTTP check", "≤ 1.5× HAProxy", "http", "haproxyHTTP", "HAProxy")
    row("CPU of an HTTP check", "–", "http", "curl64", "libcurl alone, 64 at a time,")
    row("CPU of an HTTP check", "–", "http", "curl1024", "libcurl alone, 1,024 at a time,")
    row("CPU of an ICMP check", "≤ 0.9× fping", "icmp", "fping", "fping")
    ours, theirs = median["icmpWall"] * 1e3, median["fpingWall"] * 1e3
    print(f"| ICMP sweep of {SWEEP} | ≥ 1.6× as fast as fping | {ours:.0f} ms; fping {theirs:.0f} ms: "
          f"{theirs / ours:.2f}× | {command} |")


main(sys.argv[1])
