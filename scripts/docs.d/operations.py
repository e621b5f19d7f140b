"""The reference of the HTTP API in Markdown, from openapi.yaml: every operation with its parameters and responses, every schema."""
import re

import yaml


def markdown(path):
    """Every operation by tag, then every schema."""
    contract = yaml.safe_load(path.read_text(encoding="utf-8"))
    common = contract["components"]["parameters"]["RequestId"]
    lines = ["", f"Every operation accepts the header `{common['name']}`: {_cell(common['description'])}", ""]
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
        return f"array of {_type(schema.get('items', {}))}"
    text = " or ".join([kinds] if isinstance(kinds, str) else kinds)
    limits = [f"{label} {schema[key]}" for key, label in (("minimum", "at least"), ("maximum", "at most")) if key in schema]
    default = [f"default `{schema['default']}`"] if "default" in schema else []
    return ", ".join([text, *limits, *default])


def _members(schema):
    """A table of an object's members, or a line for any other schema."""
    parts = [part for part in schema.get("allOf", [schema])]
    rows = []
    for part in parts:
        required = part.get("required", [])
        rows += [f"| `{name}` | {_cell(_type(member))} | {'yes' if name in required else ''} | {_cell(member.get('description', ''))} |"
                 for name, member in part.get("properties", {}).items()]
    if not rows:
        return [f"{_type(schema)}", ""]
    based = [f"All members of {_type(part)}, and:" for part in parts if "$ref" in part]
    return [*based, "", "| member | type | always | |", "| --- | --- | --- | --- |", *rows, ""]


def _scope(contract, operation):
    """Who may call it."""
    security = operation.get("security", contract["security"])
    scopes = [scope for entry in security for scopes in entry.values() for scope in scopes]
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
        lines += ["", f"Body: {_cell('; '.join(kinds))}."]
    lines += ["", "| status | | |", "| --- | --- | --- |"]
    for status, response in operation["responses"].items():
        response = _resolved(contract, response)
        kinds = [f"`{media}` {_type(content['schema'])}" if "schema" in content else f"`{media}`"
                 for media, content in response.get("content", {}).items()]
        lines.append(f"| {status} | {_cell(response['description'])} | {_cell('; '.join(kinds))} |")
    return [*lines, ""]
