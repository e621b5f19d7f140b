"""Compiles the Swift code of the documents against the modules of the build, in both language modes, and runs what is marked.

A block after `<!-- trait: NAME -->` is compiled with the modules of that trait. A block after `<!-- piped: OUTPUT -->` is linked
and run with its output in a pipe: it must write that line although it does not end.
"""
import os
import pathlib
import re
import select
import subprocess
import tempfile
import time

from documents import blocks

DOCUMENTS = ("README.md", "docs/how-to/swift.md", "docs/how-to/alamofire.md")
# A module that the code for Apple's platforms imports, too.
ABSENT = "Alamofire"
MODES = ("6", "5")
# The settings of the manifest that the module of a trait needs to compile.
TRAIT_FLAGS = ("-swift-version", "6", "-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature",
               "NonisolatedNonsendingByDefault")
# The module that a trait changes.
TRAIT_MODULE = "ReachabilityCompatibility"
# What has a `main`, or a runtime of its own.
PROGRAMS = ("reachd", "reachd-fleet", "HistoryBenchmark", "CheckBenchmark", "KernelBenchmark", "FleetBenchmark", "hummingbird-server")
# Those of NetworkReachability, and of the Swift runtime for modules that the block does not import.
LIBRARIES = ("-lcares", "-lswiftSynchronization", "-ldispatch", "-lBlocksRuntime")
LONGEST_WAIT = 20


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
        self.build = build
        self.flags = ["-I", str(build / "Modules"), "-I", str(self.work), *module_maps(root, build)]
        self.run("swiftc", "-emit-module", "-module-name", ABSENT, "-o", f"{ABSENT}.swiftmodule", "empty.swift")
        manifest = (root / "Package.swift").read_text(encoding="utf-8")
        self.products = set(re.findall(r'\.library\(name: "(\w+)"', manifest))

    def run(self, *words, directory="."):
        """Runs a command; returns what is wrong, or an empty text."""
        result = subprocess.run(words, cwd=self.work / directory, capture_output=True, text=True, check=False)
        return "" if result.returncode == 0 else result.stderr or result.stdout

    def code(self, text, mark):
        """A `main.swift`."""
        (self.work / "main.swift").write_text(text + "\n", encoding="utf-8")
        found, trait = [], []
        if mark.startswith("trait:"):
            trait, error = self.with_trait(mark.removeprefix("trait:").strip())
            found.append(error)
        for mode in MODES:
            error = self.run("swiftc", "-typecheck", "-swift-version", mode, *trait, *self.flags, "main.swift")
            found.append(error and f"with -swift-version {mode}: {error}")
        if mark.startswith("piped:"):
            found.append(self.piped(re.compile(mark.removeprefix("piped:").strip())))
        return "\n".join(filter(None, found))

    def with_trait(self, name):
        """The flags of code for a package with a trait, and what is wrong: SwiftPM defines the trait's name in its modules."""
        sources = sorted(map(str, (self.root / "Sources" / TRAIT_MODULE).glob("*.swift")))
        package = re.sub(r"\W", "_", self.root.name.lower())
        (self.work / name).mkdir(exist_ok=True)
        error = self.run(
            "swiftc", "-emit-module", "-module-name", TRAIT_MODULE, "-package-name", package, "-D", name, *TRAIT_FLAGS,
            "-o", f"{name}/{TRAIT_MODULE}.swiftmodule", *self.flags, *sources)
        return ["-I", name], error

    def piped(self, expected):
        """Links and runs the block; returns what is wrong with its first line."""
        objects = [path for path in self.build.glob("*.build/**/*.o")
                   if path.relative_to(self.build).parts[0].removesuffix(".build") not in PROGRAMS]
        (self.work / "objects").write_text("\n".join(f'"{path}"' for path in objects), encoding="utf-8")
        error = (self.run("ar", "rcT", "libreachd.a", "@objects")
                 or self.run("swiftc", "-swift-version", MODES[0], *self.flags, "main.swift", "-L.", "-lreachd", *LIBRARIES,
                             "-o", "piped"))
        if error:
            return error
        process = subprocess.Popen([self.work / "piped"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            output, end = b"", time.monotonic() + LONGEST_WAIT
            while b"\n" not in output and select.select([process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                part = os.read(process.stdout.fileno(), 4096)
                if not part:
                    break
                output += part
        finally:
            process.kill()
            process.wait()
        line = output.decode().partition("\n")[0]
        return "" if expected.fullmatch(line.strip()) else f"writes {line!r} into a pipe, not {expected.pattern}"

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
                is_manifest = block.text.startswith("// swift-tools-version")
                if error := compiler.manifest(block.text) if is_manifest else compiler.code(block.text, block.mark):
                    failures.append(f"{block.place}: {error}")
    return failures, count
