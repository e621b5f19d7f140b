"""The reference of the HTTP API in Markdown, from openapi.yaml: every operation with its parameters, responses and examples, every schema."""
import json
import re

import yaml

# Errors that most operations have. One table describes them, so that an operation lists only what is particular to it.
COMMON = ("BadRequest", "Unauthorized", "Forbidden", "CheckForbidden", "MethodNotAllowed", "NotAcceptable", "LengthRequired", "TooLarge",
          "UnsupportedMedia", "Invalid", "Overloaded")
# The same as Forbidden for operations without a scope.
OMITTED = {*COMMON, "HostNotAllowed"}
WIDTH = 110


def markdown(path):
    """Every operation by tag, then every schema."""
    contract = yaml.safe_load(path.read_text(encoding="utf-8"))
    common = contract["components"]["parameters"]["RequestId"]
    lines = ["", f"Every operation accepts the header `{common['name']}`: {_cell(common['description'])}", "",
             *_errors(contract)]
    for tag in contract["tags"]:
        lines += [f"### {tag['name'].capitalize()}", "", tag["description"], ""]
        for route, item in contract["paths"].items():
            for method, operation in item.items():
                if method in ("get", "post", "put", "delete") and tag["name"] in operation["tags"]:
                    lines += _operation(contract, route, method, item, operation)
    lines += ["## Schemas", ""]
    for name, schema in contract["components"]["schemas"].items():
        lines += [f"(schema-{name.lower()})=", "", f"### {name}", "", schema.get("description", ""), ""]
        lines += _members(schema)
    return "\n".join(lines) + "\n"


def _errors(contract):
    """The errors that most operations have."""
    lines = ["### Errors", "", "Every operation may return these errors, with the body [Problem](#schema-problem): 401 unless it is "
             "always open, 411 to 422 if it has a body. The tables of the operations list other errors only.", "",
             "| status | |", "| --- | --- |"]
    for name in COMMON:
        problem = contract["components"]["responses"][name]
        status = next(response for item in contract["paths"].values() for operation in item.values()
                      if isinstance(operation, dict) for response, node in operation["responses"].items()
                      if node.get("$ref", "").endswith(f"/{name}"))
        of = ", for operations that contact or register a target" if name == "CheckForbidden" else ""
        lines.append(f"| {status}{of} | {_cell(problem['description'])} |")
    return [*lines, ""]


def _resolved(contract, node):
    """The node itself, or what its reference names."""
    while "$ref" in node:
        target = contract
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def _cell(text):
    return re.sub(r"\s+", " ", str(text)).strip().replace("|", "\\|")


def _type(schema):
    """What a value may be, in a few words, with links to schemas."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#schema-{name.lower()})"
    if "enum" in schema:
        return ", ".join("null" if value is None else f"`{value}`" for value in schema["enum"])
    for key in ("oneOf", "anyOf", "allOf"):
        if key in schema:
            return (" and " if key == "allOf" else " or ").join(_type(part) for part in schema[key])
    kinds = schema.get("type", "")
    if kinds == "array":
        return f"array of {_type(schema['items'])}" if "items" in schema else "array"
    if kinds == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"map of {_type(schema['additionalProperties'])}"
    text = " or ".join([kinds] if isinstance(kinds, str) else kinds)
    limits = [f"{label} {schema[key]}" for key, label in (("minimum", "at least"), ("maximum", "at most")) if key in schema]
    default = []
    if "default" in schema:
        default = [f"default `{schema['default'] if isinstance(schema['default'], str) else json.dumps(schema['default'])}`"]
    return ", ".join([text, *limits, *default])


def _rows(schema, prefix=""):
    """A row for each member of an object, and for the members of the objects in it."""
    required = schema.get("required", [])
    rows = []
    for name, member in schema.get("properties", {}).items():
        always = "yes" if name in required else ""
        rows.append(f"| `{prefix}{name}` | {_cell(_type(member))} | {always} | {_cell(member.get('description', ''))} |")
        # The elements of an array, or the object itself.
        element = member.get("items", member)
        inner = f"{prefix}{name}{'[]' if 'items' in member else ''}."
        for part in element.get("allOf", [element]):
            rows += _rows(part, inner)
    return rows


def _members(schema):
    """A table of an object's members, or a line for any other schema."""
    parts = schema.get("allOf", schema.get("oneOf", [schema]))
    element = schema.get("items", {})
    rows = [row for part in parts for row in _rows(part)]
    rows += [row for part in element.get("oneOf", [element]) for row in _rows(part, "[].")]
    based = [f"All members of {_type(part)}, and:" for part in schema.get("allOf", []) if "$ref" in part]
    lines = based or ([] if "properties" in schema else [_type(schema)])
    if rows:
        lines += ["", "| member | type | always | |", "| --- | --- | --- | --- |", *rows]
    return [*lines, ""]


