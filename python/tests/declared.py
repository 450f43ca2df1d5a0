"""Writes the modules of the package that follow from what the program declares: sections of a scenario,
parameters of transports, and the commands with their flags as keywords.

`python python/tests/declared.py` writes them; test_declared.py fails where they differ.
"""

from __future__ import annotations

import json
import keyword
import re
import textwrap
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from incast import _incast

PACKAGE = Path(__file__).resolve().parent.parent / "incast"
PRESETS = PACKAGE.parent.parent / "crates/cli/src/compare.toml"
HEAD = "# Written by python/tests/declared.py from the declarations of the program; do not edit.\n"
WIDTH = 100

Key = dict[str, Any]


def class_name(section: str) -> str:
    """The class of a section: `[[fabric.links]]` is Link, kind `all_to_all` is AllToAll."""
    if section == "a scenario":
        return "Scenario"
    name = section.strip("[]").removeprefix("kind ").strip("`").split(".")[-1]
    if section.startswith("[["):
        name = name.removesuffix("s")
    return camel(name)


def camel(name: str) -> str:
    """A class of this name in snake case; `none` is None_."""
    name = "".join(part.capitalize() for part in name.split("_"))
    return f"{name}_" if keyword.iskeyword(name) else name


def sections() -> dict[str, list[Key]]:
    """Every section with its keys, those inside first. The key `kind` of traffic is the class."""
    found: dict[str, list[Key]] = {}
    for key in json.loads(_incast.keys()):
        found.setdefault(key["section"], []).append(key)
    # A key comes before those of its section; a class comes after those that it mentions.
    return dict(reversed(found.items()))


def python_type(expects: str, kinds: list[str]) -> str:
    """The type of a value in Python, from what the program expects."""
    names = re.findall(r"`([^`]*)`", expects)
    if expects.startswith("a list, each "):
        return f"Sequence[{python_type(expects.removeprefix('a list, each '), kinds)}]"
    if expects.startswith("a table, each value a table"):
        return "Mapping[str, Mapping[str, Any] | Parameters] | Sequence[Parameters]"
    if expects.startswith("a table, each value "):
        inner = expects.removeprefix("a table, each value ")
        return f"Mapping[str, {python_type(inner, kinds)}]"
    if expects == "a section [[traffic]]":
        return " | ".join([*kinds, "Mapping[str, Any]"])
    if expects.startswith("a section "):
        return f"{class_name(expects.removeprefix('a section '))} | Mapping[str, Any]"
    if expects.removesuffix(", or `auto`") == ", ".join(f"`{n}`" for n in names if n != "auto"):
        return f"Literal[{', '.join(json.dumps(name) for name in names)}]"
    auto = expects.endswith(", or `auto`")
    plain = {"a whole number": "int", "a number": "float", "true or false": "bool"}
    plain["a whole number, true or false"] = "int | bool"
    plain["`strict` or a weight"] = 'int | Literal["strict"]'
    plain["text, a number, true, false, a list, or a table"] = "Any"
    found = plain.get(expects.removesuffix(", or `auto`"))
    if found is None:
        return "str"
    return f'{found} | Literal["auto"]' if auto else found


def entry(name: str, words: str) -> str:
    """An argument in a docstring."""
    return textwrap.fill(f"{name}: {words}", WIDTH - 8, initial_indent=" " * 8, subsequent_indent=" " * 12)


def about(key: Key, meaning: str | None = None, preset: str | None = None) -> str:
    """Meaning, accepted values and default of a key; of a flag with that of its command."""
    accepts = key["range"] or key["expects"]
    if key["range"] and key["expects"].endswith("or `auto`"):
        accepts += ", or `auto`"
    default = key["default"]
    words = f"Default: {default.get('value') or default.get('words')}." if default else ""
    if default.get("value") == "":
        words = ""
    if default.get("required"):
        words = "" if meaning else "Required."
    if preset is not None:
        words = f"Default: {preset}."
    text = (meaning or key["meaning"]).rstrip(".") + "."
    return f"{text} Accepted: {accepts}. {words}".strip()


