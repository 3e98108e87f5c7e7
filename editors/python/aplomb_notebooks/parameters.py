"""Papermill's parameters as lines of APL.

A number, a text, a list are arrays; a truth is 1 or 0. What has names is what `⎕JSON` makes of it, and so is nothing.
"""
import json
import math
import re

from papermill.engines import NBClientEngine
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

NAME = r"[^\W\d][\w∆⍙]*|[∆⍙][\w∆⍙]*"


def number(val):
    if isinstance(val, float) and not math.isfinite(val):
        raise ValueError(f"{val} is no number that APL has")
    return repr(val).replace("-", "¯").replace("e+", "E").replace("e", "E")


def quoted(text):
    """Characters between quotes; a quote is two, and what ends a line or is no sign is written by its number."""
    parts = [p for p in re.split(r"([\x00-\x1f\x7f]+)", text) if p]
    written = ["(⎕UCS " + " ".join(str(ord(c)) for c in p) + ")" if ord(p[0]) < 32 or p[0] == "\x7f" else
               "'" + p.replace("'", "''") + "'" for p in parts]
    return written[0] if len(written) == 1 and len(parts) == 1 else ",".join(written)


def is_number(val):
    return isinstance(val, (bool, int, float))


class APL(Translator):
    PARAMETER = re.compile(rf"^\s*(?P<name>{NAME})\s*←\s*(?P<value>(?:'(?:[^']|'')*'|[^'⍝])*?)\s*(?:⍝\s*(?P<help>.*))?$")

    @classmethod
    def translate_none(cls, val):
        return "⎕JSON'null'"

    @classmethod
    def translate_bool(cls, val):
        return "1" if val else "0"

    @classmethod
    def translate_int(cls, val):
        return number(val)

    @classmethod
    def translate_float(cls, val):
        return number(val)

    @classmethod
    def translate_escaped_str(cls, val):
        text = str(val)
        if not text:
            return "''"
        return ("," if len(text) == 1 else "") + quoted(text)

    @classmethod
    def translate_dict(cls, val):
        return "⎕JSON " + quoted(json.dumps(val, ensure_ascii=False))

    @classmethod
    def translate_list(cls, val):
        if not val:
            return "⍬"
        if all(map(is_number, val)):
            items = " ".join(cls.translate(v) for v in val)
            return f",{items}" if len(val) == 1 else items
        items = ["(" + cls.translate(v) + ")" if not is_number(v) else cls.translate(v) for v in val]
        return f",⊂{items[0]}" if len(val) == 1 else " ".join(items)

    @classmethod
    def comment(cls, says):
        return f"⍝ {says}".strip()

    @classmethod
    def assign(cls, name, value):
        if not re.fullmatch(NAME, name):
            raise ValueError(f"{name} is no name that APL has")
        return f"{name}←{value}"

    @classmethod
    def inspect(cls, parameters_cell):
        found = map(cls.PARAMETER.match, parameters_cell["source"].split("\n"))
        return [Parameter(m["name"], "None", m["value"], m["help"] or "") for m in found if m]


for kernel in ("aplomb", "apl"):
    papermill_translators.register(kernel, APL)


class Engine(NBClientEngine):
    """Papermill's own engine, under our name."""
