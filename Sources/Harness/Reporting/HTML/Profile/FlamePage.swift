import RunRecords

/// Where a case spent its time, as a document of its own: a sentence with the function that took the most, the flame
/// graph, and a table of functions.
struct FlamePage {
    let stacks: FoldedStacks
    let title: String

    /// The cost of a function without its callees, and with them. A function that calls itself counts once.
    struct Function {
        var name: String
        var own = 0.0
        var whole = 0.0
    }

    /// The most functions in the table; the file of folded stacks has all.
    private static let most = 60

    static func cost(_ cost: Double, _ unit: String) -> String {
        "\(Figure.grouped(Int(min(cost.rounded(), 9e15)))) \(unit)"
    }

    private var all: Double { stacks.root.cost }

    /// The functions, first the one that took the most by itself.
    var functions: [Function] {
        var found: [String: Function] = [:]
        func walk(_ node: FoldedStacks.Node, _ callers: Set<String>) {
            for child in node.children {
                let own = child.cost - child.children.reduce(0) { $0 + $1.cost }
                var function = found[child.name] ?? Function(name: child.name)
                function.own += max(0, own)
                if !callers.contains(child.name) { function.whole += child.cost }
                found[child.name] = function
                walk(child, callers.union([child.name]))
            }
        }
        walk(stacks.root, [])
        return found.values.sorted { $0.own == $1.own ? $0.name < $1.name : $0.own > $1.own }
    }

    var text: String {
        let functions = functions
        return Markup.build { page in
            page.raw("<!DOCTYPE html>\n")
            page.element("html", ["lang": "en"]) { html in
                DocumentHead.write(title: "Assay profile: \(title)", style: FlameStyle.text, &html)
                html.element("body") { body in
                    DocumentHead.skipLink(&body)
                    masthead(functions.count, &body)
                    body.element("main", ["id": "main"]) { main in
                        answer(functions, &main)
                        table(functions, &main)
                    }
                    body.element("script") { $0.raw(ReportScript.text + FlameScript.text) }
                }
            }
            page.raw("\n")
        }
    }

    private func masthead(_ count: Int, _ body: inout Markup) {
        body.element("header", ["class": "top"]) { top in
            top.element("h1") { heading in
                heading.element("span", ["class": "faint"], "Assay profile")
                heading.add(" \(title)")
            }
            DocumentHead.themeButton(&top)
            top.element(
                "p", ["class": "facts"],
                "\(Self.cost(all, stacks.unit)) \u{B7} \(Figure.count(count, "function"))")
        }
    }

    /// `read takes 75 % of all samples by itself; it and the next two 99 %.`
    private func sentence(_ functions: [Function]) -> String {
        guard let first = functions.first, all > 0 else { return "The profile has no sample." }
        let three = functions.prefix(3).reduce(0) { $0 + $1.own }
        return "\(first.name) takes \(Figure.percent(first.own / all)) of all \(stacks.unit) by itself"
            + (functions.count > 3 ? "; it and the next two \(Figure.percent(three / all))" : "") + "."
    }

    private func answer(_ functions: [Function], _ main: inout Markup) {
        main.element("section", ["class": "steady", "aria-labelledby": "answer-title"]) { section in
            section.element("h2", ["id": "answer-title"], "Where does the time go?")
            section.element("p", ["class": "headline calm"]) { $0.element("span", sentence(functions)) }
            section.element("p", ["class": "tools"]) { tools in
                tools.open(
                    "input",
                    [
                        "type": "search", "id": "search", "placeholder": "Search  /", "aria-label": "Search functions",
                        "autocomplete": "off", "spellcheck": "false",
                    ])
                tools.element("button", ["type": "button", "id": "flame-whole", "hidden": ""], "Show all  Esc")
                tools.element("output", ["id": "found", "aria-live": "polite"], "")
            }
            // This line has the text of a box for readers whose pointer does not hover.
            section.element("output", ["id": "flame-box", "aria-live": "polite", "class": "facts"], "\u{A0}")
            FlameGraph(stacks: stacks).draw(&section)
            section.element(
                "p", ["class": "note"],
                "A function stands below its caller, as wide as its part of the whole. A click or Enter makes a box "
                    + "as wide as the page, Esc shows all again; arrows go to callers, callees and neighbours.")
        }
        main.raw("\n")
    }

    private func table(_ functions: [Function], _ main: inout Markup) {
        main.element("section", ["aria-labelledby": "functions-title"]) { section in
            section.element("h2", ["id": "functions-title"], "Which functions take most?")
            section.element("details", ["class": "fold", "open": ""]) { fold in
                fold.element("summary") { summary in
                    summary.add("Functions, those first that take most by themselves ")
                    summary.element("small", "\(min(functions.count, Self.most)) of \(functions.count)")
                }
                fold.table("grid sort", id: "t-functions", isFocusable: true) { row in
                    for (words, isNumber) in [
                        ("function", false), ("by itself", true), ("with what it calls", true),
                    ] {
                        row.element("th", ["scope": "col", "class": isNumber ? "n" : nil]) {
                            $0.element("button", ["type": "button"], words)
                        }
                    }
                } rows: { body in
                    for function in functions.prefix(Self.most) { row(function, &body) }
                }
            }
        }
    }

    private func row(_ function: Function, _ body: inout Markup) {
        body.element("tr") { row in
            row.element("th", ["scope": "row"]) { $0.element("code", function.name) }
            for cost in [function.own, function.whole] {
                row.element("td", ["class": "n", "data-v": Figure.exact(cost)]) { cell in
                    cell.add(all > 0 ? Figure.percent(cost / all) : Figure.none)
                    cell.element("small", Self.cost(cost, stacks.unit))
                }
            }
        }
        body.raw("\n")
    }
}

extension Reporting {
    /// A page of its own about where a case spent its time.
    package static func flameGraph(_ stacks: FoldedStacks, title: String) -> String {
        FlamePage(stacks: stacks, title: title).text
    }
}
