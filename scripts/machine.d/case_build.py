"""README's packages and the guide's `make deb` on a bare root: the packages are in .build-machine/SUITE, for the case `deb`.

The toolchain is that of this machine. It takes as long as a release build. Swift packages that git gets from directories of this machine
(url.*.insteadOf) are mounted, too.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "clients.d"))
from documents import blocks  # noqa: E402

SOURCE = "/root/source"
AUTHORITIES = pathlib.Path("/usr/local/share/ca-certificates")
# Seconds, for two programs on a busy machine.
LONGEST_BUILD = 3_600


def run(context):
    with context.root() as root:
        options = toolchain(root)
        checkout(root)
        make = next(block.text for block in blocks(ROOT, "docs/how-to/systemd.md") if block.machine == "build")
        printed = root.run("sh", "-euc", f"cd {SOURCE}\n{make}", timeout=LONGEST_BUILD, **options)
        built = sorted((root.path / SOURCE.lstrip("/") / ".build-deb").glob("*.deb"))
        context.check(len(built) == 2, "make deb builds both packages on a bare machine", printed[-2000:])
        # Warnings of our own sources are errors; of a C library's headers they are not.
        output = ROOT / ".build-machine" / context.suite
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        for path in built:
            shutil.copy2(path, output)


def toolchain(root):
    """Installs README's packages; returns the options of commands that use the toolchain."""
    swift = pathlib.Path(shutil.which("swift")).resolve().parents[2]
    mirrors = subprocess.run(["git", "config", "--get-regexp", r"^url\..*\.insteadof$"], capture_output=True, text=True, check=False).stdout
    directories = [swift]
    config = "[safe]\n\tdirectory = *\n"
    for key, origin in (line.split(" ", 1) for line in mirrors.splitlines()):
        place = key.removeprefix("url.").removesuffix(".insteadof")
        config += f'[url "{place}"]\n\tinsteadOf = {origin}\n'
        if place.startswith("/"):
            directories.append(pathlib.Path(place))
    root.write("/etc/gitconfig", config)
    packages = next(block.text for block in blocks(ROOT, "README.md") if block.machine == "packages")
    root.run("sh", "-euc", re.sub(r"\bsudo ", "", packages).replace("apt-get install", "apt-get install -yq"))
    # A network may have a proxy whose authority an administrator added to this machine.
    if AUTHORITIES.is_dir():
        root.copy(AUTHORITIES, str(AUTHORITIES))
        root.run("update-ca-certificates")
    return {"read_only": tuple(dict.fromkeys(map(str, directories))),
            "more": {"PATH": f"{swift}/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}


def checkout(root):
    """A clone of the work tree, with its changes."""
    target = root.path / SOURCE.lstrip("/")
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, target], check=True)
    changed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--modified", "--others", "--exclude-standard"],
                             capture_output=True, text=True, check=True).stdout
    for name in filter(None, changed.split("\0")):
        if (ROOT / name).exists():
            root.copy(ROOT / name, f"{SOURCE}/{name}")
