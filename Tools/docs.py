"""Writes one static site of the guides and of the module's symbols, which a browser opens from disk.

    python3 Tools/docs.py ROOT GRAPH OUT

ROOT is the checkout, GRAPH the folder with the symbol graph of Strata, OUT the folder that is written. Needs nothing
but Python. Every link between the pages is checked: one that leads nowhere fails.
"""

import html
import json
import pathlib
import re
import sys

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fdfdfc; --faint: #5b6168; --line: #d9dcd8; --code: #f1f2ef;
  --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6e8; --paper: #16181b; --faint: #9aa1a9; --line: #33373c;
  --code: #202327; --link: #7db7f0; } }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); display: grid;
  grid-template-columns: 17rem minmax(0, 1fr); }
nav { border-right: 1px solid var(--line); padding: 1rem; position: sticky; top: 0; height: 100vh; overflow: auto;
  font-size: 14px; }
nav a { display: block; padding: .1rem 0; } nav h2 { font-size: 13px; color: var(--faint); margin: 1rem 0 .2rem; }
nav a[aria-current] { font-weight: 600; color: var(--ink); }
main { padding: 1.5rem clamp(1rem, 4vw, 3rem); max-width: 62rem; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
h1, h2, h3 { line-height: 1.25; } h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
pre { background: var(--code); padding: .8rem; overflow-x: auto; border-radius: 6px; font-size: 14px; }
code { font-family: ui-monospace, monospace; font-size: .92em; } :not(pre) > code { background: var(--code);
  padding: 0 .2em; border-radius: 3px; }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: 15px; }
td, th { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; } input { width: 100%; font: inherit; padding: .3rem; }
.symbol { margin: 1.4rem 0; } .symbol pre { margin: 0 0 .3rem; } .skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; }
@media (max-width: 50rem) { body { display: flex; flex-direction: column; }
  nav { position: static; height: auto; border-right: 0; border-top: 1px solid var(--line); order: 2; } }
@media print { nav, .skip { display: none; } body { display: block; } pre { white-space: pre-wrap; } }
"""

# The index is a script, since a page opened from disk may not fetch a file.
SEARCH = """
const field = document.getElementById("search"), found = document.getElementById("found");
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const hits = words.length ? PAGES.filter(p => words.every(w => p[0].toLowerCase().includes(w))).slice(0, 30) : [];
  found.replaceChildren(...hits.map(p => {
    const a = document.createElement("a"); a.href = BASE + p[1]; a.textContent = p[0]; return a; }));
});
document.addEventListener("keydown", e => {
  if (e.key === "/" && e.target !== field) { e.preventDefault(); field.focus(); } });
