"""Checks that every name of the program that a document mentions exists: settings, variables, options, metrics, parameters, codes."""
import json
import re
import subprocess

import yaml

import reference

# Variables that are not settings of the service, besides those that settings.md lists; in an example of `watch --exec`.
VARIABLES = {"REACHD_WAITED_MS", "REACHD_STATUS", "REACHD_REASON", "REACHD_INTERFACE", "REACHD_"}
# Other programs' URLs, and names of files, which look like names of the program.
OTHERS = re.compile(r"dns://\S*|\S*:9090/\S*|\S*/#\S*|\S+\.(?:crt|key|yaml)\b")
# Where a reader looks for the names; CONTRIBUTING and the decision records also have names of the past and of tests.
FOLDERS = ("tutorial", "how-to", "reference", "explanation")


def spans(text):
    """The code of a document: spans and blocks."""
    return re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S) + re.findall(r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S))


def options(binary):
    """The long options of a program."""
    found = set()

    def walk(command):
        found.update("--" + name["name"] for argument in command.get("arguments", [])
                     for name in argument.get("names", []) if name["kind"] == "long")
        for child in command.get("subcommands", []):
            walk(child)

    walk(json.loads(subprocess.check_output([binary, "--experimental-dump-help"]))["command"])
    return found


class Mentions:
    """The names that exist."""

    def __init__(self, root, binary, contract):
        def column(name, table=0, cell=0):
            text = (root / "docs" / "reference" / name).read_text(encoding="utf-8")
            return [word for row in reference.tables(text)[table][1:] for word in reference.codes(row[cell])]

        self.settings = {*column("settings.md"), *column("settings.md", 1), *column("settings.md", 1, 2)}
        upper = {"REACHD_" + re.sub(r"([A-Z])", r"_\1", name).replace(".", "_").upper() for name in self.settings}
        self.variables = upper | set(column("settings.md", 2)) | VARIABLES
        self.options = options(binary) | options(f"{binary}-fleet") | {"--generate-completion-script"}
        metrics = (root / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
        self.metrics = {reference.codes(row[0])[0] for table in reference.tables(metrics) for row in table[1:]}
        self.codes = set(contract["components"]["schemas"]["Problem"]["properties"]["code"]["enum"])
        parameters = [*contract["components"]["parameters"].values(),
                      *(each for item in contract["paths"].values() for node in (item, *item.values())
                        if isinstance(node, dict) for each in node.get("parameters", []))]
        self.parameters = {each["name"] for each in parameters if each.get("in") == "query"}

    def unknown(self, text):
        """The names in the code of a document that do not exist."""
        sections = {name.split(".")[0] for name in self.settings if "." in name}
        for span in (OTHERS.sub("", each) for each in spans(text)):
            for name in re.findall(r"(?<![\w./-])([a-z]+\.[a-zA-Z]+)(?![\w./(*-])", span):
                if name.split(".")[0] in sections and name not in self.settings:
                    yield f"setting {name}"
            yield from (f"variable {name}" for name in re.findall(r"\bREACHD_[A-Z_]*", span) if name not in self.variables)
            yield from (f"metric {name}" for name in re.findall(r"\breachd_[a-z_]+[a-z]\b(?!…)", span)
                        if re.sub("_(bucket|sum|count)$", "", name) not in self.metrics and name not in self.metrics)
            for command in re.findall(r"^(?:\$ )?(?:\S*/)?reachd(?:-fleet)? [^|;&\n]*", span, re.M):
                yield from (f"option {name}" for name in re.findall(r"(?<!\S)--[a-z][a-z-]*", command) if name not in self.options)
            yield from (f"parameter {name}" for name in re.findall(r"(?:(?<=[a-z}/])|^)[?&]([a-zA-Z]+)", span) if name not in self.parameters)
        yield from (f"code {name}" for name in re.findall(r"\b[45]\d\d `([a-zA-Z]+)`", text) if name not in self.codes)


def check(root, binary):
    """Returns every name that does not exist."""
    contract = yaml.safe_load((root / "openapi.yaml").read_text(encoding="utf-8"))
    mentions = Mentions(root, binary, contract)
    paths = [root / "README.md", *sorted(path for folder in FOLDERS for path in (root / "docs" / folder).glob("*.md"))]
    return [f"{path.relative_to(root)}: no {name}" for path in paths
            for name in dict.fromkeys(mentions.unknown(path.read_text(encoding="utf-8")))]