def safe(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


#: The modules of a scenario: name, what it is, and whether a section stands in it. The last has all others, too.
SECTIONS: list[tuple[str, str, Callable[[str], bool]]] = [
    ("_traffic", "Kinds of traffic of a scenario.", lambda title: title.startswith("kind ")),
    ("_fabric", "Sections of a scenario below `[fabric]`.", lambda title: "[fabric" in title),
    ("_job", "Jobs of a scenario.", lambda title: title == "[[job]]"),
    ("scenario", "", lambda _: True),
]

ABOUT = '''"""A scenario as typed objects: `Scenario(fabric=Fabric(topology="star:4"), ...)`.

Times, rates and sizes are text with a unit: `8us`, `40Gbps`, `64KiB` (KB = 1000). Hosts are
lists such as `0-7,9`. What is None is left out, and its default applies.
"""'''


def scenario_modules() -> dict[Path, str]:
    """incast/scenario.py, and the modules whose classes it passes on."""
    found = sections()
    kinds = [class_name(title) for title in found if title.startswith("kind ")][::-1]
    titles = {
        key["expects"].removeprefix("a list, each ").removeprefix("a section "): key["meaning"]
        for key in json.loads(_incast.keys())
        if "a section " in key["expects"]
    }
    made: dict[Path, str] = {}
    passed: dict[str, list[str]] = {}
    left = dict(found)
    for module, what, holds in SECTIONS:
        own = {title: keys for title, keys in left.items() if holds(title)}
        left = {title: keys for title, keys in left.items() if title not in own}
        whole = module == "scenario"
        names = sorted(class_name(title) for title in (found if whole else own))
        body: list[str] = []
        for title, keys in own.items():
            body += section_class(title, keys, titles, kinds)
        typing = [name for name in ("Any", "ClassVar", "Literal") if re.search(rf"\b{name}\b", "\n".join(body))]
        sequences = [name for name in ("Mapping", "Sequence") if re.search(rf"\b{name}\[", "\n".join(body))]
        lines = [ABOUT if whole else f'"""{what}"""', "", HEAD, "from __future__ import annotations", ""]
        lines += [f"from collections.abc import {', '.join(sequences)}"] if sequences else []
        lines += ["from dataclasses import dataclass", f"from typing import {', '.join(typing)}", ""]
        common = ["Parameters", "Section"] if whole else ["Section"]
        for other, classes in sorted({**(passed if whole else {}), "_section": common}.items()):
            lines += [f"from .{other} import {', '.join(classes)}"]
        lines += ["", f"__all__ = {json.dumps(names)}", *body]
        made[PACKAGE / f"{module}.py"] = "\n".join(lines) + "\n"
        passed[module] = names
    return made


def section_class(
    title: str, keys: list[Key], titles: dict[str, str], kinds: list[str]
) -> list[str]:
    """The class of a section."""
    required = [key for key in keys if key["default"].get("required")]
    keys = required + [key for key in keys if key not in required]
    what = f"{title}: {titles[title].rstrip('.')}" if title in titles else f"Traffic of {title}"
    what = "A scenario" if title == "a scenario" else what
    lines = ["", "", "@dataclass(kw_only=True)", f"class {class_name(title)}(Section):"]
    lines += [f'    """{what}.', "", "    Args:"]
    lines += [entry(safe(key["path"].split(".")[-1]), about(key)) for key in keys]
    lines += ['    """', ""]
    if title.startswith("kind "):
        lines += [f'    _kind: ClassVar[str | None] = "{keys[0]["kind"]}"']
    for key in keys:
        kind = python_type(key["expects"], kinds)
        field = f"    {safe(key['path'].split('.')[-1])}: {kind}"
        lines += [field if key in required else f"{field} | None = None"]
    return lines


def parameters_module() -> str:
    """incast/parameters.py."""
    transports = [one["name"] for one in json.loads(_incast.catalogue())["transports"]]
    classes = {name: camel(name) for name in transports}
    lines = [
        '"""Parameters of transports as typed objects: `Ren(spend="any")`.',
        "",
        "They go into `Transport(parameters=[...])`, or into `set` of `incast.compare` and `incast.run`.",
        '"""',
        "",
        HEAD,
        "from __future__ import annotations",
        "",
        "from dataclasses import dataclass",
        "from typing import Any, ClassVar",
        "",
        "from ._section import Parameters",
        "",
        f"__all__ = {json.dumps(sorted(classes.values()))}",
    ]
    for name in transports:
        own = json.loads(_incast.catalogue(name))
        lines += ["", "", "@dataclass(kw_only=True)", f"class {classes[name]}(Parameters):"]
        title = textwrap.fill(
            f"{name}: {own['title']} ({own['paper']}).", WIDTH - 8, subsequent_indent="    "
        )
        lines += [f'    """{title}']
        if own["parameters"]:
            lines += ["", "    Args:"]
        for one in own["parameters"]:
            words = f"{one['doc'].rstrip('.')}. Accepted: {one['accepts']}. Default: {one['default']}."
            lines += [entry(safe(one["name"]), f"{words} Source: {one['source']}.")]
        lines += ['    """', "", f'    _transport: ClassVar[str] = "{name}"']
        lines += [f"    {safe(one['name'])}: Any = None" for one in own["parameters"]]
    return "\n".join(lines) + "\n"


#: What each command does; what its first argument is; arguments that are no flags, with their meanings.
COMMANDS: dict[str, tuple[str, str, list[tuple[str, str, str]]]] = {
    "demo": ("Compares six transports on a small fabric.", "", []),
    "compare": (
        "Compares transports on identical arrivals.",
        "transports",
        [
            (
                "set",
                "Sets",
                "Parameters of transports, such as `{'ren.spend': 'any'}` or objects of "
                "`incast.parameters`, and any key of a scenario, such as `{'run.until': '10ms'}`.",
            )
        ],
    ),
    "run": (
        "Runs a scenario, or repeats a run.",
        "scenario",
        [
            ("set", "Sets", "Any key of the scenario, such as `{'run.seed': 7}`."),
            ("allow_changed_files", "bool", "Repeat a run even if its input files have changed."),
        ],
    ),
}
SCENARIO = (
    "A path of a scenario file, of a manifest or of a results folder; TOML as text of several lines; a "
    "dictionary; or a `Scenario`. Without one, `topology` and `flows` are files of other tools."
)
COMMON = [
    (
        "out",
        "Out",
        "A folder for the results. True: the next numbered one in `results`. None: nothing is written; "
        "`save` of the results writes them later.",
    ),
    ("force", "bool", "Replace the results in `out`."),
    ("progress", "bool | None", "Show progress. None: where a person sees it."),
]


def flag_type(key: Key, flag: dict[str, Any]) -> str:
    if flag["switch"]:
        return "bool"
    if flag["name"] == "--transports":
        return "str | Sequence[str | type[Control]]"
    kind = python_type(key["expects"], [])
    return f"str | {kind}" if kind.startswith("Sequence") else kind


def preset_of(command: str, key: Key) -> str | None:
    """The default that a command has for a key, if it is not that of the key."""
    if command != "compare":
        return None
    preset: Any = tomllib.loads(PRESETS.read_text(encoding="utf-8"))
    for part in key["path"].split("."):
        preset = preset[0] if isinstance(preset, list) else preset
        preset = preset.get(part) if isinstance(preset, dict) else None
    if key["kind"] not in (None, "poisson") or preset is None:
        return None
    return ",".join(preset) if isinstance(preset, list) else str(preset)


def commands_module() -> str:
    """incast/_commands.py."""
    keys = json.loads(_incast.keys())
    lines = [
        '"""The commands with their flags as keywords."""',
        "",
        HEAD,
        "from __future__ import annotations",
        "",
        "import os",
        "from collections.abc import Mapping, Sequence",
        "from typing import Any, Literal",
        "",
        "from . import _session",
        "from ._control import Control",
        "from ._results import Results",
        "from ._section import Parameters, Section",
        "",
        "#: Overrides: by key, as `key=value`, or as parameters of transports.",
        "Sets = Mapping[str, Any] | Sequence[str | Parameters] | None",
        "Out = str | os.PathLike[str] | bool | None",
        "AnyScenario = str | os.PathLike[str] | Mapping[str, Any] | Section | None",
    ]
    for command, (title, first, more) in COMMANDS.items():
        flags = [
            (flag["name"].removeprefix("--").replace("-", "_"), key, flag)
            for key in keys
            for flag in key["flags"]
            if command in flag["commands"]
        ]
        # Where two keys have a flag, the first one says what it is.
        flags = list({one[0]: one for one in reversed(flags)}.values())[::-1]
        flags.sort(key=lambda one: one[0] != first)
        lines += ["", "", f"def {command}("]
        if first == "scenario":
            lines += ["    scenario: AnyScenario = None,"]
        arguments, documented = [], []
        for name, key, flag in flags:
            kind = flag_type(key, flag)
            argument = f"    {name}: {kind} = False,"
            if not flag["switch"]:
                argument = f"    {name}: {kind} | None = None,"
            meaning = flag["help"] or key["meaning"]
            words = meaning.rstrip(".") + "." if flag["switch"] else about(key, meaning, preset_of(command, key))
            arguments.append(argument)
            documented.append(entry(name, words))
        if first == "transports":
            lines += [arguments.pop(0)]
        lines += ["    *,", *arguments]
        for name, kind, words in [*more, *COMMON]:
            default = "False" if kind == "bool" else "None"
            lines += [f"    {name}: {kind} = {default},"]
            documented.append(entry(name, words))
        if first == "scenario":
            documented.insert(0, entry("scenario", SCENARIO))
        lines += [") -> Results:", f'    """{title} The command is `incast {command}`.', "", "    Args:"]
        lines += documented
        lines += ["", "    Raises:", "        ScenarioError: something given is not valid."]
        lines += ["        Interrupted: Ctrl-C; what there is until then is its `results`.", '    """']
        lines += [f"    return _session.{command}(", "        {"]
        lines += [f'            "{name}": {name},' for name, _, _ in flags]
        lines += ["        },"]
        if first == "scenario":
            lines += ["        scenario=scenario,"]
        lines += [f"        {name}={name}," for name, _, _ in [*more, *COMMON]]
        lines += ["    )"]
    return "\n".join(lines) + "\n"


def modules() -> dict[Path, str]:
    """Every module that is written, with its text."""
    return {
        **scenario_modules(),
        PACKAGE / "parameters.py": parameters_module(),
        PACKAGE / "_commands.py": commands_module(),
    }


if __name__ == "__main__":
    for path, text in modules().items():
        path.write_text(text, encoding="utf-8")
