"""Holds what the command prints with --json to the schemas in docs/schema. SinterCommand does so in every test of the command."""
import functools
import json
import os

try:
    import jsonschema
except ImportError:
    # JsonSchemaTest.py says so.
    jsonschema = None

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "schema")


def names():
    return sorted(name[:-len(".schema.json")] for name in os.listdir(FOLDER) if name.endswith(".schema.json"))


def schema(name):
    with open(os.path.join(FOLDER, name + ".schema.json")) as file:
        return json.load(file)


@functools.cache
def validator(name):
    return jsonschema.Draft202012Validator(schema(name))


def check(name, value):
    """Raises AssertionError if VALUE is not as the schema called NAME says."""
    if not jsonschema:
        return
    error = jsonschema.exceptions.best_match(validator(name).iter_errors(value))
    if error:
        raise AssertionError(f"docs/schema/{name}.schema.json: {'/'.join(map(str, error.absolute_path)) or 'the whole'}: {error.message[:500]}")


def check_output(arguments, output):
    """The same for the OUTPUT of a command that was run with ARGUMENTS."""
    if "--json" not in arguments or arguments[0] not in names():
        return
    for line in output.splitlines():
        check(arguments[0], json.loads(line, parse_constant=lambda name: (_ for _ in ()).throw(AssertionError(f"{name} is not JSON"))))
