/// The allowed contents of a disk, by the number of requested operations: the oracle of crashes.
struct Timeline {
    private struct Mark {
        /// Valid from this operation on, until the next mark.
        var operation: Int
        var lowest: Int
        var highest: Int
    }

    /// Before this operation none of `states` had been read.
    private let opened: Int
    private let before: [ProgramState]
    private var states: [ProgramState]
    private var marks: [Mark] = []

    /// - Parameters:
    ///   - before: the contents allowed until the database was open, after `opened` operations.
    ///   - state: the state that was read then.
    init(before: [ProgramState], opened: Int, _ state: ProgramState) {
        self.before = before
        self.opened = opened
        states = [state]
    }

    /// A transaction to `state` begins: the state is allowed from the next operation on.
    mutating func begin(_ state: ProgramState, at operation: Int) {
        states.append(state)
        mark(operation + 1, highest: states.count - 1)
    }

    /// The first `version` transactions were acknowledged or seen, and must stay.
    mutating func keep(_ version: Int, at operation: Int) { mark(operation, lowest: version) }

    /// Every begun transaction must stay.
    mutating func keepAll(at operation: Int) { mark(operation, lowest: states.count - 1) }

    /// Transactions begun.
    var count: Int { states.count - 1 }

    private mutating func mark(_ operation: Int, lowest: Int? = nil, highest: Int? = nil) {
        var place = marks.count
        while place > 0, marks[place - 1].operation > operation { place -= 1 }
        var mark = Mark(operation: operation, lowest: 0, highest: 0)
        if place > 0 { (mark.lowest, mark.highest) = (marks[place - 1].lowest, marks[place - 1].highest) }
        marks.insert(mark, at: place)
        for index in place..<marks.count {
            marks[index].lowest = max(marks[index].lowest, lowest ?? 0)
            marks[index].highest = max(marks[index].highest, highest ?? 0)
        }
    }

    private func bounds(_ operation: Int) -> (lowest: Int, highest: Int) {
        guard let mark = marks.last(where: { $0.operation <= operation }) else { return (0, 0) }
        return (mark.lowest, max(mark.lowest, mark.highest))
    }

    /// The allowed contents of a disk after `operation` requested operations.
    func allowed(_ operation: Int) -> [ProgramState] {
        if operation < opened { return before }
        let (lowest, highest) = bounds(operation)
        return Array(states[lowest...highest])
    }

    /// A number that differs between operations if more transactions must be kept after the later one.
    func context(_ operation: Int) -> UInt64 {
        operation < opened ? 0 : UInt64(bounds(operation).lowest) + 1
    }
}
