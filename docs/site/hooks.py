"""What the site has beside the pages of docs/: files of the repository that a page links to, the pages of the papers,
which `tests/site` writes into target/replication, and the laboratory.

Pages link to each other as they do in the repository. A link that leaves docs/ leads to a page of the site
that shows the file: Markdown as a page, anything else as code.
"""

import posixpath
import re
import shutil
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

TOP = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
ITEM = re.compile(r"([-*]|\d+\.) ")
LANGUAGES = {".py": "python", ".pyi": "python", ".rs": "rust", ".toml": "toml", ".csv": "text", ".topo": "text"}
# The page of docs/ that stands for a file of the repository, and the other way round.
FRONT = {"README.md": "index.md"}
SCENARIOS = "examples/scenarios"
# The pages of the papers; each stands for the list of the paper's verdicts.
PAPERS = TOP / "target/replication"
VERDICTS = re.compile(r"experiments/(\w+)/verdicts\.tsv")

# Repository path of each page of the site that is not a file of docs/.
origins: dict[str, str] = {}


def site_path(path: str) -> str | None:
    """Where the site has a file or folder of the repository; None if it has not."""
    if paper := VERDICTS.fullmatch(path):
        return f"replication/{paper[1]}.md"
    place = TOP / path
    if place.is_dir():
        return site_path(f"{path}/README.md") if (place / "README.md").is_file() else None
    if not place.is_file():
        return None
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return FRONT.get(path) or f"source/{path}" + ("" if path.endswith(".md") else ".md")


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
    return f"# {path}\n\n```` {LANGUAGES.get(Path(path).suffix, 'text')}\n{text.rstrip()}\n````\n"


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
    listed = set(re.findall(r"[\w./-]+\.md", str(config.nav)))
    todo = ["docs/" + file.src_uri for file in files.documentation_pages()] + ["README.md"]
    seen = set(todo)
    while todo:
        path = todo.pop()
        text = shown(path) if path.endswith(".md") else ""
        page = site_path(path)
        if not path.startswith("docs/") and page:
            origins[page] = path
            content = scenarios() if path == f"{SCENARIOS}/README.md" else shown(path)
            file = File.generated(config, page, content=content)
            if page not in listed:
                file.inclusion = InclusionLevel.NOT_IN_NAV
            files.append(file)
        for target in targets(text, path):
            target = f"{target}/README.md" if (TOP / target).is_dir() else target
            own = target.startswith("docs/") or VERDICTS.fullmatch(target)
            if target not in seen and site_path(target) and not own:
                seen.add(target)
                todo.append(target)
    return files


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

    text = spaced(LINK.sub(led, markdown))
    return text.replace("<!-- laboratory -->", laboratory()) if own == "laboratory.md" else text


# Code keeps what is typed; in prose and tables a microsecond is written as the program's pages write it.
CODE = re.compile(r"(<pre.*?</pre>|<code.*?</code>|<[^>]*>)", re.DOTALL)
MICROSECONDS = re.compile(r"(?<=[0-9]) us\b|(?<=\()us(?=\))")


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Writes "8 us" as "8 µs" outside of code."""
    parts = CODE.split(html)
    parts[::2] = [MICROSECONDS.sub(lambda found: found[0].replace("us", "µs"), text) for text in parts[::2]]
    return "".join(parts)


def laboratory() -> str:
    """The laboratory, if it has been built."""
    if not (TOP / "explorer/dist/index.html").is_file():
        return "This copy of the site was built without it: `make explorer`, then `make site`."
    frame = '<iframe class="laboratory" src="laboratory/index.html#/lab" title="The laboratory"></iframe>'
    return f'{frame}\n\n<a href="laboratory/index.html#/lab">The laboratory as a page of its own</a>'


def on_post_build(config: MkDocsConfig) -> None:
    """Puts the laboratory beside its page, and tells it where the other pages are."""
    built = TOP / "explorer/dist"
    if (built / "index.html").is_file():
        place = Path(config.site_dir) / "laboratory"
        shutil.copytree(built, place, dirs_exist_ok=True)
        page = place / "index.html"
        page.write_text(page.read_text().replace("<head>", '<head><meta name="incast-docs" content="../">', 1))
