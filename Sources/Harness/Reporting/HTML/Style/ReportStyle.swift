/// The style sheet of every page: system fonts, digits of equal width, and colours by name, so that light, dark and
/// paper differ in one place.
enum ReportStyle {
    static var text: String {
        """
        :root { color-scheme: light; \(ColourStyle.light) }
        @media (prefers-color-scheme: dark) {
          :root:not([data-theme=light]) { color-scheme: dark; \(ColourStyle.dark) }
        }
        :root[data-theme=dark] { color-scheme: dark; \(ColourStyle.dark) }
        \(PageStyle.text)
        \(AnswerStyle.text)
        \(TableStyle.text)
        \(CaseStyle.text)
        \(DrawingStyle.text)
        \(ColourStyle.classes)
        \(PageStyle.narrow)
        \(PrintStyle.text)
        """
    }
}

/// Colours by name. Text has a contrast of 4.5 to 1 with every background, marks 3 to 1; tests compute both.
enum ColourStyle {
    /// A colour on a light page and on a dark one.
    typealias Named = (name: String, light: String, dark: String)

    static let named: [Named] = [
        ("bg", "#fdfdfc", "#15181b"), ("raised", "#f4f4f1", "#1d2125"), ("ink", "#1c2024", "#e3e5e7"),
        ("soft", "#525860", "#adb3ba"), ("faint", "#666c74", "#969da5"), ("line", "#e0e0da", "#2c3136"),
        ("link", "#1f5fa8", "#7db4ee"), ("good", "#17683f", "#6cc795"), ("bad", "#b3261e", "#ff8a80"),
        ("doubt", "#7d5200", "#e5b95c"), ("calm", "#4a5a7a", "#a9b9d9"), ("goodbg", "#e6f3ec", "#17301f"),
        ("badbg", "#fbe9e7", "#3b1c1a"), ("doubtbg", "#fbf1dc", "#352a12"), ("calmbg", "#ebeef4", "#222935"),
    ]

    /// The six outcomes, from mild to grave. They differ in lightness, for colour-blind readers. `on-` is the colour of
    /// text on them.
    static let outcomes: [Named] = [
        ("correct", "#cfe8da", "#22442f"), ("on-correct", "#1c2024", "#f2f4f5"),
        ("reported", "#8fbbe3", "#2f618f"), ("on-reported", "#1c2024", "#ffffff"),
        ("excess", "#f0dc94", "#6b5a1c"), ("on-excess", "#1c2024", "#ffffff"),
        ("stopped", "#e8973c", "#f0b060"), ("on-stopped", "#1c2024", "#15181b"),
        ("lost", "#7d1d5f", "#e094c8"), ("on-lost", "#ffffff", "#15181b"),
        ("wrong", "#b3150c", "#ff6d60"), ("on-wrong", "#ffffff", "#15181b"),
    ]

    private static let engines: [Named] = EnginePalette.colours.enumerated().map { slot, colour in
        ("e\(slot)", colour.light, colour.dark)
    }

    static let light = (named + outcomes + engines).map { "--\($0.name):\($0.light)" }.joined(separator: ";")
    static let dark = (named + outcomes + engines).map { "--\($0.name):\($0.dark)" }.joined(separator: ";")

    /// A class per engine slot for lines (`s`) and areas (`f`), and one per outcome.
    static var classes: String {
        let engines = EnginePalette.colours.indices.map { slot in
            ".s\(slot) { stroke: var(--e\(slot)) } .bar.f\(slot) { fill: var(--e\(slot)) }"
        }
        let outcomes = ShownOutcome.allCases.map { outcome in
            let name = outcome.rawValue
            return "svg .o-\(name) { fill: var(--\(name)) } i.o-\(name), i.h-\(name) { background: var(--\(name)) } "
                + ".heat .h-\(name) { background: var(--\(name)); color: var(--on-\(name)) }"
        }
        let aside = ".bar.f\(EnginePalette.aside) { fill-opacity: .3; stroke: var(--e\(EnginePalette.aside)) }"
        return (engines + [aside] + outcomes).joined(separator: "\n")
    }
}
