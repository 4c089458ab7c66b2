/// The head of a table of the class `sort`, which `ReportScript` sorts: a button over each column that has an order.
struct SortHead {
    enum Column {
        case text(String)
        case number(String)
        /// A column without an order, such as one with figures of several units. Numbers stand to the right.
        case unordered(String, isNumber: Bool)
    }

    let columns: [Column]

    func write(_ row: inout Markup) {
        for column in columns {
            switch column {
            case .text(let words): Self.button(words, isNumber: false, &row)
            case .number(let words): Self.button(words, isNumber: true, &row)
            case .unordered(let words, let isNumber):
                row.element("th", ["scope": "col", "class": isNumber ? "n" : nil], words)
            }
        }
    }

    private static func button(_ words: String, isNumber: Bool, _ row: inout Markup) {
        row.element("th", ["scope": "col", "class": isNumber ? "n" : nil]) { cell in
            cell.element("button", ["type": "button"], words)
        }
    }
}
