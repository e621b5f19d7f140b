"""Compares the index of the decision records with the records, and the two ends of each relation between records."""
import re

SECTIONS = ("Context", "Decision", "Consequences")
# Each end of a relation names the other one.
RELATIONS = {"refines": "refined by", "refined by": "refines", "supersedes": "superseded by", "superseded by": "supersedes"}


def relations(number, status):
    """The relations in a status, such as `accepted; refines ADR 9 and ADR 31`."""
    found = set()
    for part in status.split(";"):
        for name in RELATIONS:
            if name in part:
                found |= {(number, name, int(other)) for other in re.findall(r"ADR (\d+)", part)}
    return found


def check(root):
    """Returns every difference."""
    directory = root / "docs" / "adr"
    index = (directory / "README.md").read_text(encoding="utf-8")
    rows = {row[2]: (int(row[1]), row[3], row[4], row[5])
            for row in re.finditer(r"^\| \[(\d+)\]\((\S+)\) \| (.*?) \| (.*?) \| (.*?) \|$", index, re.M)}
    failures, known = [], set()
    for path in sorted(directory.glob("0*.md")):
        text = path.read_text(encoding="utf-8")
        number, title = re.match(r"# (\d+)\. (.*)\n", text).groups()
        status, date = (re.search(rf"^- {name}: (.*)$", text, re.M)[1] for name in ("Status", "Date"))
        known |= relations(int(number), status)
        # A date may be followed by that of an extension.
        if rows.pop(path.name, None) != (int(path.name[:4]), title, status, date[:10]) or int(number) != int(path.name[:4]):
            failures.append(f"docs/adr/README.md: the row of {path.name} differs from the record")
        failures += [f"{path.name}: no section {name}" for name in SECTIONS if f"\n## {name}\n" not in text]
    failures += [f"docs/adr/README.md: no record {name}" for name in rows]
    failures += [f"ADR {other}: its status does not say that it is {RELATIONS[name]} ADR {number}"
                 for number, name, other in sorted(known) if (other, RELATIONS[name], number) not in known]
    return failures
