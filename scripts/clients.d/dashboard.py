"""Checks deploy/grafana/reachd.json: with Grafana's own model, by rules, and by evaluating every query in Prometheus during an outage.

dashboard.py BINARY. It needs a network namespace of its own. Grafana itself is not run: it is not in Debian, and not on PyPI.
"""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

FILE = pathlib.Path("deploy/grafana/reachd.json")
SERVICE, PROMETHEUS = "http://127.0.0.1:8080", "http://127.0.0.1:9090"
PATIENCE = 60
# The scrape interval is 1 s, and Grafana's $__rate_interval at least four of them.
RATE = "10s"
SCRAPES = """\
global: { scrape_interval: 1s }
scrape_configs: [{ job_name: reachd, static_configs: [{ targets: ["127.0.0.1:8080"] }] }]
"""
CONFIGURATION = """\
listen: [{{ address: "127.0.0.1:8080" }}, {{ address: "127.0.0.1:8443", certificate: {0}/tls.crt, key: {0}/tls.key }}]
data: {0}/data
targets:
  - {{ id: far, target: "route://10.9.0.1", interval: 1s }}
  - {{ id: own, target: "tls://127.0.0.1:8443", interval: 1s, module: own }}
  - {{ id: closed, target: "tcp://127.0.0.1:9", interval: 1s }}
modules: {{ own: {{ prober: tls, verify: false }} }}
webhooks: [{{ id: ops, url: "http://127.0.0.1:9/", insecure: true, secretFile: {0}/secret }}]
"""


def near(low, high):
    """Every value is in a range."""
    return lambda rows: all(low <= value <= high for _, value in rows)


def by(label, expected):
    """The values by a label; a function instead of a value is a condition, and other rows are permitted."""
    def check(rows):
        values = {labels.get(label): value for labels, value in rows}
        return all(name in values and (value(values[name]) if callable(value) else values[name] == value)
                   for name, value in expected.items())
    return check


def shows(*facts):
    """For each fact there is a row with these labels."""
    return lambda rows: all(any(fact.items() <= labels.items() for labels, _ in rows) for fact in facts)


def positive(value):
    return value > 0


# What each query must give while the default path is lost, and `closed` refuses. A tuple has a condition for each query.
DURING = {
    "Verdict": near(0, 0),
    "Time reachable": near(0.01, 0.99),
    "Default path": shows({"family": "ipv4", "status": "notReachable", "reason": "linkDown", "interface": "c0"}),
    "Verdict over time": near(0, 0),
    "Transitions": by("kind", {"status": positive, "path": lambda value: value >= 0, "target": positive}),
    "Targets by state": by("state", {"up": 1, "down": 1, "unreachable": 1, "unknown": 0, "paused": 0}),
    "Targets by state over time": by("state", {"up": 1, "down": 1, "unreachable": 1, "unknown": 0, "paused": 0}),
    "Targets that are not up": shows({"id": "closed", "state": "down", "reason": "refused"},
                                     {"id": "far", "state": "unreachable", "reason": "linkDown"}),
    "Each target": by("id", {"far": 0, "closed": 0, "own": 1}),
    "Slowest targets": by("id", {"own": lambda value: 0 < value < 5}),
    # The certificate of the test is valid for 30 days.
    "First certificate to expire": (by("id", {"own": lambda value: 29 * 86400 < value < 30 * 86400}),
                                    by("listener", {"127.0.0.1:8443": lambda value: 29 * 86400 < value < 30 * 86400})),
    "Checks by result": shows({"module": "own", "state": "up"}, {"module": "tcp_connect", "state": "down"}),
    "Failures by reason": by("reason", {"refused": lambda value: 0.5 < value < 2}),
    "Duration of checks": (by("module", {"own": lambda value: 0 < value < 5}),) * 2,
    "Delay of checks": near(0, 5),
    "Responses by status": by("code", {"200": positive}),
    "Event streams": (near(0, 0), near(0, 0)),
    "Time to a verdict": near(1e-6, 5),
    "Kernel events": (near(1e-6, 1e6), near(0, 0)),
    "Processor": near(1e-6, 2),
    "Memory": near(1 << 20, 1 << 30),
    "Data directory": near(1, 1),
    "Duration of commits": near(1e-6, 5),
    "Webhooks": (by("webhook", {"ops": positive}), shows({"webhook": "ops", "result": "failed"})),
}
# What changes after the link is back.
AFTER = {
    "Verdict": near(1, 1),
    "Default path": shows({"family": "ipv4", "status": "reachable", "interface": "c0"}),
    "Targets by state": by("state", {"up": 2, "down": 1, "unreachable": 0}),
    "Each target": by("id", {"far": 1, "closed": 0, "own": 1}),
}


def rules(dashboard):
    """What this project wants of every panel."""
    failures, places, ids = [], {}, set()
    for panel in dashboard["panels"]:
        title = panel.get("title") or f"panel {panel['id']}"
        if panel["id"] in ids:
            failures.append(f"{title}: a second panel {panel['id']}")
        ids.add(panel["id"])
        grid = panel["gridPos"]
        for cell in ((x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])):
            if cell in places or cell[0] > 23:
                failures.append(f"{title}: overlaps {places.get(cell, 'the edge')}")
                break
            places[cell] = title
        if panel["type"] == "row":
            continue
        if not panel.get("description", "").endswith("."):
            failures.append(f"{title}: no description")
        if not panel["fieldConfig"]["defaults"].get("unit"):
            failures.append(f"{title}: no unit")
        for target in panel["targets"]:
            failures += [f"{title}: {message}" for message in query_rules(panel, target)]
    variables = [each["name"] for each in dashboard["templating"]["list"]]
    if variables != ["datasource", "job", "instance"]:
        failures.append(f"variables {variables}")
    return failures


