import RunRecords

/// A witness for people: sentences, then a line per transaction, in 80 columns.
///
/// The time line has no scale: starts and ends are in order at equal distances, so that any overlap is visible, however
/// short.
package struct WitnessText {
    package let witness: Witness

    package init(_ witness: Witness) {
        self.witness = witness
    }

    static let width = 80
    private static let labelWidth = 20

    /// In one line: the anomaly, and the reasons.
    package var sentences: String { ([title] + witness.reasons).joined(separator: " ") }

    private var title: String {
        let name = witness.anomaly.formalName.map { " (\($0))" } ?? ""
        return "\(witness.anomaly.rawValue)\(name): \(witness.anomaly.sentence)."
    }

    package var lines: [String] {
        var lines = Self.wrapped(title, indent: "")
        for reason in witness.reasons { lines += Self.wrapped(reason, indent: "  ") }
        return lines + timeline
    }

    /// The starts and ends of all parties in order; a column each.
    package static func instants(_ witness: Witness) -> [UInt64] {
        let times = witness.parties.flatMap { party in
            [party.transaction.start] + (party.transaction.end == .unknown ? [] : [party.transaction.finish])
        }
        return Array(Set(times)).sorted()
    }

    private var timeline: [String] {
        let instants = Self.instants(witness)
        guard let first = instants.first, let last = instants.last else { return [] }
        let room = Self.width - Self.labelWidth - 1
        let step = Double(room - 1) / Double(max(1, instants.count - 1))
        func column(_ time: UInt64) -> Int {
            let place = instants.firstIndex { $0 >= time } ?? instants.count - 1
            return Int((Double(place) * step).rounded())
        }
        var lines: [String] = []
        for (index, party) in witness.parties.enumerated() {
            let start = column(party.transaction.start)
            let isOpen = party.transaction.end == .unknown
            let end = isOpen ? room - 1 : max(start + 1, column(party.transaction.finish))
            var bar = [Character](repeating: " ", count: room)
            for place in start...min(end, room - 1) { bar[place] = "-" }
            bar[start] = "|"
            bar[min(end, room - 1)] = isOpen ? ">" : "|"
            var label = "  T\(index + 1) \(Self.state(party.transaction)) "
            label += String(repeating: " ", count: max(0, Self.labelWidth - label.count))
            lines.append(Self.trimmed(label + String(bar)))
            var text = party.operations.joined(separator: ", ")
            if party.omitted > 0 { text += text.isEmpty ? "" : ", .." }
            lines += Self.wrapped(text, indent: "     ")
        }
        lines.append("  from start to end: \(OperationText.duration(last - first))")
        return lines
    }

    private static func state(_ transaction: History.Transaction) -> String {
        let end =
            switch transaction.end {
            case .committed: "done"
            case .aborted: "rolled back"
            case .unknown: "unknown"
            }
        return "a\(transaction.actor) \(end)"
    }

    private static func trimmed(_ line: String) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return line
    }

    /// Words in lines of at most `width`; a longer word has its own line, truncated.
    static func wrapped(_ text: String, indent: String) -> [String] {
        var lines: [String] = []
        var line = indent
        for word in text.split(separator: " ") {
            let word = word.prefix(width - indent.count)
            if line.count + word.count + (line == indent ? 0 : 1) > width, line != indent {
                lines.append(line)
                line = indent
            }
            line += (line == indent ? "" : " ") + word
        }
        if line != indent { lines.append(line) }
        return lines
    }

    /// The data of the drawing in the report.
    package var timelineRecord: WitnessTimeline {
        let instants = Self.instants(witness)
        let rows = witness.parties.enumerated().map { index, party in
            let end = party.transaction.end == .unknown ? nil : instants.firstIndex(of: party.transaction.finish)
            return WitnessTimeline.Row(
                name: "T\(index + 1) \(Self.state(party.transaction))",
                start: instants.firstIndex(of: party.transaction.start) ?? 0, end: end,
                operations: party.operations.joined(separator: ", "))
        }
        return WitnessTimeline(
            title: "\(witness.anomaly.rawValue): \(witness.anomaly.sentence)",
            reasons: witness.reasons.joined(separator: " "), rows: rows)
    }
}
