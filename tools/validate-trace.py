#!/usr/bin/env python3
"""Checks traces against their JSON Schema. Needs the package jsonschema: run it with the Python of tools/extras.

  tools/validate-trace.py SCHEMA FILE        FILE: one JSON object, or one a line, or - for standard input

Prints `ok N traces`, or each fault with its path. Exit code 0, or 1 for a fault, or 2 for a schema that is no schema.
"""
import argparse
import json
import sys

try:
    import jsonschema
except ImportError:
    sys.exit("this Python has no jsonschema: use the one that tools/extras made, in the folder that tools/extras --path prints")

MOST = 20


def refuse(name):
    raise ValueError(f"{name} is no JSON")


def traces(text):
    """The whole text is one trace, or every line of it is."""
    try:
        return [json.loads(text, parse_constant=refuse)]
    except json.JSONDecodeError as e:
        lines = [line for line in text.splitlines() if line.strip()]
        if e.msg != "Extra data" or len(lines) < 2:
            raise
        return [json.loads(line, parse_constant=refuse) for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schema", metavar="SCHEMA")
    parser.add_argument("file", metavar="FILE")
    args = parser.parse_args()
    with open(args.schema, encoding="utf-8") as f:
        schema = json.load(f)
    Validator = jsonschema.Draft202012Validator
    try:
        Validator.check_schema(schema)
    except jsonschema.SchemaError as e:
        print(f"{args.schema}: {e.json_path}: {e.message}")
        return 2
    if args.file == "-":
        text = sys.stdin.read()
    else:
        with open(args.file, encoding="utf-8") as f:
            text = f.read()
    try:
        found = traces(text)
    except ValueError as e:
        print(f"{args.file}: {e}")
        return 1
    validator = Validator(schema)
    faults = [(k, e) for k, trace in enumerate(found) for e in validator.iter_errors(trace)]
    for k, e in faults[:MOST]:
        where = e.json_path if len(found) == 1 else f"trace {k + 1}: {e.json_path}"
        print(f"{where}: {e.message[:200]}")
    if len(faults) > MOST:
        print(f"and {len(faults) - MOST} more")
    if not faults:
        print(f"ok {len(found)} trace{'s' * (len(found) != 1)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
