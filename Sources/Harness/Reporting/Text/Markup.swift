/// HTML and SVG as text. Only this type escapes text and attribute values. Names of elements and attributes come from
/// the code, and are not escaped.
struct Markup {
    private(set) var text = ""
    /// Whether the text is XML instead of HTML: then every attribute has a value, even an empty one.
    let isXML: Bool

    init(isXML: Bool = false) {
        self.isXML = isXML
    }

    /// Leaves out an attribute whose value is nil, so that a caller can write a condition in the dictionary.
    typealias Attributes = KeyValuePairs<String, String?>

    static func escaped(_ text: String) -> String {
        // Most texts need no escape. A byte 0xC2 may begin a control character.
        let isPlain = text.utf8.allSatisfy { byte in
            byte >= 0x20 && byte != 0x7F && byte != 0xC2 && !(byte == 0x22 || byte == 0x26 || byte == 0x27)
                && byte != 0x3C && byte != 0x3E
        }
        if isPlain { return text }
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\t", "\n", "\r": escaped.unicodeScalars.append(scalar)
            case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Adds finished markup, or the page's style or script.
    mutating func raw(_ markup: String) {
        text += markup
    }

    mutating func add(_ words: String) {
        text += Self.escaped(words)
    }

    /// Text in which commands stand between backticks, as in the terminal.
    mutating func prose(_ words: String) {
        let parts = words.split(separator: "`", omittingEmptySubsequences: false)
        guard !parts.count.isMultiple(of: 2) else { return add(words) }
        for (place, part) in parts.enumerated() {
            if place.isMultiple(of: 2) { add(String(part)) } else { element("code", String(part)) }
        }
    }

    mutating func open(_ name: String, _ attributes: Attributes = [:]) {
        text += "<" + name
        for (attribute, value) in attributes {
            guard let value else { continue }
            text += " " + attribute
            if !value.isEmpty || isXML || attribute == "data-v" { text += "=\"" + Self.escaped(value) + "\"" }
        }
        text += ">"
    }

    mutating func close(_ name: String) {
        text += "</" + name + ">"
    }

    mutating func element(_ name: String, _ words: String) {
        element(name, [:], words)
    }

    mutating func element(_ name: String, _ attributes: Attributes, _ words: String) {
        open(name, attributes)
        add(words)
        close(name)
    }

    mutating func element(_ name: String, _ attributes: Attributes = [:], content: (inout Markup) -> Void) {
        open(name, attributes)
        content(&self)
        close(name)
    }

    /// A table in a box that scrolls where the page is narrower.
    ///
    /// - Parameters:
    ///   - isFocusable: whether the keyboard reaches the box, to scroll it.
    ///   - head: writes the cells of the head.
    ///   - rows: writes the rows of the body.
    mutating func table(
        _ style: String? = nil, id: String? = nil, caption: String? = nil, isFocusable: Bool = false,
        head: (inout Markup) -> Void, rows: (inout Markup) -> Void
    ) {
        element("div", ["class": "scroll", "tabindex": isFocusable ? "0" : nil]) { scroll in
            scroll.element("table", ["class": style, "id": id]) { table in
                if let caption { table.element("caption", caption) }
                table.element("thead") { $0.element("tr", content: head) }
                table.element("tbody", content: rows)
            }
        }
    }

    static func build(_ content: (inout Markup) -> Void) -> String {
        var markup = Markup()
        content(&markup)
        return markup.text
    }
}
