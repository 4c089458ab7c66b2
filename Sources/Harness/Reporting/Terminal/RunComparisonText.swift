import RunRecords

/// A comparison of two runs for a terminal.
struct RunComparisonText: WrappingText {
    let comparison: RunComparison
    let width: Int
    let colour: Bool

    /// The most lines of one kind; further ones are only counted.
    private static let most = 40

    var text: String {
        let count = Figure.count(comparison.common.count, "case", gap: " ")
        var lines = wrapped("\(count) in both runs", lead: "assay compare  ", hang: 2)
        lines += wrapped(facts(comparison.headers.a), lead: "A  \(comparison.directories.a)  ", hang: 3)
        lines += wrapped(facts(comparison.headers.b), lead: "B  \(comparison.directories.b)  ", hang: 3)
        for remark in comparison.remarks { lines += wrapped(remark, lead: "   ", .faint, hang: 5) }
        lines += list("Differs", comparison.differences) { difference in
            ("\(difference.test.title): \(difference.what)", "\(difference.a) in A, \(difference.b) in B")
        }
        lines += list("Only in A", comparison.missing.inB) { ($0.title, "") }
        lines += list("Only in B", comparison.missing.inA) { ($0.title, "") }
        lines += list("Cannot be decided", comparison.undecided) { undecided in
            ("\(undecided.test.title): \(undecided.what)", undecided.reason)
        }
        return (lines + [""] + closing).joined(separator: "\n") + "\n"
    }

    private func facts(_ header: RunHeader) -> String {
        let time = Figure.time(header.startTime).split(separator: "T").joined(separator: " ").filter { $0 != "Z" }
        let commit = header.commit.isEmpty ? "" : ", commit \(header.commit.prefix(12))"
        return "plan \(header.plan), seed \(header.seed), \(time) UTC\(commit)"
    }

    private func list<Element>(
        _ title: String, _ elements: [Element], _ words: (Element) -> (String, String)
    ) -> [String] {
        if elements.isEmpty { return [] }
        var lines = ["", TextStyle.strong.applied(to: title, colour: colour)]
        for element in elements.prefix(Self.most) {
            let (subject, detail) = words(element)
            lines += wrapped(detail.isEmpty ? subject : "\(subject): \(detail)", lead: "  ", hang: 4)
        }
        if elements.count > Self.most { lines.append("  .. and \(elements.count - Self.most) more") }
        return lines
    }

    private var closing: [String] {
        let differing = comparison.differences.count
        let undecided = comparison.undecided.count
        var verdict = "\(Figure.count(differing, "thing", gap: " ")) that repeat exactly differ"
        if differing == 0 { verdict = "nothing differs that repeats exactly" }
        if differing == 1 { verdict = "1 thing that repeats exactly differs" }
        verdict += ", \(Figure.grouped(comparison.equalCount, gap: " ")) are equal"
        if undecided > 0 { verdict += ", \(Figure.grouped(undecided, gap: " ")) cannot be decided" }
        let style: TextStyle = differing > 0 ? .bad : undecided > 0 ? .doubt : .good
        var lines = wrapped(verdict, lead: "VERDICT  ", style, hang: 9)
        if comparison.timedCount > 0 {
            let count = Figure.count(comparison.timedCount, "figure", gap: " ")
            lines += wrapped(
                "\(count) of time or of the process as a whole are not compared: \(comparison.reasonAgainstTimes). "
                    + "Two builds beside each other:", lead: "TIMES  ", .doubt, hang: 7)
            lines.append("  assay ab --a OLD --b NEW \(comparison.headers.b.plan)")
        }
        return lines
    }
}

extension Reporting {
    /// For a terminal of `width` columns.
    package static func terminal(_ comparison: RunComparison, width: Int, colour: Bool) -> String {
        RunComparisonText(comparison: comparison, width: width, colour: colour).text
    }
}