"""


def slug(text, used):
    """The anchor that GitHub gives a heading."""
    plain = re.sub(r"[^\w\- ]", "", re.sub(r"`|\*|\[|\]\([^)]*\)", "", text).lower()).replace(" ", "-")
    count = used.get(plain, 0)
    used[plain] = count + 1
    return plain if count == 0 else f"{plain}-{count}"


def inline(text, link):
    """Code, links, emphasis. What stands in code is as it is."""
    parts = re.split(r"(``.+?``|`[^`]+`)", text)
    out = []
    for part in parts:
        if part.startswith("``") and len(part) > 4:
            out.append(symbol_link(part.strip("`"), link))
        elif part.startswith("`") and len(part) > 1:
            out.append(f"<code>{html.escape(part[1:-1])}</code>")
        else:
            part = html.escape(part, quote=False)
            part = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)",
                          lambda m: f'<img alt="{m[1]}" src="{html.escape(link(m[2]))}">', part)
            part = re.sub(r"(^|\s)(https?://[^\s)]+[^\s).,:])", r'\1<a href="\2">\2</a>', part)
            part = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", part)
            part = re.sub(r"(?<!\w)\*([^*\s][^*]*)\*(?!\w)", r"<em>\1</em>", part)
            out.append(part)
    text = "".join(out)
    # Code is marked up first, so that the text of a link may be code.
    return re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)",
                  lambda m: f'<a href="{html.escape(link(m[2]))}">{m[1]}</a>', text)


def symbol_link(name, link):
    target = link("symbol:" + name)
    code = f"<code>{html.escape(name.split('/')[-1])}</code>"
    return f'<a href="{target}">{code}</a>' if target else code


def markdown(text, link):
    """The subset that the documents use: headings, lists, tables, code, paragraphs, blocks of HTML."""
    lines = text.split("\n")
    out, headings, used, i = [], [], {}, 0
    lists = []  # indents of the lists that are open

    def close(to=-1):
        while lists and lists[-1][0] > to:
            out.append(f"</li></{lists.pop()[1]}>")

    while i < len(lines):
        line = lines[i]
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        item = re.match(r"\s*([-*]|\d+\.) +(.*)", line)
        if bare.startswith("```"):
            end = i + 1
            while end < len(lines) and not lines[end].strip().startswith("```"):
                end += 1
            block = [row[indent:] if row[:indent].strip() == "" else row for row in lines[i + 1:end]]
            if indent == 0:
                close()
            code = html.escape("\n".join(block))
            out.append(f'<pre><code class="{html.escape(bare[3:].strip())}">{code}</code></pre>')
            i = end + 1
        elif not bare:
            if not (i + 1 < len(lines) and lines[i + 1].startswith(("  ", "- ", "* ")) and lists):
                close()
            i += 1
        elif match := re.match(r"(#{1,4}) (.*)", line):
            close()
            level, anchor = len(match[1]), slug(match[2], used)
            headings.append((level, match[2].replace("`", ""), anchor))
            out.append(f'<h{level} id="{anchor}">{inline(match[2], link)}</h{level}>')
            i += 1
        elif bare.startswith("|"):
            close()
            rows = []
            while i < len(lines) and lines[i].strip().startswith("|"):
                cells = re.split(r"(?<!\\)\|", lines[i].strip().strip("|"))
                rows.append([inline(cell.strip().replace("\\|", "|"), link) for cell in cells])
                i += 1
            body = [row for row in rows[1:] if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
            out.append("<table><thead><tr>" + "".join(f"<th>{cell}</th>" for cell in rows[0]) + "</tr></thead><tbody>")
            out += ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in body]
            out.append("</tbody></table>")
        elif item:
            close(indent)
            kind = "ul" if item[1] in "-*" else "ol"
            words = [item[2]]
            i += 1
            while i < len(lines) and lines[i].strip() and not re.match(r"\s*([-*]|\d+\.) ", lines[i]) \
                    and lines[i].startswith(" ") and not lines[i].strip().startswith(("```", "|")):
                words.append(lines[i].strip())
                i += 1
            if lists and lists[-1][0] == indent:
                out.append("</li>")
            else:
                out.append(f"<{kind}>")
                lists.append((indent, kind))
            out.append(f"<li>{inline(' '.join(words), link)}")
        elif bare.startswith("<"):
            close()
            block = []
            while i < len(lines) and lines[i].strip():
                block.append(lines[i])
                i += 1
            raw = " ".join(block)
            out.append(re.sub(r'(src|srcset)="([^"]+)"', lambda m: f'{m[1]}="{html.escape(link(m[2]))}"', raw))
        elif line.startswith("    ") and not lists:
            block = []
            while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                block.append(lines[i][4:])
                i += 1
            out.append(f"<pre><code>{html.escape(chr(10).join(block).rstrip())}</code></pre>")
        else:
            if indent == 0:
                close()
            words = []
            while i < len(lines) and lines[i].strip() and not re.match(r"(#|```|\||\s*[-*] |\s*\d+\. )", lines[i]):
                words.append(lines[i].strip())
                i += 1
            if not words:  # a line that only looked like the begin of something
                words.append(bare)
                i += 1
            out.append(f"<p>{inline(' '.join(words), link)}</p>")
    close()
    return "\n".join(out), headings


class Site:
    def __init__(self, root, graph, out):
        self.root, self.graph, self.out = root, graph, out
        self.pages = {}  # path below OUT: (title, body, headings)
        self.symbols = {}  # "Realm" or "Realm/write(_:)": path with anchor
        self.copied = set()

    def target(self, page, source):
        """What a link of a document leads to in the site."""
        def link(to):
            if to.startswith("symbol:"):
                place = self.symbols.get(to[7:])
                return self.relative(page, place) if place else None
            if to.startswith(("http:", "https:", "#", "mailto:")):
                return to
            path, _, anchor = to.partition("#")
            file = (source.parent / path).resolve()
            end = f"#{anchor}" if anchor else ""
            try:
                inner = file.relative_to(self.root)
            except ValueError:
                return to
            if (self.root / inner).suffix == ".md":
                return self.relative(page, self.place(inner)) + end
            if (self.root / inner).is_file() and inner.suffix in (".png", ".html"):
                self.copied.add(inner)
                return self.relative(page, f"files/{inner}") + end
            # A source or a folder, shown by its path in the checkout.
            return self.relative(page, "index.html") if not (self.root / inner).exists() else self.listing(page, inner)
        return link

    def listing(self, page, inner):
        return self.relative(page, f"sources.html#{str(inner).replace('/', '-')}")

    def place(self, inner):
        if str(inner) == "README.md":
            return "index.html"
        return str(inner.with_suffix(".html"))

    @staticmethod
    def relative(page, place):
        return "../" * page.count("/") + place

    def guides(self):
        files = [self.root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Reports/README.md")]
        files += sorted((self.root / "docs").glob("*.md")) + sorted((self.root / "docs/decisions").glob("*.md"))
        files += sorted((self.root / "Examples").glob("*/README.md"))
        files += sorted((self.root / "Examples/Engines").glob("*/README.md"))
        for file in files:
            page = self.place(file.relative_to(self.root))
            body, headings = markdown(file.read_text(), self.target(page, file))
            title = headings[0][1] if headings else file.stem
            self.pages[page] = (title, body, headings)

    def reference(self):
        """A page for each type of the module, and one for what stands by itself."""
        graph = json.loads((self.graph / "Strata.symbols.json").read_text())
        symbols = {s["identifier"]["precise"]: s for s in graph["symbols"]}
        for extra in sorted(self.graph.glob("Strata@*.symbols.json")):
            for s in json.loads(extra.read_text())["symbols"]:
                symbols.setdefault(s["identifier"]["precise"], s)
        types, alone = {}, []
        for s in symbols.values():
            path = s["pathComponents"]
            is_type = s["kind"]["identifier"].split(".")[-1] in ("class", "struct", "enum", "protocol", "actor")
            if len(path) == 1 and not is_type:
                alone.append(s)
            else:
                types.setdefault(path[0], []).append(s)
        taken = set()
        for name, members in types.items():
            file = f"symbols/{name}.html"
            if file.lower() in taken:
                file = f"symbols/{name}-type.html"
            taken.add(file.lower())
            for s in members:
                key = "/".join(s["pathComponents"])
                self.symbols.setdefault(key, f"{file}#{self.anchor(key)}" if "/" in key else file)
                self.symbols.setdefault(re.sub(r"-\w+$", "", key), self.symbols[key])
        for s in alone:
            name = s["pathComponents"][0]
            self.symbols.setdefault(name, f"symbols/others.html#{self.anchor(name)}")
        listed = []
        for name in sorted(types):
            page = self.symbols[name].split("#")[0] if name in self.symbols else f"symbols/{name}.html"
            members = sorted(types[name], key=lambda s: (len(s["pathComponents"]), "/".join(s["pathComponents"])))
            self.pages[page] = (name, self.described(name, members, page), [])
            listed.append((name, page, self.sentence(members[0])))
        if alone:
            page = "symbols/others.html"
            self.pages[page] = ("Functions and names", self.described("Functions and names", alone, page), [])
            listed.append(("Functions and names", page, ""))
        rows = "".join(
            f'<tr><td><a href="{page.split("/")[1]}"><code>{html.escape(name)}</code></a></td>'
            f"<td>{inline(text, lambda to: self.relative('symbols/index.html', self.symbols.get(to[7:], '')) or None)}"
            "</td></tr>" for name, page, text in listed)
        self.pages["symbols/index.html"] = (
            "Symbols of Strata", f"<h1>Symbols of Strata</h1><table><tbody>{rows}</tbody></table>", [])

    @staticmethod
    def anchor(key):
        return re.sub(r"[^\w]+", "-", key).strip("-")

    @staticmethod
    def comment(symbol):
        return "\n".join(line["text"] for line in symbol.get("docComment", {}).get("lines", []))

    def sentence(self, symbol):
        first = self.comment(symbol).strip().split("\n\n")[0].replace("\n", " ")
        return re.split(r"(?<=[.:]) ", first)[0]

    def described(self, title, members, page):
        out, seen = [f"<h1>{html.escape(title)}</h1>"], set()
        for s in members:
            key = "/".join(s["pathComponents"])
            declaration = "".join(part["spelling"] for part in s.get("declarationFragments", []))
            anchor = self.anchor(key)
            mark = "" if anchor in seen else f' id="{anchor}"'
            seen.add(anchor)
            comment = self.comment(s)
            comment = re.sub(r"(?m)^- (Parameters?|Returns|Throws|Complexity|Precondition)\b", r"- **\1**", comment)
            def link(to):
                if not to.startswith("symbol:"):
                    return to
                name = to[7:]
                place = self.symbols.get(name) or self.symbols.get(f"{s['pathComponents'][0]}/{name}")
                return self.relative(page, place) if place else None
            body = markdown(comment, link)[0] if comment else ""
            body = re.sub(r"<(/?)h[1-4][^>]*>", r"<\1strong>", body)
            out.append(f'<div class="symbol"{mark}><pre><code>{html.escape(declaration)}</code></pre>{body}</div>')
        return "\n".join(out)

    def sources(self):
        """Where sources that the documents name are in the checkout."""
        names = set()
        for _, body, _ in self.pages.values():
            names |= set(re.findall(r'sources\.html#([^"]+)"', body))
        rows = "".join(f'<li id="{name}"><code>{name}</code></li>' for name in sorted(names))
        body = ("<h1>Sources</h1><p>These files and folders are in the checkout, below its root; a hyphen stands for "
                f"each slash of their paths.</p><ul>{rows}</ul>")
        self.pages["sources.html"] = ("Sources", body, [])

    def navigation(self, page):
        index = self.pages["docs/README.html"][1]
        groups = re.split(r"<h2[^>]*>(.*?)</h2>", index)[1:]
        out = ['<h2><a href="{0}index.html">Assay and Strata</a></h2>'.format("../" * page.count("/"))]
        for title, body in zip(groups[::2], groups[1::2]):
            out.append(f"<h2>{title}</h2>")
            for match in re.finditer(r'<td><a href="\.\./docs/([^"#]+\.html)">(.*?)</a>', body):
                place = "docs/" + match[1]
                current = ' aria-current="page"' if place == page else ""
                out.append(f'<a href="{self.relative(page, place)}"{current}>{match[2]}</a>')
        out.append("<h2>Reference</h2>")
        out.append(f'<a href="{self.relative(page, "symbols/index.html")}">Symbols of Strata</a>')
        return "".join(out)

    def write(self):
        entries = []
        for page, (title, _, headings) in sorted(self.pages.items()):
            entries.append([title, page])
            entries += [[f"{title}: {text}", f"{page}#{anchor}"] for level, text, anchor in headings if level == 2]
        entries += [[key.replace("/", "."), place] for key, place in sorted(self.symbols.items()) if "/" in key]
        self.out.mkdir(parents=True)
        (self.out / "search.js").write_text(f"const PAGES = {json.dumps(entries)};{SEARCH}")
        (self.out / "style.css").write_text(STYLE)
        for page, (title, body, _) in self.pages.items():
            base = "../" * page.count("/")
            file = self.out / page
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(
                f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
                '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
                f'<link rel="stylesheet" href="{base}style.css"></head><body>'
                '<a class="skip" href="#content">To the text</a>'
                f'<nav><input id="search" type="search" placeholder="Search /" aria-label="Search">'
                f'<div id="found"></div>{self.navigation(page)}</nav><main id="content">{body}</main>'
                f'<script>const BASE = "{base}";</script><script src="{base}search.js"></script></body></html>\n')
        for inner in sorted(self.copied):
            file = self.out / "files" / inner
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes((self.root / inner).read_bytes())

    def broken(self):
        """Links that lead to no page or to no anchor of it."""
        anchors = {}
        for page in self.pages:
            text = (self.out / page).read_text()
            anchors[(self.out / page).resolve()] = set(re.findall(r'\bid="([^"]+)"', text))
        wrong = []
        for page in self.pages:
            file = self.out / page
            for to in re.findall(r'(?:href|src|srcset)="([^"]+)"', file.read_text()):
                to = html.unescape(to)
                if to.startswith(("http:", "https:", "data:", "mailto:")):
                    continue
                path, _, anchor = to.partition("#")
                end = (file.parent / path).resolve() if path else file.resolve()
                if not end.exists():
                    wrong.append(f"{page}: {to} is not there")
                elif anchor and end in anchors and anchor not in anchors[end]:
                    wrong.append(f"{page}: {to} has no such anchor")
        return sorted(set(wrong))


def main():
    root, graph, out = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    site = Site(root, graph, out)
    site.reference()
    site.guides()
    site.sources()
    site.write()
    wrong = site.broken()
    for line in wrong[:20]:
        print(line, file=sys.stderr)
    if wrong:
        sys.exit(f"error: {len(wrong)} links of the documents lead nowhere")
    print(f"{len(site.pages)} pages: open {out}/index.html")


main()
