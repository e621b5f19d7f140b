"""Compiles the Swift code of the documents against the modules of the build, without linking it."""
import pathlib
import re
import subprocess
import tempfile

from documents import blocks

DOCUMENTS = ("README.md", "docs/how-to/swift.md", "docs/how-to/alamofire.md")
# A module that the code for Apple's platforms imports, too.
ABSENT = "Alamofire"


def module_maps(root, build):
    """What the compiler needs to know about the C modules: SwiftPM writes a module map where the source has none."""
    maps = [*(root / "Sources").glob("C*/module.modulemap"), *build.glob("C*.build/module.modulemap")]
    return [flag for each in maps for flag in ("-Xcc", f"-fmodule-map-file={each}")]


class Compiler:
    """swiftc with the modules of reachd."""

    def __init__(self, root, build, work):
        self.root, self.work = root, pathlib.Path(work)
        (self.work / "reachd").symlink_to(root)
        (self.work / "empty.swift").write_text("", encoding="ascii")
        self.flags = ["-swift-version", "6", "-I", str(build / "Modules"), "-I", str(self.work), *module_maps(root, build)]
        self.run("swiftc", "-emit-module", "-module-name", ABSENT, "-o", f"{ABSENT}.swiftmodule", "empty.swift")
        manifest = (root / "Package.swift").read_text(encoding="utf-8")
        self.products = set(re.findall(r'\.library\(name: "(\w+)"', manifest))

    def run(self, *words, directory="."):
        """Runs a command; returns what is wrong, or an empty text."""
        result = subprocess.run(words, cwd=self.work / directory, capture_output=True, text=True, check=False)
        return "" if result.returncode == 0 else result.stderr or result.stdout

    def code(self, text):
        """A `main.swift`."""
        (self.work / "main.swift").write_text(text + "\n", encoding="utf-8")
        return self.run("swiftc", "-typecheck", *self.flags, "main.swift")

    def manifest(self, text):
        """A `Package.swift` in a directory beside that of reachd."""
        unknown = set(re.findall(r'\.product\(name: "(\w+)", package: "reachd"\)', text)) - self.products
        if unknown:
            return f"no product {sorted(unknown)}"
        directory = self.work / "client"
        directory.mkdir(exist_ok=True)
        (directory / "Package.swift").write_text(text + "\n", encoding="utf-8")
        return self.run("swift", "package", "dump-package", directory="client")


def check(root, build):
    """Returns every Swift block with an error, and the number of blocks."""
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as work:
        compiler = Compiler(root, build, work)
        for path in DOCUMENTS:
            for block in blocks(root, path):
                if block.language != "swift":
                    continue
                count += 1
                check_one = compiler.manifest if block.text.startswith("// swift-tools-version") else compiler.code
                if error := check_one(block.text):
                    failures.append(f"{block.place}: {error}")
    return failures, count
