"""What the site has beside the pages of docs/: its front page, files of the repository that a page links to, the pages of
the papers and transports, from what `tests/site` writes into target, and the laboratory.

Pages link to each other as they do in the repository. A link that leaves docs/ leads to a page of the site
that shows the file: Markdown as a page, anything else as code.
"""

import csv
import json
import math
import posixpath
import re
import shutil
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

TOP = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
ITEM = re.compile(r"([-*]|\d+\.) ")
LANGUAGES = {".py": "python", ".pyi": "python", ".rs": "rust", ".toml": "toml", ".csv": "text", ".topo": "text"}
# Lines of a file from which on it scrolls in its page.
TALL = 250
# The pages of the site that stand for files elsewhere in the repository.
FRONT = "docs/site/landing.md"
SCENARIOS = "examples/scenarios"
# The pages of the papers; each stands for the list of the paper's verdicts.
PAPERS = TOP / "target/replication"
# What stands in for a worker in pages opened as files, of the explorer's packages; without them such pages have no search.
WORKER = TOP / "explorer/node_modules/iframe-worker/shim/index.js"
VERDICTS = re.compile(r"experiments/(\w+)/verdicts\.tsv")
NOTEBOOK = re.compile(r"examples/notebooks/(\w+)\.ipynb")
TRANSPORTS = TOP / "target/transports"
# The run of the front page's picture.
LANDING = TOP / "target/landing"
# What a switch must be able to do, and the words that say so.
DUTIES = {
    "nothing": r"^none\b(?!.*PFC)",
    "marks": r"ECN(?! bits)",
    "trims or drops by class": r"trim|selective",
    "priorities, queues": r"priorit|(two|weighted) queues|for credits|as ExpressPass|control class",
    "sprays packets": r"per-packet|hashed path",
    "writes into packets": r"writes|computes|adds its state|signals|feedback|offers|clears a bit",
    "PFC": r"PFC",
}

# What a filter of the cards is called.
WORDS = {"kind": "Kind", "switches": "Switches need", "from": "Since"}

# Repository path of each page of the site that is not a file of docs/.
origins: dict[str, str] = {}


def site_path(path: str) -> str | None:
    """Where the site has a file or folder of the repository; None if it has not."""
    if paper := VERDICTS.fullmatch(path):
        return f"replication/{paper[1]}.md"
    if path == FRONT:
        return "index.md"
    if notebook := NOTEBOOK.fullmatch(path):
        return f"notebooks/{notebook[1]}.md"
    place = TOP / path
    if place.is_dir():
        return site_path(f"{path}/README.md") if (place / "README.md").is_file() else None
    if not place.is_file():
        return None
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}" + ("" if path.endswith(".md") else ".md")


def origin(page: str) -> str:
    """Repository path of a page of the site."""
    return origins.get(page, f"docs/{page}")


def targets(text: str, source: str) -> list[str]:
    """Repository paths that a text links to."""
    folder = posixpath.dirname(source)
    links = (match[2] for match in LINK.finditer(text) if "://" not in match[2])
    return [posixpath.normpath(posixpath.join(folder, link)) for link in links]


def shown(path: str) -> str:
    """A file of the repository as Markdown, or a page of a paper."""
    place = TOP / path
    text = (place if place.is_file() else PAPERS / place.name).read_text()
    if path.endswith(".md"):
        return text
    language = LANGUAGES.get(Path(path).suffix, "text")
    # A long file scrolls in a frame of its own.
    kind = f"{{ .{language} .tall }}" if text.count("\n") > TALL else language
    return f"# {path}\n\n```` {kind}\n{text.rstrip()}\n````\n"


