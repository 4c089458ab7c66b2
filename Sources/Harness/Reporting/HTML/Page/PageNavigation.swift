/// The column beside the text of a page: the search, the theme, a link to each section, the keys. `ReportScript` finds
/// the search by its id.
struct PageNavigation {
    /// A link to a section of the page.
    struct Entry {
        var anchor: String
        var words: String
        /// How many cases or figures the section has, shown beside the link. May be empty.
        var count: String

        init(_ anchor: String, _ words: String, count: String = "") {
            (self.anchor, self.words, self.count) = (anchor, words, count)
        }
    }

    var entries: [Entry]
    /// What the search looks through, for screen readers.
    var subject = "report"
    /// Whether the page has the list of cases, through which two keys lead.
    var hasCaseList = false

    func write(_ frame: inout Markup) {
        frame.element("div", ["class": "side"]) { side in
            side.element("div", ["class": "tools"]) { tools in
                tools.open(
                    "input",
                    [
                        "type": "search", "id": "search", "placeholder": "Search  /",
                        "aria-label": "Search the \(subject)", "autocomplete": "off", "spellcheck": "false",
                    ])
                tools.element("output", ["id": "found", "aria-live": "polite"], "")
                DocumentHead.themeButton(&tools)
            }
            side.element("nav", ["aria-label": "Sections"]) { nav in
                for entry in entries {
                    nav.element("a", ["href": "#\(entry.anchor)"]) { link in
                        link.add(entry.words)
                        if !entry.count.isEmpty { link.element("small", entry.count) }
                    }
                }
            }
            side.element("p", ["class": "keys"]) { keys in
                for (key, words) in keyWords {
                    keys.element("kbd", key)
                    keys.add(" \(words) ")
                }
            }
        }
    }

    private var keyWords: [(key: String, words: String)] {
        [("/", "search")] + (hasCaseList ? [("j k", "next, previous case")] : []) + [("Esc", "close")]
    }
}
