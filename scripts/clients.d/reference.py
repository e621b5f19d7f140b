"""Compares the tables of docs/reference with the program: settings, reasons, events, exit codes, metrics, commands, paths."""
import contextlib
import json
import os
import re
import subprocess
import time
import urllib.request

import yaml

# Series that exist only under a condition which this test cannot make.
CONDITIONAL = {"reachd_targets_memory_limit_bytes"}
# Series of reachd-fleet, which fleet.py compares.
OTHERS = "reachd_fleet_"
# Some values are valid only if a client could use them.
TOKEN = 'tokens: [{ id: x, sha256: "' + "0" * 64 + '", scopes: [read] }]'
CONFIGURATION = """\
listen: [{{ address: "127.0.0.1:8080" }}, {{ address: "127.0.0.1:8443", certificate: {etc}/tls.crt, key: {etc}/tls.key }}]
data: {etc}/data
targets:
  - {{ id: own, target: "tls://127.0.0.1:8443", interval: 1s, module: own }}
  - {{ id: closed, target: "tcp://127.0.0.1:9", interval: 1s }}
gates: {{ app: {{ targets: [own] }} }}
modules: {{ own: {{ prober: tls, verify: false }} }}
webhooks:
  - {{ id: ops, url: "http://127.0.0.1:9/", insecure: true, secretFile: {etc}/ops.secret }}
"""


def tables(text):
    """The tables of a document, each as a list of rows; a row is a list of cells, and the first row is the head."""
    found, rows = [], []
    for line in text.splitlines() + [""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split(" |")])
        elif rows:
            found.append([row for row in rows if not set("".join(row)) <= set("-: ")])
            rows = []
    return found


def codes(cell):
    """The words of a cell in code type."""
    return re.findall(r"`([^`]+)`", cell)


def beyond(low, high):
    """The nearest values outside a range of numbers with the same or different units."""
    (less, unit), (more, last) = (re.fullmatch(r"(\d+)(\w*)", each).groups() for each in (low, high))
    return [f"{int(less) - 1}{unit}"] * (less != "0") + [f"{int(more) + 1}{last}"]