def query_rules(panel, target):
    """What this project wants of every query."""
    source = {"type": "prometheus", "uid": "${datasource}"}
    expression = target["expr"]
    if panel["datasource"] != source or target["datasource"] != source:
        yield "another data source than the variable"
    if panel["type"] != "table" and not target.get("legendFormat"):
        yield "no legend"
    selectors = re.findall(r"((?:reachd|process)_[a-z_]+)(\{[^}]*\})?", expression)
    for name, selector in selectors:
        if not selector.startswith('{job=~"$job",instance=~"$instance"'):
            yield f"{name} without job and instance"
    for function, window in re.findall(r"\b(rate|increase)\([^\[]*\[([^\]]*)\]", expression):
        if window not in ("$__rate_interval", "$__range"):
            yield f"{function} over {window}"
    known = set(re.findall(r"^\| `([a-z_]+)`", pathlib.Path("docs/reference/metrics.md").read_text(encoding="utf-8"), re.M))
    for name, _ in selectors:
        if name not in known and re.sub("_(bucket|sum|count)$", "", name) not in known:
            yield f"{name} is not in docs/reference/metrics.md"


def get(url):
    with urllib.request.urlopen(url, timeout=10) as response:
        return response.read()


def evaluate(expression):
    """The rows of a query: labels and value."""
    for name, value in (("$job", "reachd"), ("$instance", ".*"), ("$__rate_interval", RATE), ("$__range", "1m")):
        expression = expression.replace(name, value)
    result = json.loads(get(f"{PROMETHEUS}/api/v1/query?query={urllib.parse.quote(expression)}"))
    return [(row["metric"], float(row["value"][1])) for row in result["data"]["result"]]


def evaluate_all(dashboard, expected, when):
    """Every query that has an expectation gives rows that fulfil it, within a bounded time."""
    failures = []
    deadline = time.monotonic() + PATIENCE
    queries = 0
    for panel in dashboard["panels"]:
        if panel["type"] == "row" or panel["title"] not in expected:
            continue
        conditions = expected[panel["title"]]
        conditions = conditions if isinstance(conditions, tuple) else (conditions,)
        for target, condition in zip(panel["targets"], conditions, strict=True):
            queries += 1
            while not ((rows := evaluate(target["expr"])) and condition(rows)):
                if time.monotonic() > deadline:
                    failures.append(f"{when}: {panel['title']}: {target['expr']}: {rows}")
                    break
                time.sleep(0.2)
    print(f"dashboard: {when}: {queries} queries, {len(failures)} wrong", flush=True)
    return failures


def until(what, condition):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if condition():
                return
        time.sleep(0.1)
    raise SystemExit(f"dashboard: timeout: {what}")


def outage(dashboard, binary):
    """Evaluates the queries while a link is down, and after it is up again."""
    for words in ("link add c0 type veth peer name r0", "link set c0 up", "link set r0 up", "address add 10.9.0.2/24 dev c0",
                  "route add default via 10.9.0.1"):
        subprocess.run(["ip", *words.split()], check=True)
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        work = pathlib.Path(directory)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
             "-subj", "/CN=x", "-keyout", work / "tls.key", "-out", work / "tls.crt"], check=True, capture_output=True)
        (work / "secret").write_text("whsec_" + "A" * 43 + "=\n", encoding="ascii")
        (work / "secret").chmod(0o600)
        (work / "reachd.yaml").write_text(CONFIGURATION.format(work), encoding="utf-8")
        (work / "prometheus.yml").write_text(SCRAPES, encoding="utf-8")
        for command in ([binary, "serve", "--config", work / "reachd.yaml"],
                        [os.environ["PROMETHEUS"], f"--config.file={work}/prometheus.yml", f"--storage.tsdb.path={work}/tsdb",
                         "--web.listen-address=127.0.0.1:9090"]):
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.kill)
        until("reachd is ready", lambda: get(f"{SERVICE}/readyz"))
        until("Prometheus has scraped the good state", lambda: evaluate("reachd_targets{state=\"down\"} == 1") and evaluate(
            "sum(reachd_status_seconds_total{status=\"reachable\"}) > 5"))
        subprocess.run(["ip", "link", "set", "r0", "down"], check=True)
        failures = evaluate_all(dashboard, DURING, "during the outage")
        subprocess.run(["ip", "link", "set", "r0", "up"], check=True)
        return failures + evaluate_all(dashboard, AFTER, "after it")


def main():
    register_default_plugins()
    dashboard = json.loads(FILE.read_text(encoding="utf-8"))
    failures = rules(dashboard)
    # Grafana's model keeps everything that it knows: what is lost is misspelled, or of another version.
    if json.loads(json.dumps(Dashboard.from_json(dashboard), cls=JSONEncoder)) != dashboard:
        failures.append("Grafana's model gives another document")
    titles = [panel["title"] for panel in dashboard["panels"] if panel["type"] != "row"]
    if set(titles) != set(DURING) or len(titles) != len(set(titles)):
        failures.append(f"panels without expectation, or the reverse: {set(titles) ^ set(DURING)}")
    failures = failures or outage(dashboard, sys.argv[1])
    if failures:
        raise SystemExit("dashboard: " + "\ndashboard: ".join(failures))


if __name__ == "__main__":
    main()