def scenarios() -> str:
    """The example scenarios as one page."""
    text = (TOP / SCENARIOS / "README.md").read_text()
    for path in sorted((TOP / SCENARIOS).glob("*.toml")):
        words, _, rest = path.read_text().partition("\n\n")
        # What is indented in a comment is a command.
        words = re.sub(r"^#     (.*)$", r"\n    \1\n", words, flags=re.MULTILINE)
        words = re.sub(r"^# ?", "", words, flags=re.MULTILINE)
        text += f"\n## {path.stem}\n\n{words}\n\n```toml\n{rest.rstrip()}\n```\n"
    return text


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the front page, the pages of the papers, and every file that a page links to."""
    origins.clear()
    for place in sorted(PAPERS.iterdir()):
        if place.name != "README.md":
            files.append(File.generated(config, f"replication/{place.name}", abs_src_path=str(place)))
    worker = WORKER.read_text() if WORKER.is_file() else ""
    files.append(File.generated(config, "site/iframe-worker.js", content=worker))
    listed = set(re.findall(r"[\w./-]+\.md", str(config.nav)))
    todo = ["docs/" + file.src_uri for file in files.documentation_pages()] + [FRONT, "README.md"]
    todo += [f"crates/protocols/src/{one['name']}/README.md" for one in transports()]
    seen = set(todo)
    while todo:
        path = todo.pop()
        text = shown(path) if path.endswith(".md") else ""
        page = site_path(path)
        if (path == FRONT or not path.startswith("docs/")) and page:
            origins[page] = path
            content = scenarios() if path == f"{SCENARIOS}/README.md" else shown(path)
            file = File.generated(config, page, content=content)
            if page not in listed:
                file.inclusion = InclusionLevel.NOT_IN_NAV
            files.append(file)
        for target in targets(text, path):
            target = f"{target}/README.md" if (TOP / target).is_dir() else target
            own = target.startswith("docs/") or VERDICTS.fullmatch(target) or NOTEBOOK.fullmatch(target)
            if target not in seen and site_path(target) and not own:
                seen.add(target)
                todo.append(target)
    for place in sorted((TOP / "examples/notebooks").glob("*.ipynb")):
        for file in notebook(config, place):
            files.append(file)
    for one in transports():
        own = File.generated(config, f"transports/{one['name']}.md", content=transport(one))
        own.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(own)
    return files


def notebook(config: MkDocsConfig, place: Path) -> list[File]:
    """A notebook as a page with what its cells gave, and the pictures of the page."""
    path = f"notebooks/{place.stem}"
    pictures: list[File] = []
    text = ""
    for cell in json.loads(place.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            text += f"{source}\n\n"
            continue
        text += f"```python\n{source}\n```\n\n"
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text", [])})
            if picture := "".join(data.get("image/svg+xml", [])):
                name = f"{path}-{len(pictures) + 1}.svg"
                pictures.append(File.generated(config, name, content=picture))
                text += f"![{source.splitlines()[-1]}]({posixpath.basename(name)})\n\n"
            else:
                text += f"```text\n{''.join(data['text/plain']).rstrip()}\n```\n\n"
    origins[f"{path}.md"] = f"examples/notebooks/{place.name}"
    return [*pictures, File.generated(config, f"{path}.md", content=text)]


def spaced(markdown: str) -> str:
    """A blank line before each list and table that follows text: without it Python-Markdown sees text."""
    lines: list[str] = []
    code = False
    for line in markdown.splitlines():
        before = lines[-1] if lines else ""
        code ^= line.lstrip().startswith("```")
        table = line.startswith("|") and not before.startswith("|")
        item = ITEM.match(line) and not ITEM.match(before) and not before.startswith("  ")
        if not code and before and (table or item):
            lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads links to where the site has their targets."""
    own = page.file.src_uri
    folder = posixpath.dirname(origin(own))

    def led(match: re.Match[str]) -> str:
        link = match[2]
        if "://" in link:
            return match[0]
        target = site_path(posixpath.normpath(posixpath.join(folder, link)))
        if target is None:
            return match[0]
        return match[1] + posixpath.relpath(target, posixpath.dirname(own) or ".") + match[3]

    if own == "index.md":
        why = (TOP / "README.md").read_text().split("\n## Why this", 1)[1].split("\n", 1)[1].split("\n## ", 1)[0]
        # Its links are those of a page at the top of the repository, named by their files.
        why = re.sub(r"\[docs/(\w+)(\.md)?\]", lambda name: f"[{name[1].capitalize()}]", why)
        why = LINK.sub(lambda link: link[1] + posixpath.relpath(link[2], "docs/site") + link[3], why)
        markdown = markdown.replace("<!-- why -->", why)
    text = spaced(LINK.sub(led, markdown))
    if own == "transports.md":
        text = re.sub(r"<!-- transports -->\n+(\|.*\n)+", lambda _: cards(), text)
    if own == "index.md":
        return text.replace("<!-- picture -->", incast_picture())
    return text.replace("<!-- laboratory -->", laboratory()) if own == "laboratory.md" else text


