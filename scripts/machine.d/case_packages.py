"""What README and scripts/setup install on a bare root, and the refusal of a libcurl that does not use GnuTLS."""
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "clients.d"))
from documents import blocks  # noqa: E402

SOURCE = "/root/source"
OTHER = "libcurl4-openssl-dev"


def run(context):
    with context.root() as root:
        other_library(root, context.check)
    with context.root() as root:
        readme(root, context.check)


def prepare(root):
    """Copies the scripts that install packages."""
    for name in ("setup", "setup.d", "packages.txt"):
        root.copy(ROOT / "scripts" / name, f"{SOURCE}/scripts/{name}")


def other_library(root, check):
    prepare(root)
    # Only its name is looked up.
    root.write("/usr/local/bin/swift", "#!/bin/sh\n", 0o755)
    # curl and binutils are for the programs below.
    root.run("sh", "-c", f"apt-get -q update && apt-get -yq install --no-install-recommends {OTHER} curl binutils")
    status, printed = root.enter(f"{SOURCE}/scripts/setup")
    check(status == 69 and "uses OpenSSL" in printed and "Unpacking" not in printed, "setup refuses a libcurl with OpenSSL", printed)
    found = re.search(r"^  (apt-get install \S+)$", printed, re.M)
    check(found, "setup prints the command to run", printed)
    root.run(*found[1].split(), "-yq")
    programs = root.path / SOURCE.lstrip("/") / ".build/release"
    programs.mkdir(parents=True)
    # Programs of Debian that are linked with each of the two.
    shutil.copy(root.path / "usr/bin/curl", programs / "reachd")
    shutil.copy(next((root.path / "usr/lib").glob("*/libcurl-gnutls.so.4")), programs / "reachd-fleet")
    printed = root.run(f"{SOURCE}/scripts/setup")
    check(not (programs / "reachd").exists() and "linked with libcurl.so.4" in printed, "setup removes a program with the other libcurl",
          printed)
    check((programs / "reachd-fleet").exists(), "setup leaves other programs")
    backends = root.run("curl-config", "--ssl-backends").strip()
    check(backends == "GnuTLS", "setup continues after that command", backends)
    printed = root.run(f"{SOURCE}/scripts/setup")
    check(not printed, "a second setup does nothing", printed)


def readme(root, check):
    """README's packages suffice for Swift, which is mounted, and for setup."""
    toolchain = pathlib.Path(shutil.which("swift")).resolve().parents[2]
    text = next(block.text for block in blocks(ROOT, "README.md") if block.machine == "packages")
    root.run("sh", "-euc", re.sub(r"\bsudo ", "", text).replace("apt-get install", "apt-get install -yq"))
    root.write("/root/hello.swift", 'import Foundation\nprint("hello", URL(string: "tcp://a")!.scheme!)\n')
    options = {"read_only": (str(toolchain),), "more": {"PATH": f"{toolchain}/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}
    printed = root.run("sh", "-euc", "cd /root && swiftc hello.swift -o hello && ./hello", **options)
    check(printed == "hello tcp\n", "Swift compiles and links with README's packages", printed)
    printed = root.run("sh", "-euc", "mkdir /root/p && cd /root/p && swift package init --type executable && swift run", **options)
    check("Hello, world!" in printed, "SwiftPM builds with README's packages", printed)
    prepare(root)
    root.run(f"{SOURCE}/scripts/setup", **options)
    check(root.run("curl-config", "--ssl-backends").strip() == "GnuTLS", "setup needs no other command")
    for program in ("make", "git", "curl"):
        check(root.enter("sh", "-c", f"command -v {program}")[0] == 0, f"{program} is installed")
