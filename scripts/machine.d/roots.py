"""Bare Debian roots from the mirrors that apt is configured for, kept in a cache outside of the checkout.

A root contains Debian's packages only: nothing of this machine, and nothing of the checkout unless a case copies it.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from report import Failed, Skipped

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "reachd" / "machine"
# Seconds. After a week the mirror's packages have changed, so that a root is made again.
LONGEST_AGE = 7 * 86_400
# Seconds, for the longest list of packages over a slow mirror.
LONGEST_INSTALLATION = 1_200
# Of the memory. A root with a compiler has 1.5 GB.
LARGEST_ROOT = "4g"
# The variables that apt may need for the mirror.
PROXIES = ("http_proxy", "https_proxy", "no_proxy")
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8", "TERM": "dumb",
    "DEBIAN_FRONTEND": "noninteractive", **{name: os.environ[name] for name in PROXIES if name in os.environ},
}


def sources(suite):
    """The lines of sources.list for a suite."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(LABEL) $(SITE)", "Created-By: Packages", "Origin: Debian"],
        capture_output=True, text=True, check=False).stdout
    sites = dict(line.split(" ", 1) for line in listed.splitlines())
    if "Debian" not in sites:
        raise Skipped("apt has no mirror of Debian; run apt-get update")
    lines = [f"deb {sites['Debian']} {suite} main", f"deb {sites['Debian']} {suite}-updates main"]
    if "Debian-Security" in sites:
        lines.append(f"deb {sites['Debian-Security']} {suite}-security main")
    return "\n".join(lines) + "\n"


def archive(suite, packages):
    """The path of a tar archive of a bare root with packages; it is made if the cache has none that is recent."""
    lines, packages = sources(suite), sorted(packages)
    key = hashlib.sha256("\n".join([lines, *packages]).encode()).hexdigest()[:16]
    path = CACHE / f"{suite}-{key}.tar"
    if path.exists() and time.time() - path.stat().st_mtime < LONGEST_AGE:
        return path
    CACHE.mkdir(parents=True, exist_ok=True)
    made = path.with_name(f"{path.stem}.{os.urandom(4).hex()}.new")
    print(f"machine: making a root of {suite} with {' '.join(packages) or 'no further packages'}", flush=True)
    try:
        bootstrap = subprocess.run(
            ["mmdebstrap", "--quiet", "--mode=root", "--format=tar", "--variant=minbase", "--aptopt=Acquire::Languages \"none\"",
             "--hook-dir=/usr/share/mmdebstrap/hooks/maybe-merged-usr", f"--include={','.join(['usr-is-merged', *packages])}",
             suite, str(made), "-"],
            input=lines, capture_output=True, text=True, timeout=LONGEST_INSTALLATION, check=False)
        if bootstrap.returncode:
            raise Skipped(f"no root of {suite} from the mirror: {bootstrap.stderr[-2000:]}")
        made.rename(path)
    finally:
        made.unlink(missing_ok=True)
    for old in (*CACHE.glob("*.tar"), *CACHE.glob("*.new")):
        if time.time() - old.stat().st_mtime > LONGEST_AGE:
            old.unlink(missing_ok=True)
    return path


class Root:
    """A root of its own, which is removed at the end.

    It is in memory, because a disk needs a minute to remove it. `scripts/machine` has mounts of its own, so that it also ends with
    a script that is killed.
    """

    def __init__(self, suite, packages, size=LARGEST_ROOT):
        made = archive(suite, packages)
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="reachd-machine-"))
        try:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=755,size={size}", "machine", self.path], check=True)
            subprocess.run(["tar", "--xattrs", "--xattrs-include=*", "--numeric-owner", "-xf", made, "-C", self.path], check=True)
            # Each machine has an id of its own; without one, the first boot would ask for settings.
            (self.path / "etc/machine-id").write_text(os.urandom(16).hex() + "\n", encoding="ascii")
        except BaseException:
            self.remove()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        subprocess.run(["umount", "--lazy", self.path], check=False)
        self.path.rmdir()

    def copy(self, source, destination):
        """Copies a file or directory into the root."""
        target = self.path / destination.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if pathlib.Path(source).is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)

    def write(self, destination, text, mode=0o644):
        target = self.path / destination.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        target.chmod(mode)

    def enter(self, *command, read_only=(), more=None, timeout=LONGEST_INSTALLATION):
        """Runs a command in the root, which is not booted; returns the status and the output."""
        shutil.copyfile("/etc/resolv.conf", self.path / "etc/resolv.conf")
        done = subprocess.run(
            [HERE / "enter", self.path, *command], env={**ENVIRONMENT, **(more or {}), "READ_ONLY": " ".join(read_only)},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            timeout=timeout, check=False)
        return done.returncode, done.stdout

    def run(self, *command, **options):
        """Like `enter` for a command that must succeed; returns the output."""
        status, output = self.enter(*command, **options)
        if status:
            raise Failed(f"{' '.join(command)}: exit status {status}: {output[-3000:]}")
        return output
