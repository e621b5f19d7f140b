"""Runs cases on machines of their own: run.py [--program PATH] [--suite SUITE]… [CASE]…"""
import argparse
import os
import signal
import subprocess
import sys

import case_build
import case_deb
import case_libraries
import case_packages
import case_readme
import case_unit
from program import Program
from report import Failed, Report, Skipped
from roots import LARGEST_ROOT, Root

CASES = {
    "packages": case_packages.run, "libraries": case_libraries.run, "readme": case_readme.run, "unit": case_unit.run,
    "build": case_build.run, "deb": case_deb.run,
}
# The case `readme` runs these tests, too.
PARTS = {"libraries"}
SUITES = {"bookworm": "Debian 12", "trixie": "Debian 13"}


class Context:
    """What a case gets."""

    def __init__(self, suite, program, report):
        self.suite, self.program, self.check = suite, program, report.check

    def root(self, *packages, size=LARGEST_ROOT):
        return Root(self.suite, packages, size)


def run_case(suite, name, program, report):
    report.begin(SUITES[suite], name)
    try:
        CASES[name](Context(suite, Program(program), report))
    except Skipped as reason:
        report.skip(reason)
    except (Failed, OSError, ValueError, subprocess.SubprocessError) as error:
        report.fail(f"{'' if isinstance(error, Failed) else type(error).__name__ + ': '}{error}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=".build/debug/reachd", help="the program to install")
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: all")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"{', '.join(CASES)}; default: all except {', '.join(PARTS)}")
    arguments = parser.parse_args()
    if unknown := set(arguments.cases) - set(CASES):
        parser.error(f"unknown case: {', '.join(unknown)}; known: {', '.join(CASES)}")
    # So that machines and roots are removed.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    suites = arguments.suite or list(SUITES)
    report = Report()
    for suite in suites:
        for name in arguments.cases or [each for each in CASES if each not in PARTS]:
            run_case(suite, name, arguments.program, report)
    report.table([SUITES[suite] for suite in suites])
    if report.failed or report.skipped and os.environ.get("ALLOW_SKIP") != "1":
        raise SystemExit(1)


main()
