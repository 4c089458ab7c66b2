/// The smallest example of an anomaly that was found: its transactions, why each comes before the next, and the
/// operations that show it.
package struct Witness: Sendable {
    /// A transaction as it is shown: T1, T2 and on.
    package struct Party: Sendable {
        package var transaction: History.Transaction
        /// Its number in the history.
        package var index: Int
        /// As text, in the order of execution.
        package var operations: [String]
        /// The number of its other operations.
        package var omitted: Int
    }

    package let anomaly: Anomaly
    package private(set) var parties: [Party] = []
    /// The conclusions from the reads, a sentence each.
    package private(set) var reasons: [String] = []

    /// By their indexes in the history.
    package var transactions: [Int] { parties.map(\.index) }

    /// For an error of single reads.
    init(_ anomaly: Anomaly, _ found: FindingList.Direct, _ history: History) {
        self.anomaly = anomaly
        let owners = found.transactions
        setParties(owners, operations: Set(found.operations), history)
        reasons = Self.reasons(anomaly, found, history)
    }

    /// For a cycle: the edges in order, from the transaction that started first; with a conflict with real time in the
    /// given order, whose last edge is that of real time.
    init(_ anomaly: Anomaly, _ circle: [DependencyGraph.Edge], _ seen: Observations) {
        self.anomaly = anomaly
        var circle = circle
        let starts = circle.map { seen.history.transactions[Int($0.from)].start }
        if anomaly != .realTime, let first = starts.indices.min(by: { starts[$0] < starts[$1] }) {
            circle = Array(circle[first...] + circle[..<first])
        }
        let operations = circle.flatMap { [Int($0.fromOperation), Int($0.toOperation)] }.filter { $0 >= 0 }
        setParties(circle.map { Int($0.from) }, operations: Set(operations), seen.history)
        for (place, edge) in circle.enumerated() {
            let (first, second) = ("T\(place + 1)", "T\((place + 1) % circle.count + 1)")
            reasons.append(Self.reason(edge, first, second: second, seen: seen))
        }
        reasons.append(
            "So "
                + circle.indices.map { "T\($0 + 1) comes before T\(($0 + 1) % circle.count + 1)" }
                .joined(separator: ", ") + ": no order has that.")
    }

    private mutating func setParties(_ transactions: [Int], operations: Set<Int>, _ history: History) {
        for index in transactions {
            let own = history.transactions[index]
            let shown = own.operations.filter { operations.contains($0) }
            parties.append(
                Party(
                    transaction: own, index: index,
                    operations: shown.map { OperationText.short(history.operations[$0], history) },
                    omitted: Int(own.count) - shown.count))
        }
    }

    private static func reason(
        _ edge: DependencyGraph.Edge, _ first: String, second: String, seen: Observations
    ) -> String {
        let history = seen.history
        guard edge.fromOperation >= 0, edge.toOperation >= 0 else {
            let between =
                history.transactions[Int(edge.to)].start - history.transactions[Int(edge.from)].finish
            return "\(first) had ended \(OperationText.duration(between)) before \(second) began."
        }
        let (from, to) = (history.operations[Int(edge.fromOperation)], history.operations[Int(edge.toOperation)])
        let key = from.kind.isList ? "list \(from.key)" : "key \(from.key)"
        switch edge.kind {
        case .realTime: return "\(first) had ended before \(second) began."
        case .writeWrite:
            return from.kind.isList
                ? "\(first) appended \(from.value) to \(key) before \(second) appended \(to.value)."
                : "\(second) wrote \(to.value) to \(key) over the \(from.value) of \(first)."
        case .writeRead:
            if from.kind.isList { return "\(second) read \(key) with the \(from.value) that \(first) appended." }
            return to.value == from.value
                ? "\(second) read \(from.value) from \(key), which \(first) wrote."
                : "\(second) read \(to.value) from \(key), which was made from the \(from.value) of \(first)."
        case .readWrite:
            return from.kind.isList
                ? "\(first) read \(key) without the \(to.value) that \(second) appended."
                : "\(first) read \(from.value) from \(key), which \(second) wrote over with \(to.value)."
        }
    }

    private static func reasons(_ anomaly: Anomaly, _ found: FindingList.Direct, _ history: History) -> [String] {
        let operations = found.operations.map { history.operations[$0] }
        guard let first = operations.first, let last = operations.last else { return [] }
        let key = first.kind.isList ? "list \(first.key)" : "key \(first.key)"
        func short(_ operation: History.Operation) -> String { OperationText.short(operation, history) }
        switch anomaly {
        case .unwrittenValue:
            if operations.count > 1 { return ["T1 had \(short(first)), and only after that \(short(last))."] }
            return ["T1 had \(short(first)), and not all of it was ever written."]
        case .duplicateElement:
            let reader = found.transactions.count > 1 ? "T2" : "it"
            return ["T1 appended \(first.value) to \(key) once; \(reader) had \(short(last))."]
        case .lostElement:
            let (writer, reader) = (found.transactions[0], found.transactions[1])
            let between = history.transactions[reader].start - history.transactions[writer].finish
            return [
                "T1 appended \(first.value) to \(key), and was told that it is done.",
                "T2 began \(OperationText.duration(between)) later, after the last append to it, and had "
                    + "\(short(last)).",
            ]
        case .incompatibleOrders:
            return ["T1 had \(short(first)), T2 \(short(last)): neither goes on where the other ends."]
        case .abortedRead: return ["T1 had \(short(first)) and was rolled back; T2 had \(short(operations[1]))."]
        case .intermediateRead:
            let later = operations.count > 2 ? ", and \(short(operations[2])) afterwards" : ""
            return ["T1 had \(short(first))\(later); T2 had \(short(operations[1])), which is what was there between."]
        case .ownWriteUnseen: return ["T1 had \(short(first)) and then \(short(last))."]
        case .changingRead: return ["T1 had \(short(first)) and then \(short(last))."]
        default: return []
        }
    }
}

/// Short text of operations.
package enum OperationText {
    /// The last elements of a long list, which identify its version.
    private static let shownElements = 5

    package static func short(_ operation: History.Operation, _ history: History) -> String {
        switch operation.kind {
        case .read: return "read k\(operation.key) = \(operation.value)"
        case .write: return "write k\(operation.key) = \(operation.value)"
        case .append: return "append l\(operation.key) + \(operation.value)"
        case .readList:
            let list = history.list(operation)
            let shown = list.suffix(shownElements).map { String($0) }.joined(separator: " ")
            return "read l\(operation.key) = [\(list.count > shownElements ? ".. " : "")\(shown)]"
        }
    }

    package static func duration(_ nanoseconds: UInt64) -> String {
        if nanoseconds < 10_000 { return "\(nanoseconds) ns" }
        if nanoseconds < 10_000_000 { return "\(nanoseconds / 1000) us" }
        return "\(nanoseconds / 1_000_000) ms"
    }
}