class Reference:
    """The documents, the program, and what differs between them."""

    def __init__(self, root, binary, work):
        self.root, self.binary, self.work = root, binary, work
        self.contract = yaml.safe_load((root / "openapi.yaml").read_text(encoding="utf-8"))
        self.failures = []

    def read(self, name):
        return (self.root / "docs" / "reference" / name).read_text(encoding="utf-8")

    def compare(self, what, shown, actual):
        shown, actual = set(shown), set(actual)
        if shown != actual:
            self.failures.append(f"{what}: documented only {sorted(shown - actual)}, missing {sorted(actual - shown)}")

    def config_check(self, text):
        """Runs `config check`; returns its errors."""
        file = self.work / "setting.yaml"
        file.write_text(text, encoding="utf-8")
        result = subprocess.run([self.binary, "config", "check", "--json", "--config", file], capture_output=True,
                                text=True, check=False, env={"PATH": os.environ["PATH"]})
        return json.loads(result.stdout)["errors"]

    def keys(self, text, path):
        """The keys that exist beside a wrong one."""
        hint = next(error["hint"] for error in self.config_check(text) if error["path"] == path)
        return hint.removeprefix("there are ").split(", ")

    def settings(self):
        single, lists, _ = tables(self.read("settings.md"))
        rows = {name: row for row in single[1:] for name in codes(row[0])}
        members = {name: codes(row[2]) for row in lists[1:] for name in codes(row[0])}
        documented = set(rows) | set(members)
        sections = {name.rpartition(".")[0] for name in documented if "." in name}
        known = set(self.keys("zzz: 1", "zzz")) - sections
        for section in sections:
            known |= set(self.keys(f"{section}: {{ zzz: 1 }}", f"{section}.zzz"))
        self.compare("settings.md", documented, known)
        defaults = self.example_defaults()
        for name, row in rows.items():
            literal = codes(row[1])
            if literal and row[1] == f"`{literal[0]}`":
                self.compare(f"settings.md: default of {name}", {literal[0]}, {defaults.get(name)})
            for value in codes(row[2]) if re.fullmatch(r"(`[^`]+`(, | to )?)+", row[2]) else []:
                self.accepts(name, value)
            if bounds := re.fullmatch(r"`([^`]+)` to `([^`]+)`", row[2]):
                self.refuses(name, *beyond(*bounds.groups()))
            elif re.fullmatch(r"(`[^`]+`(, )?)+", row[2]) and codes(row[2]) != ["true", "false"]:
                hint = self.errors_of(name, "zzz")[0]["hint"]
                self.compare(f"settings.md: values of {name}", codes(row[2]),
                             re.split(", | or ", hint.removeprefix("expected ").removeprefix("one of ")))
        for key, text in (("listen", '[{ address: "127.0.0.1:1", zzz: 1 }]'), ("interfaces", "[{ match: x, zzz: 1 }]"),
                          ("tokens", "[{ id: x, zzz: 1 }]"), ("policy", "{ zzz: 1 }")):
            path = f"{key}[0].zzz" if text.startswith("[") else f"{key}.zzz"
            names = [name.removeprefix(f"{key}.") for name in self.keys(f"{key}: {text}", path)]
            self.compare(f"settings.md: members of {key}", members[key], names)

    def errors_of(self, name, value):
        """What is wrong with the value of a setting."""
        text = value
        for part in reversed(name.split(".")):
            text = f"{part}: {text}" if text is value else f"{part}: {{ {text} }}"
        return [error for error in self.config_check(f"{text}\n{TOKEN}") if error["path"] == name]

    def accepts(self, name, value):
        """A documented value must be valid."""
        if errors := self.errors_of(name, value):
            self.failures.append(f"settings.md: {name}: {value}: {errors[0]['problem']}")

    def refuses(self, name, *values):
        """A value beyond a documented limit must not be valid."""
        self.failures += [f"settings.md: {name}: {value} is valid" for value in values if not self.errors_of(name, value)]

    def example_defaults(self):
        """The values of examples/reachd.yaml, which a test of the program compares with its defaults."""
        def flat(tree, prefix):
            for key, value in tree.items():
                if isinstance(value, dict):
                    yield from flat(value, f"{prefix}{key}.")
                else:
                    yield prefix + key, value
        document = (self.root / "examples" / "reachd.yaml").read_text(encoding="utf-8")
        # BaseLoader: every scalar is its text.
        found = dict(flat(yaml.load(document, yaml.BaseLoader), ""))
        return {name: json.dumps(value) if isinstance(value, list) else value for name, value in found.items()}

    def targets(self):
        members, probers = tables(self.read("targets.md"))
        names = self.keys('targets: [{ id: a, target: "tcp://a:1", zzz: 1 }]', "targets[0].zzz")
        self.compare("targets.md: members", [name for row in members[1:] for name in codes(row[0])], names)
        common = {"prober", "ip"}
        resolved = {"addresses"}
        own = {codes(row[0])[0]: re.findall(r"`([a-zA-Z]+)`", row[1]) for row in probers[1:]}
        for prober, shown in own.items():
            shown = {name for name in shown if name != "tls"} | (set(own["tls"]) if "tls" in shown else set()) | common
            shown |= resolved if prober != "route" else set()
            names = self.keys(f"modules: {{ m: {{ prober: {prober}, zzz: 1 }} }}", "modules.m.zzz")
            self.compare(f"targets.md: module {prober}", shown, names)
        table = tables(self.read("webhooks.md"))[0]
        names = self.keys("data: /x\nwebhooks: [{ id: a, zzz: 1 }]", "webhooks[0].zzz")
        self.compare("webhooks.md: members", [name for row in table[1:] for name in codes(row[0])], names)
        table = tables(self.read("gates.md"))[0]
        names = self.keys("gates: { a: { zzz: 1 } }", "gates.a.zzz")
        self.compare("gates.md: members", [name for row in table[1:] for name in codes(row[0])], names)

    def enumerations(self):
        schemas = self.contract["components"]["schemas"]
        verdict, check, gate, cause = tables(self.read("reasons.md"))
        column = lambda table: {name for row in table[1:] for name in codes(row[0])}
        reasons = set(schemas["Reason"]["enum"]) - {None}
        self.compare("reasons.md: verdicts", column(verdict), reasons)
        self.compare("reasons.md: checks", column(check), set(schemas["CheckReason"]["enum"]) - {None} - reasons)
        self.compare("reasons.md: gates", column(gate), set(schemas["GateReason"]["enum"]) - {None})
        self.compare("reasons.md: causes", column(cause), schemas["Causes"]["items"]["enum"])
        types = next(each for each in self.contract["paths"]["/events"]["get"]["parameters"] if each["name"] == "types")
        self.compare("events.md", column(tables(self.read("events.md"))[0]), types["schema"]["items"]["enum"])
        states = tables(self.read("checks.md"))[1]
        self.compare("checks.md: states", column(states), schemas["CheckState"]["enum"])
        self.operations()

    def operations(self):
        """The rows of http-api.md: methods and paths. `/uptime` after `/targets/{id}/history` is `/targets/{id}/uptime`."""
        known = {(method.upper(), path) for path, item in self.contract["paths"].items() for method in item
                 if method != "parameters"}
        paths = {path for _, path in known}
        shown = set()
        for row in tables(self.read("http-api.md"))[0][1:]:
            methods, waiting, last = [], [], ""
            for span in codes(row[0]):
                method, path = re.fullmatch(r"([A-Z]*) ?([^?]*).*", span).groups()
                waiting += [method] * bool(method)
                if path:
                    methods, waiting = waiting or methods, []
                    beside = last.rpartition("/")[0] + path
                    last = beside if beside in paths else path
                    shown |= {(each, last) for each in methods}
        self.compare("http-api.md", shown, {each for each in known if each[1] != "/page/{build}/{file}"})

    def commands(self):
        dump = json.loads(subprocess.check_output([self.binary, "--experimental-dump-help"]))["command"]
        help_text = re.search(r"EXIT CODES\n(.*)", dump["discussion"], re.S)[1]
        table = tables(self.read("exit-codes.md"))[0]
        self.compare("exit-codes.md", {row[0] for row in table[1:]}, re.findall(r"\b\d+\b", help_text))
        text = self.read("command-line.md")
        options, names = set(), set()

        def walk(command, prefix):
            options.update("--" + name["name"] for argument in command.get("arguments", [])
                           for name in argument.get("names", []) if name["kind"] == "long")
            children = [child for child in command.get("subcommands", []) if child["commandName"] != "help"]
            if not children:
                names.add(prefix)
            for child in children:
                walk(child, f"{prefix} {child['commandName']}")

        walk(dump, "reachd")
        for name in sorted(names):
            if f"`{name.removesuffix(' list')}" not in text:
                self.failures.append(f"command-line.md: {name} is missing")
        unknown = set(re.findall(r"(--[a-z][a-z-]*)", text)) - options - {"--generate-completion-script"}
        if unknown:
            self.failures.append(f"command-line.md: no option {sorted(unknown)}")

    def scrape(self, url, wanted):
        """The metrics, as soon as they have what is wanted."""
        text, stream = "", None
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not all(each in text for each in wanted):
            time.sleep(0.1)
            with contextlib.suppress(OSError):
                stream = stream or urllib.request.urlopen(f"{url}/events?host=10.9.0.1", timeout=10)
                text = urllib.request.urlopen(f"{url}/metrics", timeout=10).read().decode()
        return text

    def metrics(self):
        shown = {codes(row[0])[0]: (row[1], set(codes(row[2])), row[3])
                 for table in tables(self.read("metrics.md")) for row in table[1:]}
        etc = self.work / "etc"
        file = self.work / "metrics.yaml"
        file.write_text(CONFIGURATION.format(etc=etc), encoding="utf-8")
        service = subprocess.Popen([self.binary, "serve", "--config", file], stderr=subprocess.DEVNULL)
        try:
            text = self.scrape("http://127.0.0.1:8080", ("reachd_check_failures_total{", "reachd_host_reachable{", "_certificate_expiry_timestamp_seconds{id="))
        finally:
            service.kill()
            service.wait()
        types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
        self.compare(
            "metrics.md", {name for name in shown if name not in CONDITIONAL and not name.startswith(OTHERS)}, types)
        seen = {}
        for name, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? ", text, re.M):
            family = name if name in types else re.sub("_(bucket|sum|count)$", "", name)
            found = set(re.findall(r'([a-z_]+)="', labels)) - {"le", "quantile"}
            seen.setdefault(family, set()).update(found)
        for family, found in seen.items():
            if family in shown:
                self.compare(f"metrics.md: labels of {family}", shown[family][1], found)
        for name, meaning in re.findall(r"^# HELP (\S+) (.*)$", text, re.M):
            if name in shown and shown[name][2].replace("`", "") != meaning.rstrip(".").replace("`", ""):
                self.failures.append(f"metrics.md: the program describes {name} as: {meaning}")
        for name, kind in types.items():
            if name in shown and shown[name][0] != kind:
                self.failures.append(f"metrics.md: {name} is a {kind}")


def check(root, binary, work):
    """Returns every difference."""
    reference = Reference(root, binary, work)
    reference.settings()
    reference.targets()
    reference.enumerations()
    reference.commands()
    reference.metrics()
    return reference.failures
