/// The head of every document. Its content security policy forbids any fetch.
enum DocumentHead {
    /// - Parameter style: rules that this page alone needs.
    static func write(title: String, style: String = "", _ html: inout Markup) {
        html.element("head") { head in
            head.open("meta", ["charset": "utf-8"])
            head.open("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
            // With this policy the browser refuses every fetch.
            head.open(
                "meta",
                [
                    "http-equiv": "Content-Security-Policy",
                    "content":
                        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:",
                ])
            head.open("link", ["rel": "icon", "href": "data:,"])
            head.element("title", title)
            head.element("style") { $0.raw(ReportStyle.text + style) }
        }
        html.raw("\n")
    }

    /// The first stop of the tab key: a link that skips the navigation.
    static func skipLink(_ body: inout Markup) {
        body.element("a", ["class": "skip", "href": "#main"], "Skip to the answer")
    }

    static func themeButton(_ brand: inout Markup) {
        brand.element("button", ["id": "theme", "type": "button", "title": "Light or dark; it is kept"], "Theme")
    }

    /// Warnings that cast doubt on the whole document.
    static func warnings(_ warnings: [String], _ main: inout Markup) {
        if warnings.isEmpty { return }
        main.element("section", ["class": "warnings", "role": "alert", "aria-label": "Warnings"]) { section in
            section.element("ul") { list in
                for warning in warnings {
                    list.element("li") { item in
                        item.element("strong", "WARNING")
                        item.add(" ")
                        item.prose(warning)
                    }
                }
            }
        }
    }
}
