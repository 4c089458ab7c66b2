/// A history in the input format of the checker Elle: EDN, a map per line, an invocation and a completion for each
/// transaction, in the order of time.
///
/// `:append` and `:r` of lists as its list-append model has them, `:w` and `:r` of registers as its rw-register model.
/// A history with both kinds of keys is exported in two files, one per kind: Elle has a model for each.
package struct ElleExport {
    package let history: History

    package init(_ history: History) {
        self.history = history
    }

    /// - Parameter lists: the operations on lists, or those on registers; transactions without any are left out.
    package func text(lists: Bool) -> String {
        struct Event {
            var time: UInt64
            var isCompletion: Bool
            var transaction: Int
        }
        var events: [Event] = []
        for (index, transaction) in history.transactions.enumerated() {
            guard transaction.operations.contains(where: { history.operations[$0].kind.isList == lists }) else {
                continue
            }
            events.append(Event(time: transaction.start, isCompletion: false, transaction: index))
            events.append(Event(time: transaction.latest, isCompletion: true, transaction: index))
        }
        events.sort { a, b in
            (a.time, a.isCompletion ? 1 : 0, a.transaction) < (b.time, b.isCompletion ? 1 : 0, b.transaction)
        }
        let lastTime = history.transactions.map { $0.end == .unknown ? $0.start : $0.finish }.max() ?? 0
        let processes = processes
        var text = ""
        for (number, event) in events.enumerated() {
            let transaction = history.transactions[event.transaction]
            let type =
                if !event.isCompletion {
                    "invoke"
                } else {
                    switch transaction.end {
                    case .committed: "ok"
                    case .aborted: "fail"
                    case .unknown: "info"
                    }
                }
            // The completion time of an unknown fate is unknown: its line comes last.
            let time = event.time == .max ? lastTime : event.time
            text += "{:type :\(type), :f :txn, :value [\(value(transaction, lists, showsReads: type == "ok"))], "
            text += ":process \(processes[event.transaction]), :time \(time), :index \(number)}\n"
        }
        return text
    }

    /// Elle assumes that a process does nothing after an operation with unknown end: later transactions of the actor
    /// get another process number.
    private var processes: [Int] {
        let actors = Set(history.transactions.map(\.actor)).count
        var next = (history.transactions.map { Int($0.actor) }.max() ?? 0) + 1
        var current: [Int32: Int] = [:]
        current.reserveCapacity(actors)
        var processes = [Int](repeating: 0, count: history.transactions.count)
        let order = history.transactions.indices.sorted {
            history.transactions[$0].start < history.transactions[$1].start
        }
        for index in order {
            let transaction = history.transactions[index]
            processes[index] = current[transaction.actor] ?? Int(transaction.actor)
            guard transaction.end == .unknown else { continue }
            current[transaction.actor] = next
            next += 1
        }
        return processes
    }

    private func value(_ transaction: History.Transaction, _ lists: Bool, showsReads: Bool) -> String {
        transaction.operations.compactMap { index in
            let operation = history.operations[index]
            guard operation.kind.isList == lists else { return nil }
            switch operation.kind {
            case .append: return "[:append \(operation.key) \(operation.value)]"
            case .write: return "[:w \(operation.key) \(operation.value)]"
            case .read:
                // Elle's registers are initially nil.
                let isInitial = operation.value == History.initialValue
                return "[:r \(operation.key) \(showsReads && !isInitial ? String(operation.value) : "nil")]"
            case .readList:
                let list = history.list(operation).map { String($0) }.joined(separator: " ")
                return "[:r \(operation.key) \(showsReads ? "[\(list)]" : "nil")]"
            }
        }.joined(separator: " ")
    }
}
