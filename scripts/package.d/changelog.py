"""Writes debian/changelog from CHANGELOG.md to standard output: changelog.py COMMIT [VERSION].

The version is that of the newest section of CHANGELOG.md, with the release of Debian: 0.1.1-1~deb12u1. While that section is not
released, the time and the commit are in it, and it sorts before the release: 0.1.1~git20261126042233.1a2b3c4-1~deb12u1.
SOURCE_DATE_EPOCH is the time of the sources. VERSION replaces the version of the sources.
"""
import datetime
import email.utils
import os
import pathlib
import re
import sys

SECTION = re.compile(r"^## (\d+\.\d+\.\d+) — (unreleased|\d{4}-\d{2}-\d{2})$", re.M)


def os_release():
    """The number and the name of this release of Debian."""
    text = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
    values = dict(re.findall(r'^(\w+)="?(.*?)"?$', text, re.M))
    if values.get("ID") != "debian" or "VERSION_ID" not in values:
        sys.exit("deb: packages are made for a stable release of Debian, on that release")
    return values["VERSION_ID"], values["VERSION_CODENAME"]


def entry(version, codename, text, maintainer, time):
    """One entry of the file (deb-changelog(5))."""
    return f"reachd ({version}) {codename}; urgency=medium\n\n  * {text}\n\n -- {maintainer}  {email.utils.format_datetime(time)}\n"


def main():
    commit, version = sys.argv[1], (sys.argv[2:] or [""])[0]
    number, codename = os_release()
    root = pathlib.Path(__file__).resolve().parents[2]
    maintainer = re.search(r"^Maintainer: (.+)$", (root / "deploy/debian/control").read_text(encoding="utf-8"), re.M)[1]
    sections = SECTION.findall((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    built = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    entries = []
    for index, (section, date) in enumerate(sections):
        time = built
        if date != "unreleased":
            time = datetime.datetime.fromisoformat(date).replace(tzinfo=datetime.timezone.utc)
        upstream, text = section, f"New version {section}: see changelog.gz."
        if index == 0:
            if date == "unreleased":
                upstream, text = f"{section}~git{built:%Y%m%d%H%M%S}.{commit}", f"Snapshot of version {section}: see changelog.gz."
            upstream = version or upstream
            # The packages of one commit have one date, whatever the date of the release.
            time = built
        entries.append(entry(f"{upstream}-1~deb{number}u1", codename, text, maintainer, time))
    print("\n".join(entries), end="")


if __name__ == "__main__":
    main()
