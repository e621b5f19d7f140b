"""Tests what scripts/package.d/install installs and what the packages contain: test_package.py BUILD WORK (scripts/package.d/test)."""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD, WORK = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
PROGRAMS = ("reachd", "reachd-fleet")
UNITS = {
    "reachd": ("reachd.service", "reachd.socket", "reachd-wait-online.service"),
    "reachd-fleet": ("reachd-fleet-agent.service", "reachd-fleet-replica.service"),
}
SETTINGS = {
    "reachd": ("default/reachd", "reachd.yaml"),
    "reachd-fleet": ("default/reachd-fleet-agent", "default/reachd-fleet-replica", "reachd-fleet/agent.yaml", "reachd-fleet/replica.yaml"),
}
EXAMPLES = {
    "reachd": ("examples/reachd.yaml", "examples/prometheus/reachd.rules.yaml", "examples/grafana/reachd.json"),
    "reachd-fleet": ("examples/reachd.yaml", "examples/nats/nats.conf", "examples/nats/fleet.conf"),
}
# What a debug build has and a package must not have: the search path of the toolchain's libraries.
DEBUG_TAGS = "custom-library-search-path"


def check(is_so, what):
    """Prints a line of the report; the first failed condition ends the test."""
    if not is_so:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def run(*command, expect=0, **more):
    """Runs a command and returns its output; another exit status ends the test."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode != expect:
        raise SystemExit(f"FAILED: {' '.join(map(str, command))}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def install(destination, *programs, **places):
    """Runs scripts/package.d/install and returns the paths of all files, from the root of the destination."""
    run(SOURCE / "scripts/package.d/install", BUILD / "release", *programs, env={**os.environ, "DESTDIR": str(destination), **places})
    return files(destination)


def files(directory):
    return {f"/{each.relative_to(directory)}" for each in directory.rglob("*") if not each.is_dir()}


def commands(program):
    """The commands of a program as words, with the program itself first."""
    def walk(command, parents):
        words = [*parents, command["commandName"]]
        found.append(words)
        for each in command.get("subcommands", []):
            if each["commandName"] != "help":
                walk(each, words)

    found = []
    walk(json.loads(run(BUILD / "release" / program, "--experimental-dump-help"))["command"], [])
    return found


def expected(program, prefix, settings, units, zsh):
    """The paths that the installation of a program has, without those that only one kind of installation has."""
    paths = {f"{prefix}/bin/{program}", f"{zsh}/_{program}"}
    paths |= {f"{prefix}/share/bash-completion/completions/{program}", f"{prefix}/share/fish/vendor_completions.d/{program}.fish"}
    paths |= {f"{units}/{each}" for each in UNITS[program]} | {f"{settings}/{each}" for each in SETTINGS[program]}
    paths |= {f"{prefix}/share/doc/{program}/{each}" for each in EXAMPLES[program]}
    return paths | {f"{prefix}/share/man/man1/{'-'.join(each)}.1" for each in commands(program)}


def same(found, wanted, what):
    check(found == wanted, f"{what}: {len(wanted)}" if found == wanted else
          f"{what}: missing {sorted(wanted - found)}, not expected {sorted(found - wanted)}")


def installation():
    """What is installed where, with the default places and with others."""
    local = WORK / "local"
    wanted = set()
    for program in PROGRAMS:
        wanted |= expected(program, "/usr/local", "/etc", "/usr/local/lib/systemd/system", "/usr/local/share/zsh/site-functions")
        wanted |= {f"/usr/local/share/doc/{program}/{each}" for each in ("CHANGELOG.md", "LICENSE")}
    same(install(local), wanted, "make install")
    # A directory of a person who builds with a strict umask: everyone can read what is installed.
    modes = {each: each.stat().st_mode & 0o777 for each in local.rglob("*")}
    check(set(modes.values()) == {0o755, 0o644}, "every user can read what is installed")

    other = WORK / "other"
    install(other, "reachd", PREFIX="/opt/reachd", SYSCONFDIR="/opt/etc")
    unit = (other / "opt/reachd/lib/systemd/system/reachd.service").read_text(encoding="utf-8")
    check("ExecStart=/opt/reachd/bin/reachd serve\n" in unit and "EnvironmentFile=-/opt/etc/default/reachd\n" in unit,
          "the unit names the places of the installation")
    check(not any("/usr" in each for each in files(other)), "with PREFIX and SYSCONFDIR, nothing is installed elsewhere")

    changed = local / "etc/reachd.yaml"
    changed.write_text("listen: '127.0.0.1:8088'\n", encoding="utf-8")
    install(local)
    check(changed.read_text(encoding="utf-8") == "listen: '127.0.0.1:8088'\n" and (local / "etc/reachd.yaml.new").exists(),
          "a changed setting is kept, and the new file is beside it")
    check(not (local / "etc/default/reachd.new").exists(), "an unchanged setting has no second file")
    empty = WORK / "empty"
    empty.mkdir()
    run(SOURCE / "scripts/package.d/install", empty, expect=66)
    run(SOURCE / "scripts/package.d/install", BUILD / "release", "other", expect=64)
    check(True, "without a program, and with an unknown one, the installation fails")


def settings():
    """The files of settings are valid, and so are the examples in their comments."""
    reachd, fleet = (BUILD / "release" / each for each in PROGRAMS)
    environment = {"PATH": os.environ["PATH"]}
    for program, name in ((reachd, "reachd.yaml"), (fleet, "reachd-fleet/agent.yaml"), (fleet, "reachd-fleet/replica.yaml")):
        path = SOURCE / "deploy/etc" / name
        run(program, "config", "check", "--config", path, expect=0 if program == reachd else 78, env=environment)
        text = path.read_text(encoding="utf-8")
        # A comment has a space after its sign, a setting in a comment has none, or two of its indentation.
        uncommented = WORK / "uncommented.yaml"
        uncommented.write_text(re.sub(r"^#(?=[a-z]|  )", "", text, flags=re.M), encoding="utf-8")
        run(program, "config", "check", "--config", uncommented, env=environment)
    check(True, "the settings are valid, with and without their comments")


def manual():
    """The manual pages have no errors and no warnings, and a page for each command."""
    pages = sorted((WORK / "local/usr/local/share/man/man1").glob("*.1"))
    run(os.environ["MANDOC"], "-T", "lint", "-W", "warning", *pages)
    check(True, f"{len(pages)} manual pages have no warnings")


def completions():
    """Each shell loads the completions and completes a command."""
    share = WORK / "local/usr/local/share"
    path = f"{WORK / 'local/usr/local/bin'}:{os.environ['PATH']}"
    for program, start, whole in (("reachd", "hea", "healthcheck"), ("reachd-fleet", "rep", "replica")):
        bash = f"""
          . /usr/share/bash-completion/bash_completion; . {share}/bash-completion/completions/{program}
          COMP_WORDS=({program} {start}); COMP_CWORD=1; COMP_LINE='{program} {start}'; COMP_POINT=${{#COMP_LINE}}
          spec=$(complete -p {program}) || exit 1
          function=$(sed 's/.*-F \\([^ ]*\\).*/\\1/' <<<"$spec")
          $function {program} {start} {program}; echo "${{COMPREPLY[@]}}" """
        found = run("bash", "--norc", "-c", bash, env={**os.environ, "PATH": path}).split()
        check(found == [whole], f"bash completes {program} {start} to {found}")
        found = run("fish", "--no-config", "-c", f"source {share}/fish/vendor_completions.d/{program}.fish; complete -C '{program} {start}'",
                    env={**os.environ, "PATH": path, "HOME": str(WORK)})
        check([line.split("\t")[0] for line in found.splitlines()] == [whole], f"fish completes {program} {start} to {whole}")
        # compinit registers the function by its first line; autoload +X reads it.
        zsh = f"fpath=({share}/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -d {WORK}/zcompdump; " \
              f"autoload -Uz +X _{program} && print $_comps[{program}]"
        found = run("zsh", "--no-rcs", "-c", zsh, env={**os.environ, "PATH": path, "HOME": str(WORK)}).strip()
        check(found == f"_{program}", f"zsh loads the completion of {program}")


def units():
    """systemd accepts the units as they are installed."""
    directory = WORK / "units"
    install(directory, PREFIX="/usr")
    paths = sorted((directory / "usr/lib/systemd/system").iterdir())
    for path in paths:
        # The program must exist.
        text = re.sub(r"^(Exec\w+)=/usr/bin/[a-z-]+", r"\1=/bin/true", path.read_text(encoding="utf-8"), flags=re.M)
        path.write_text(text, encoding="utf-8")
    run("systemd-analyze", "verify", "--man=no", *paths)
    check(True, f"systemd accepts {len(paths)} units")


def build_dependencies():
    """debian/control names what scripts/packages.txt installs, so that the one cannot be forgotten after the other."""
    lists = [(SOURCE / "scripts" / each).read_text(encoding="utf-8").splitlines() for each in ("packages.txt", "package.d/packages.txt")]
    listed = {line.split()[0] for lines in lists for line in lines if line and not line.startswith("#")}
    # Every package has these two without naming them (Debian Policy, 4.2).
    listed -= {"dpkg-dev", "build-essential"}
    control = (SOURCE / "deploy/debian/control").read_text(encoding="utf-8")
    field = re.search(r"^Build-Depends: (.*?)^(?=\S)", control, re.M | re.S)[1]
    named = {re.sub(r"[ (:].*", "", each.strip()).replace("-compat", "") for each in field.split(",")}
    same(named, listed, "Build-Depends are those of scripts/packages.txt and package.d/packages.txt")


def package(program, deb, is_release):
    """The contents and the fields of a package."""
    root = WORK / f"deb-{program}"
    run("dpkg-deb", "--extract", deb, root)
    run("dpkg-deb", "--control", deb, root / "DEBIAN")
    unit_directory = "/usr/lib/systemd/system" if (root / "usr/lib/systemd/system").exists() else "/lib/systemd/system"
    documents = f"/usr/share/doc/{program}"
    wanted = expected(program, "/usr", "/etc", unit_directory, "/usr/share/zsh/vendor-completions")
    # Policy 12.1: manual pages are compressed; debhelper compresses other documents from 4 KiB on, but no examples.
    wanted = {f"{each}.gz" if each.endswith(".1") else each for each in wanted}
    wanted |= {f"{documents}/{each}" for each in (
        "copyright", "changelog.Debian.gz", "changelog.gz", f"{program}.cdx.json", "third-party-notices.txt")}
    same({each.removesuffix(".gz") for each in files(root) if not each.startswith("/DEBIAN/")},
         {each.removesuffix(".gz") for each in wanted}, f"package {program}")
    conffiles = (root / "DEBIAN/conffiles").read_text(encoding="utf-8").split()
    same(set(conffiles), {f"/etc/{each}" for each in SETTINGS[program]}, f"package {program}: conffiles")
    control = (root / "DEBIAN/control").read_text(encoding="utf-8")
    depends = re.search(r"^Depends: (.*)$", control, re.M)[1]
    needed = re.findall(r"\(NEEDED\).*\[(lib\S+)\]", run("readelf", "-d", root / "usr/bin" / program))
    if is_release:
        check(not [each for each in needed if "swift" in each], f"package {program}: the libraries of Swift are in the program")
    check("libc6" in depends and "${" not in control, f"package {program}: depends on {len(depends.split(','))} packages")
    check(re.search(r"^Recommends: ca-certificates$", control, re.M), f"package {program}: recommends ca-certificates")
    contents(program, root, needed)


def contents(program, root, needed):
    """The list of contents: valid, the hash of the program, and a package with a version and a licence for each library."""
    document = root / "usr/share/doc" / program
    text = (document / f"{program}.cdx.json").read_text(encoding="utf-8")
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    check(problem is None, f"{program}.cdx.json is valid CycloneDX 1.6" if problem is None else str(problem))
    bom = json.loads(text)
    digest = hashlib.sha256((root / "usr/bin" / program).read_bytes()).hexdigest()
    check(bom["metadata"]["component"]["hashes"][0]["content"] == digest, f"{program}.cdx.json has the hash of the program")
    components = bom["components"]
    check(all(each["version"] and each["licenses"] and each["purl"] for each in components), "every component has version, licence and URL")
    libraries = {each["name"] for each in components if each["purl"].startswith("pkg:deb/")}
    # A debug build loads the libraries of Swift from the toolchain.
    found = dict(re.findall(r"(\S+) => (/\S+)", run("ldd", root / "usr/bin" / program)))
    debian = [each for each in needed if "/swift/linux/" not in found[each]]
    for library in debian:
        paths = {found[library], "/usr" + found[library], found[library].removeprefix("/usr")}
        done = subprocess.run(["dpkg-query", "-S", *paths], capture_output=True, text=True, check=False)
        if not libraries & {line.split(":")[0] for line in done.stdout.splitlines()}:
            check(False, f"{program}.cdx.json has the package of {library}")
    check(True, f"{program}.cdx.json has the packages of {len(debian)} libraries")
    notices = (document / "third-party-notices.txt").read_text(encoding="utf-8")
    swift = [each for each in components if each["purl"].startswith("pkg:swift/") and each["name"] != "swift"]
    missing = [each["name"] for each in swift if f"\n{each['name']} {each['version']}: LICENSE" not in notices]
    check(swift and not missing, f"third-party-notices.txt has the licences of {len(swift)} Swift packages{missing or ''}")


def packages():
    """Builds the packages and inspects them as lintian and dpkg do."""
    is_release = not (BUILD / "checkouts").is_symlink()
    run(SOURCE / "scripts/package.d/deb", env={**os.environ, "REACHD_DEB_PREBUILT": str(BUILD)})
    suppressed = [] if is_release else ["--suppress-tags", DEBUG_TAGS]
    run("lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0", *suppressed, *(SOURCE / ".build-deb").glob("*.changes"))
    check(True, "lintian: no errors, no warnings")
    for program in PROGRAMS:
        (deb,) = (SOURCE / ".build-deb").glob(f"{program}_*.deb")
        package(program, deb, is_release)


def main():
    installation()
    settings()
    manual()
    completions()
    units()
    build_dependencies()
    packages()
    print("test-package: passed")


main()
