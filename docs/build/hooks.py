"""Hooks of `mkdocs build`. What they warn about makes `make docs` fail, because the build is strict.

- Every public name (in `__all__` of rgvf or one of its packages) has a docstring, and an entry in the API pages.
- The notebook becomes a page.
- No page loads anything from another host.
"""

import base64
import json
import logging
import re
from pathlib import Path

import griffe
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
EXTERNAL = re.compile(r"<(?:script|img|iframe|source)[^>]*\ssrc=\"?(?:https?:)?//|<link[^>]*\shref=\"?(?:https?:)?//")

log = logging.getLogger("mkdocs.hooks.rgvf")


def public_names():
    """(full name, object) of every public name, read from the source without importing it."""
    root = griffe.load("rgvf", search_paths=[ROOT], allow_inspection=False, resolve_aliases=True)
    packages = [each for each in root.modules.values() if each.is_init_module and each.name != "cli"]
    for package in (root, *packages):
        for name in package.exports or ():
            if not str(name).startswith("__"):
                yield f"{package.path}.{name}", resolved(package[str(name)])


def resolved(thing):
    """What a name stands for. A function may have the name of its module, which griffe then finds first."""
    target = thing.final_target if thing.is_alias else thing
    return target[target.name] if target.is_module else target


def undocumented(name, target):
    """The name and its public methods, as far as they have no docstring of their own or inherited."""
    if not target.has_docstring:
        yield name
    if target.is_class:
        for method, member in target.members.items():
            is_method = member.is_function or "property" in member.labels
            inherited = any(method in base.members and base[method].has_docstring for base in target.mro())
            if is_method and not method.startswith("_") and not member.has_docstring and not inherited:
                yield f"{name}.{method}"


def on_pre_build(config):
    """Docstrings."""
    for name, target in public_names():
        for missing in undocumented(name, target):
            log.warning("%s is public and has no docstring", missing)


def on_files(files, config):
    """A page of the notebook."""
    for path in Path(config.docs_dir).glob("*.ipynb"):
        old = files.get_file_from_path(f"{path.stem}.md")
        if old is not None:
            files.remove(old)
        files.append(File.generated(config, f"{path.stem}.md", content=notebook_page(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links to the notebook lead to its page."""
    is_notebook = (Path(config.docs_dir) / page.file.src_path).with_suffix(".ipynb").exists()
    return markdown if is_notebook else re.sub(r"\]\(([\w./-]+)\.ipynb\)", r"](\1.md)", markdown)


def notebook_page(path):
    """Markdown of a notebook: its text, its code, and the pictures and words that it printed."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [part for output in cell.get("outputs", ()) if (part := shown(output))]
    parts.append(f"[Download this page as a notebook]({path.name})")
    return "\n\n".join(parts) + "\n"


def shown(output):
    """An output of a cell as Markdown: a picture where there is one, else its text."""
    data = output.get("data", {})
    if "image/svg+xml" in data:
        encoded = base64.b64encode("".join(data["image/svg+xml"]).encode()).decode()
        return f"![Output of the cell](data:image/svg+xml;base64,{encoded})"
    if "image/png" in data:
        return f"![Output of the cell](data:image/png;base64,{''.join(data['image/png']).strip()})"
    text = "".join(output.get("text", data.get("text/plain", ""))).rstrip()
    return f"```text\n{text}\n```" if text else ""


def on_post_build(config):
    """What was built."""
    pages = sorted(Path(config.site_dir).rglob("*.html"))
    text = {page: page.read_text(encoding="utf-8") for page in pages}
    entries = {
        name for page in pages if page.parent.name == "api" for name in re.findall(r'id="(rgvf[^"]*)"', text[page])
    }
    for name, target in public_names():
        if not entries & {name, target.path}:
            log.warning("%s is public and has no entry in the API pages", name)
    for page in pages:
        for found in EXTERNAL.findall(text[page]):
            log.warning("%s loads something from another host: %s", page.name, found)