def _pretty(value, indent=0):
    """JSON, with a line for each member only where one line is too long."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return line
    space = " " * (indent + 2)
    if isinstance(value, dict):
        inner = [f"{space}{json.dumps(name)}: {_pretty(member, indent + 2)}" for name, member in value.items()]
    else:
        inner = [space + _pretty(member, indent + 2) for member in value]
    return "\n".join(["{" if isinstance(value, dict) else "[", ",\n".join(inner),
                      " " * indent + ("}" if isinstance(value, dict) else "]")])


def _example(contract, title, content):
    """The first example of the first media type."""
    for media, each in content.items():
        examples = [_resolved(contract, example)["value"] for example in each.get("examples", {}).values()]
        value = each.get("example", examples[0] if examples else None)
        if value is None or media == "*/*":
            continue
        text = value.rstrip("\n") if isinstance(value, str) else _pretty(value)
        language = "json" if not isinstance(value, str) else "text"
        return ["", f"{title}, as `{media}`:", "", f"```{language}", text, "```"]
    return []


def _scope(contract, operation):
    """Who may call it."""
    security = operation.get("security", contract["security"])
    scopes = [scope for entry in security for scopes in entry.values() for scope in scopes]
    if scopes and {} not in security:
        return f"A token with the scope `{scopes[0]}` is required."
    return f"Scope: `{scopes[0]}`, where a token is required." if scopes else "Always open."


def _operation(contract, route, method, item, operation):
    lines = [f"#### {method.upper()} {route}", "", f"{operation['summary']}. {_scope(contract, operation)}", "",
             operation.get("description", ""), ""]
    parameters = [_resolved(contract, each) for each in item.get("parameters", []) + operation.get("parameters", [])]
    # Every operation has it.
    parameters = [each for each in parameters if each["name"] != "X-Request-Id"]
    if parameters:
        lines += ["| parameter | in | type | |", "| --- | --- | --- | --- |"]
    for each in parameters:
        required = "" if each["in"] == "path" or not each.get("required") else " Required."
        lines.append(f"| `{each['name']}` | {each['in']} | {_cell(_type(each['schema']))} | {_cell(each['description'])}{required} |")
    if "requestBody" in operation:
        body = _resolved(contract, operation["requestBody"])
        kinds = [f"`{media}`: {_type(content.get('schema', {}))}" for media, content in body["content"].items()]
        lines += ["", f"Body: {_cell('; '.join(kinds))}.", *_example(contract, "For example", body["content"])]
    lines += ["", "| status | | |", "| --- | --- | --- |"]
    example = []
    for status, node in operation["responses"].items():
        if node.get("$ref", "").rsplit("/", 1)[-1] in OMITTED:
            continue
        response = _resolved(contract, node)
        if status.startswith("2") and not example:
            example = _example(contract, f"Example of a {status}", response.get("content", {}))
        kinds = [f"`{media}` {_type(content['schema'])}" if "schema" in content else f"`{media}`"
                 for media, content in response.get("content", {}).items()]
        lines.append(f"| {status} | {_cell(response['description'])} | {_cell('; '.join(kinds))} |")
    return [*lines, *example, ""]