# Code keeps what is typed; in prose and tables a microsecond is written as the program's pages write it.
CODE = re.compile(r"(<pre.*?</pre>|<code.*?</code>|<[^>]*>)", re.DOTALL)
MICROSECONDS = re.compile(r"(?<=[0-9]) us\b|(?<=\()us(?=\))")


# Pages that nobody reads whole: their parts open one by one, or do on small screens (site/extra.js).
FOLDED = re.compile(r"replication/(?!README)\w+\.md|source/examples/scenarios/README\.md")
# Of these parts of the page of scenarios a reader wants one.
OF_A_KIND = re.compile(r'<h3 id="traffic-of-kind-')
FOLDED_IF_SMALL = re.compile(r"(commands|results|scenario|studies|warnings)\.md")


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Writes "8 us" as "8 µs" outside of code. Makes parts of long pages that fold, all but the first."""
    parts = CODE.split(html)
    parts[::2] = [MICROSECONDS.sub(lambda found: found[0].replace("us", "µs"), text) for text in parts[::2]]
    html = "".join(parts)
    own = page.file.src_uri
    if FOLDED.fullmatch(own):
        head, first, *rest = re.split(r"(?=<h2 )", html)
        return "".join([head, first, *(part(section, "") for section in rest)])
    if FOLDED_IF_SMALL.fullmatch(own):
        head, *rest = re.split(r"(?=<h[23] )", html)
        return "".join([head, *(part(section, "" if OF_A_KIND.match(section) else " open") for section in rest)])
    return html


def part(section: str, state: str) -> str:
    """A heading with what follows it, as a part that opens and closes. It can have no link of its own in it."""
    section = re.sub(r'<a class="headerlink".*?</a>', "", section, count=1)
    title = r'<details class="part"' + state + r"><summary>\1</summary>\2</details>"
    return re.sub(r"^(<h[23] .*?</h[23]>)(.*)$", title, section, flags=re.DOTALL)


def transports() -> list[dict[str, Any]]:
    """What is declared of each transport."""
    return [json.loads(place.read_text()) for place in sorted(TRANSPORTS.glob("*.json"))]


def year(one: dict[str, Any]) -> str:
    """The year of a transport's paper, if it is stated."""
    found = re.search(r"\b(19|20)\d\d\b", one["paper"])
    return found[0] if found else ""


def duties(one: dict[str, Any]) -> list[str]:
    """What switches must do for a transport."""
    words = one["switch_support"]
    return [duty for duty, sign in DUTIES.items() if re.search(sign, words)] or ["something of its own"]


def cards() -> str:
    """The transports as cards, which site/extra.js filters."""
    all_of = transports()
    chosen = {
        "kind": sorted({one["kind"] for one in all_of}),
        "switches": [duty for duty in DUTIES if any(duty in duties(one) for one in all_of)],
        "from": sorted({year(one) for one in all_of} - {""}),
    }
    out = '<form class="filters">'
    for name, values in chosen.items():
        options = "".join(f"<option>{escape(value)}</option>" for value in values)
        out += f'<label>{WORDS[name]} <select name="{name}"><option value="">any</option>{options}</select></label>'
    out += '</form>\n<div class="cards">'
    for one in all_of:
        known = f'data-kind="{one["kind"]}" data-from="{year(one)}" data-switches="{"|".join(duties(one))}"'
        out += (
            f'<a class="card" href="transports/{one["name"]}.html" {known}><b>{one["name"]}</b>'
            f"<i>{one['kind']}{', ' + year(one) if year(one) else ''}</i>"
            f"<span>{escape(one['title'])}</span><small>switches: {escape(one['switch_support'])}</small></a>"
        )
    return out + "</div>\n\n"


