"""The results of the steps, and the errors that end a case."""
import collections


class Failed(Exception):
    """A step did not do what it should; the text has what was seen."""


class Skipped(Exception):
    """This machine cannot run a case; the text says why."""


class Report:
    """One line for each step while it runs, and a table of all suites at the end."""

    def __init__(self):
        self.suite, self.case = "", ""
        self.cells = collections.defaultdict(dict)
        self.passed = self.failed = self.skipped = 0

    def begin(self, suite, case):
        self.suite, self.case = suite, case

    def check(self, is_so, what, seen=""):
        """Prints the result of a step; the first failed one ends its case."""
        if not is_so:
            raise Failed(f"{what}{': ' if seen else ''}{seen}")
        self.passed += 1
        self.record(what, "ok")
        print(f"ok: {self.suite}: {self.case}: {what}", flush=True)

    def fail(self, error):
        self.failed += 1
        self.record(str(error).splitlines()[0].split(": ", 1)[0][:80], "FAILED")
        print(f"FAILED: {self.suite}: {self.case}: {error}", flush=True)

    def skip(self, reason):
        self.skipped += 1
        self.record("the whole case", "SKIPPED")
        print(f"SKIPPED: {self.suite}: {self.case}: {reason}", flush=True)

    def record(self, what, result):
        self.cells[(self.case, what)][self.suite] = result

    def table(self, suites):
        """Prints the table, and the line that CI reads."""
        print("\n| case | step | " + " | ".join(suites) + " |\n| --- | --- |" + " --- |" * len(suites))
        for (case, what), results in self.cells.items():
            print(f"| {case} | {what} | " + " | ".join(results.get(suite, "–") for suite in suites) + " |")
        print(f"\nmachine: {self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
