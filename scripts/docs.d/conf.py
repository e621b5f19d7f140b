"""The site of `make docs`: the Markdown documents as they are, so that every link works on the site and in the source.

Two pages have more on the site than in the source: docs/reference/http-api.md gets every operation of openapi.yaml,
and docs/reference/manual.md the manual pages. REACHD_HELP names the files with the programs' own descriptions of their commands.
The index gets a link to the API of the Swift libraries, which no document of the source can have.
"""
import os
import pathlib
import posixpath
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
import manual  # noqa: E402
import operations  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]

project = "reachd"
html_title = "reachd"
extensions = ["myst_parser"]
root_doc = "docs/README"
include_patterns = ["docs/**", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Benchmarks/RESULTS.md"]
# Directories that are not searched for documents.
exclude_patterns = [".*", "Sources", "Tests", "deploy", "examples", "scripts"]
myst_heading_anchors = 3
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_copy_source = False


def toctrees(text):
    """The navigation of an index: the links of its lists and tables, one tree for each heading."""
    trees = []
    for section in re.split(r"^## ", text, flags=re.M):
        links = re.findall(r"^(?:- |\| )\[[^]]*\]\(([^):#]+)\.md\)", section, re.M)
        if links:
            caption = section.split("\n", 1)[0] if not section.startswith("#") else ""
            entries = "\n".join(links)
            trees.append(f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n" if caption
                         else f"```{{toctree}}\n:hidden:\n\n{entries}\n```\n")
    return "\n" + "\n".join(trees)


SWIFT = """
## Swift API

```{raw} html
<p><a class="reference external" href="../swift/documentation/">The API of the Swift libraries</a>. It needs a web server:
<code>python3 -m http.server -d .build-docs/site</code>. All other pages also work as files.</p>
```
"""


def complete(app, docname, source):
    """Adds what the site has besides the source."""
    if docname.startswith("docs/") and posixpath.basename(docname) == "README":
        source[0] += toctrees(source[0])
        if docname == root_doc:
            source[0] += SWIFT
    elif docname == "docs/reference/http-api":
        source[0] += operations.markdown(ROOT / "openapi.yaml")
    elif docname == "docs/reference/manual":
        source[0] += manual.markdown(os.environ["REACHD_HELP"].split(":"))


def setup(app):
    app.connect("source-read", complete)
    return {"parallel_read_safe": True}