def table(head: list[str], rows: list[list[Any]]) -> str:
    """A table as Markdown; none without rows."""
    cells = [[str(cell or "").replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    lines = [head, ["---"] * len(head), *cells] if rows else []
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def transport(one: dict[str, Any]) -> str:
    """A transport's page: facts, parameters, sets of them, deviations."""
    name = one["name"]

    def yes(key: str) -> str:
        return "yes" if one[key] else "no"

    facts = [
        ["paper", one["paper"]],
        ["kind", one["kind"]],
        ["switches", one["switch_support"]],
        ["routing", one["routing"]],
        ["ECN bits of data", one["ecn"]],
        ["switches mark its data packets", yes("marks")],
        ["designed for PFC", yes("made_for_pfc")],
        ["requires symmetric paths", yes("symmetric_paths")],
        ["more", f"[idea, state, a lone flow](../source/crates/protocols/src/{name}/README.md)"],
    ]
    text = f"# {name}\n\n{one['title']}. [All transports](../transports.md)\n\n{table(['', ''], facts)}\n## Parameters\n"
    for each in one["parameters"]:
        text += f"\n### `{name}.{each['name']}` = `{each['default']}`\n\n{each['doc']}\n\n"
        text += f"accepted: {each['accepts']}<br>source: {each['source']}\n{{ .small }}\n"
    sets = [
        [f"`{each['name']}`", each["source"], ", ".join(f"`{k}` = {v}" for k, v in each["values"].items()) or "the defaults"]
        for each in one["sets"]
    ]
    text += f"\n## Sets of parameters\n\n{table(['`set`', 'source', 'values'], sets)}" if sets else ""
    text += "\n## Where it differs from the paper\n" if one["deviations"] else ""
    for each in one["deviations"]:
        place = f"{each['section']}: " if each["section"] else ""
        effect = f"<br>measured effect: {each['effect']}" if each["effect"] else ""
        text += f"\n**{each['number']}.** {place}{each['what']}\n\nwhy: {each['reason']}{effect}\n{{ .small }}\n"
    return text + packets(one)


def packets(one: dict[str, Any]) -> str:
    """What a transport's own header says in each kind of packet."""
    text = "\n## Packets\n\nThe twelve bytes of the transport's own header, in network order; what is not named is zero. "
    text += "[Filters of Wireshark](../wireshark/README.md#filters) name a field as `incast.TRANSPORT.PACKET.FIELD`.\n"
    for each in one["packets"]:
        rows = [[f"`{field['name']}`", field["place"], field["unit"], field["doc"]] for field in each["fields"]]
        text += f"\n### {each['name']} (`{each['filter']}`)\n\n{each['doc']}. Layout {each['layout']}.\n\n"
        text += table(["field", "where", "unit", "what"], rows)
    codes = [[f"{code['mark']:02b}", code["name"], code["doc"]] for code in one["codes"]]
    return text + (f"\n### ECN bits\n\n{table(['bits', 'name', 'what'], codes)}" if codes else "")


def has_laboratory() -> bool:
    """Whether the laboratory has been built."""
    return (TOP / "explorer/dist/index.html").is_file()


def laboratory() -> str:
    """The laboratory, if it has been built."""
    if not has_laboratory():
        return "This copy of the site was built without the laboratory: `make explorer`, then `make site`."
    page = "laboratory/index.html#/lab"
    frame = f'<iframe class="laboratory" loading="lazy" src="{page}" title="The laboratory"></iframe>'
    return f'{frame}\n\n<a href="{page}">The laboratory as a page of its own</a>'


# The front page's picture: its axis in microseconds, from and to, and what its rows and panels take in pixels.
AXIS = (10.0, 20_000.0)
ROW, WIDE, LEFT, HEAD = 6, 460, 8, 44
# Above this a flow has waited for its retransmission timer (10 ms), not for a repeated packet.
TIMER = 5_000.0
TIMES = {10: "10 µs", 100: "100 µs", 1_000: "1 ms", 10_000: "10 ms"}


def along(microseconds: float) -> float:
    """Where a time is on the picture's logarithmic axis."""
    low, high = (math.log10(end) for end in AXIS)
    return LEFT + (WIDE - 2 * LEFT) * (math.log10(max(microseconds, AXIS[0])) - low) / (high - low)


def panel(name: str) -> str:
    """The flows of a run, a bar each over time: what is sent, and the wait for a timer."""
    with (LANDING / name / "flows.csv").open() as file:
        flows = [(float(row["fct_ps"]) / 1e6, float(row["recovery_ps"]) / 1e6) for row in csv.DictReader(file)]
    last, foot = max(fct for fct, _ in flows), HEAD + ROW * len(flows)
    waiting = sum(recovery > TIMER for _, recovery in flows)
    what = f"{waiting} of {len(flows)} flows wait for a timer" if waiting else "no flow waits for a timer"
    words = f"{name}: the last of {len(flows)} flows is done after {last / 1e3:.2g} ms; {what}"
    out = f'<svg viewBox="0 0 {WIDE} {foot + 24}" role="img" aria-label="{words}">'
    out += f'<clipPath id="{name}"><rect class="until" x="{LEFT}" width="{WIDE - 2 * LEFT}" height="{foot}"/></clipPath>'
    out += f'<text class="name" x="{LEFT}" y="16">{name}</text><text x="{LEFT}" y="34">{words.split(": ")[1]}</text>'
    for at, text in TIMES.items():
        out += f'<path class="grid" d="M{along(at):.0f} {HEAD}V{foot}"/><text x="{along(at):.0f}" y="{foot + 16}">{text}</text>'
    sent = waits = ""
    for row, (fct, recovery) in enumerate(sorted(flows)):
        y, turn, end = HEAD + ROW * row + ROW // 2, along(fct - recovery if recovery > TIMER else fct), along(fct)
        sent += f"M{LEFT} {y}H{turn:.0f}"
        waits += f"M{turn:.0f} {y}H{end:.0f}" if turn < end else ""
    return out + f'<g clip-path="url(#{name})"><path class="sent" d="{sent}"/><path class="waits" d="{waits}"/></g></svg>'


def incast_picture() -> str:
    """The moving picture of the front page, from the run that `tests/site` has made, and the laboratory behind a button."""
    out = f'<figure class="incast" data-search-exclude><div>{panel("dctcp")}{panel("ndp")}</div><figcaption>'
    out += "24 hosts send 64 KB each to one host at the same instant: a bar is a flow over time, on a logarithmic axis."
    out += ' <i class="sent"></i> sending and queueing <i class="waits"></i> waiting for a retransmission timer'
    if has_laboratory():
        page = "laboratory/index.html#/lab/scene/01-incast"
        out += f'<br><a class="md-button md-button--primary here" href="{page}">Run it in this page</a>'
    return out + "</figcaption></figure>\n"


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Leaves out the theme's indentation and empty lines: a sixth of the page. Names its dialog."""
    output = output.replace('role="dialog">', 'role="dialog" aria-label="Search">')
    parts = re.split(r"(<pre.*?</pre>)", output, flags=re.DOTALL)
    parts[::2] = [re.sub(r"\n\s+", "\n", text) for text in parts[::2]]
    return "".join(parts)


def on_post_build(config: MkDocsConfig) -> None:
    """Puts the laboratory beside its page, and tells it where the other pages are."""
    built = TOP / "explorer/dist"
    if has_laboratory():
        place = Path(config.site_dir) / "laboratory"
        shutil.copytree(built, place, dirs_exist_ok=True)
        page = place / "index.html"
        page.write_text(page.read_text().replace("<head>", '<head><meta name="incast-docs" content="../">', 1))
