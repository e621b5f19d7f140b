"""Manual pages from the program's description of its commands (`reachd --experimental-dump-help`), as mdoc(7) and as Markdown.

manual.py DIRECTORY HELP… writes reachd.1, reachd-serve.1 and so on; each HELP describes one program.
"""
import datetime
import json
import os
import pathlib
import re
import sys
import textwrap

# The names that manual pages have for sections of the help text.
SECTIONS = {"EXIT CODES": "EXIT STATUS", "EXAMPLE": "EXAMPLES"}


class Page:
    """One command: its name, what it does, its arguments, and the sections of its text."""

    def __init__(self, command, parents):
        self.words = [*parents, command["commandName"]]
        self.name = "-".join(self.words)
        self.abstract = command["abstract"].rstrip(".")
        self.arguments = [each for each in command.get("arguments", []) if each["shouldDisplay"]]
        self.commands = [each for each in command.get("subcommands", []) if each["commandName"] != "help"]
        # A line of capitals begins a section; what is before the first one is the description.
        parts = re.split(r"^([A-Z][A-Z ]+)$", command.get("discussion", ""), flags=re.M)
        self.description = [re.sub(r"\s*\n\s*", " ", each.strip()) for each in re.split(r"\n\s*\n", parts[0]) if each.strip()]
        # Examples are last, as in all manual pages.
        sections = [(SECTIONS.get(parts[i], parts[i]), parts[i + 1].strip("\n")) for i in range(1, len(parts) - 1, 2)]
        self.sections = sorted(sections, key=lambda section: section[0] == "EXAMPLES")


def pages(path):
    """All commands, a command before its subcommands."""
    def walk(command, parents):
        page = Page(command, parents)
        found.append(page)
        for each in page.commands:
            walk(each, page.words)

    found = []
    walk(json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["command"], [])
    return found


def _names(argument):
    """The spellings of an option, short ones first."""
    return sorted(("-" if each["kind"] == "short" else "--") + each["name"] for each in argument.get("names", []))[::-1]


def _value(argument):
    return argument.get("valueName", "")


def _text(argument):
    text = argument.get("abstract", "")
    stated = not argument.get("defaultValue") or "efault" in text
    return text if stated else f"{text} Default: {argument['defaultValue']}."


def _escaped(text):
    """Text for roff: no escapes, and no line that begins as a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def _sentences(text):
    """New sentences on new lines of at most 80 bytes, as mdoc(7) wants them."""
    lines = re.split(r"(?<=[.!?]) +(?=[A-Z])", text)
    return _escaped("\n".join(textwrap.fill(line, 70, break_long_words=False, break_on_hyphens=False) for line in lines))


def mdoc(page, date):
    """The page for man(1)."""
    lines = [f".Dd {date:%B} {date.day}, {date:%Y}", f".Dt {page.name.upper()} 1", ".Os", ".Sh NAME", f".Nm {page.name}",
             f".Nd {_escaped(page.abstract[0].lower() + page.abstract[1:])}", ".Sh SYNOPSIS", f'.Nm "{" ".join(page.words)}"']
    for each in page.arguments:
        if each["kind"] == "positional":
            lines.append(f".{'Op ' if each['isOptional'] else ''}Ar {_escaped(_value(each))}{' ...' if each['isRepeating'] else ''}")
        else:
            value = f" Ar {_escaped(_value(each))}" if each["kind"] == "option" else ""
            lines.append(f".Op Fl {_escaped(_names(each)[-1][1:])}{value}")
    if page.commands:
        lines.append(".Ar command")
    lines.append(".Sh DESCRIPTION")
    for number, paragraph in enumerate(page.description or [page.abstract + "."]):
        lines += ([".Pp"] if number else []) + [_sentences(paragraph)]
    if page.commands:
        lines += [".Pp", "Its commands:", ".Bl -tag -width Ds"]
        for each in page.commands:
            lines += [f".It Cm {_escaped(each['commandName'])}", _sentences(each["abstract"])]
        lines.append(".El")
    lines += [".Pp", "The options and arguments are:", ".Bl -tag -width Ds"]
    for each in page.arguments:
        names = " , ".join(f"Fl {_escaped(name[1:])}" for name in _names(each))
        value = f"Ar {_escaped(_value(each))}" if each["kind"] != "flag" else ""
        lines += [f".It {names} {value}".replace("  ", " ").rstrip(), _sentences(_text(each))]
    lines.append(".El")
    for title, text in page.sections:
        body = [".Bd -literal -offset indent", _escaped("\n".join(line[2:] for line in text.splitlines())), ".Ed"]
        lines += [f".Sh {title}", *body] if title == "EXAMPLES" else [f".Sh {title}", _sentences(re.sub(r"\s+", " ", text).strip())]
    return "\n".join(lines) + "\n"


def markdown(paths):
    """All pages for the site."""
    lines = [""]
    for page in [page for path in paths for page in pages(path)]:
        lines += [f"## {' '.join(page.words)}", "", page.abstract + ".", "", *[f"{each}\n" for each in page.description]]
        lines += ["| option | |", "| --- | --- |"]
        for each in page.arguments:
            value = f" {_value(each).upper()}" if each["kind"] == "option" else ""
            names = ", ".join(f"`{name}{value}`" for name in _names(each)) or f"`{_value(each).upper()}`"
            lines.append(f"| {names} | {_text(each).replace('|', chr(92) + '|')} |")
        for title, text in page.sections:
            lines += ["", f"{title.capitalize()}:", "", "```text", "\n".join(line[2:] for line in text.splitlines()), "```"]
        lines.append("")
    return "\n".join(lines)


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    # A build of the same source at another time gives the same pages, if the environment has the time of the source.
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    date = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc) if epoch else datetime.datetime.now(datetime.timezone.utc)
    for page in [page for path in sys.argv[2:] for page in pages(path)]:
        (directory / f"{page.name}.1").write_text(mdoc(page, date), encoding="utf-8")


if __name__ == "__main__":
    main()
