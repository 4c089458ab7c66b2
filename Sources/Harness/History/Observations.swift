// What reads tell about each key.
//
// Invariants:
// 1. A transaction counts when it committed, or when its fate is unknown and a transaction that counts read its write:
//    then it took effect. Reads of others prove nothing, and are ignored. An unknown fate alone never gives an anomaly.
// 2. The order of a list's elements is that of its longest read. Every other read must be a prefix of it.
// 3. A register's version follows the version that its writer had read before the write. A write without a read is only
//    known to follow the initial value.
// 4. A read of an own write tells nothing about others: only the part of a list before own elements counts.

/// The versions that reads observed and writes made, and the errors of single reads.
struct Observations {
    /// Special values of a version.
    enum Version {
        /// The initial value.
        static let initial: Int32 = -1
        /// A version that gives no order.
        static let none: Int32 = -2
    }

    let history: History
    let writers: WriterIndex
    /// By operation: the transaction, and the key as an index from 0.
    private(set) var owner: [Int32]
    private(set) var key: [Int32]
    private(set) var keyCount = 0
    /// By transaction: whether it counts.
    private(set) var counts: [Bool]
    /// By write: whether it is the last of its transaction to that key.
    private(set) var isFinal: [Bool]
    /// By read: the observed write, `initial` or `none`; for a list the number of elements appended by others.
    private(set) var version: [Int32]
    /// By write to a register: the version that its transaction had read before.
    private(set) var base: [Int32]
    /// By append: its position in the list; -1 while no read contains it.
    private(set) var position: [Int32]
    /// By key: the appends in the order of the longest read; -1 for an element without an append.
    private(set) var order: [[Int32]]
    /// By key: the longest read; -1 for none.
    private(set) var longest: [Int32]
    private(set) var findings = FindingList()

    /// Reads of versions that other transactions made.
    private(set) var foreignReads = 0

    private var scratch: KeyScratch
    private var pending: [Int32] = []

    init(_ history: History) throws(HistoryError) {
        self.history = history
        let operations = history.operations.count
        writers = try WriterIndex(history)
        owner = [Int32](repeating: 0, count: operations)
        for (index, transaction) in history.transactions.enumerated() {
            for operation in transaction.operations { owner[operation] = Int32(index) }
        }
        (key, keyCount) = try Self.numberKeys(history)
        counts = history.transactions.map { $0.end == .committed }
        isFinal = [Bool](repeating: false, count: operations)
        version = [Int32](repeating: Version.none, count: operations)
        base = [Int32](repeating: Version.none, count: operations)
        position = [Int32](repeating: -1, count: operations)
        order = Array(repeating: [], count: keyCount)
        longest = [Int32](repeating: -1, count: keyCount)
        scratch = KeyScratch(keyCount)
        markFinalWrites()
        for index in history.transactions.indices where counts[index] { pending.append(Int32(index)) }
        pending.reverse()
        while let next = pending.popLast() { observe(Int(next)) }
        findLostElements()
    }

    private static func numberKeys(_ history: History) throws(HistoryError) -> ([Int32], Int) {
        var numbers: [Int32: Int32] = [:]
        var isList: [Bool] = []
        var key = [Int32](repeating: 0, count: history.operations.count)
        for (index, operation) in history.operations.enumerated() {
            if operation.kind == .write, operation.value == History.initialValue {
                throw .initialValueWritten(key: Int(operation.key))
            }
            if let number = numbers[operation.key] {
                guard isList[Int(number)] == operation.kind.isList else { throw .mixedKey(Int(operation.key)) }
                key[index] = number
            } else {
                key[index] = Int32(isList.count)
                numbers[operation.key] = Int32(isList.count)
                isList.append(operation.kind.isList)
            }
        }
        return (key, isList.count)
    }

    /// For all transactions: rolled-back writes may be read as well.
    private mutating func markFinalWrites() {
        for (index, transaction) in history.transactions.enumerated() {
            for operation in transaction.operations.reversed() where !history.operations[operation].kind.isRead {
                if scratch.claim(Int(key[operation]), Int32(index)) { isFinal[operation] = true }
            }
        }
        scratch = KeyScratch(keyCount)
    }

    // MARK: One transaction

    private mutating func observe(_ transaction: Int) {
        for index in history.transactions[transaction].operations {
            let operation = history.operations[index]
            let key = Int(key[index])
            _ = scratch.claim(key, Int32(transaction))
            switch operation.kind {
            case .read: observeRead(index, operation, key: key, transaction: transaction)
            case .readList: observeList(index, operation, key: key, transaction: transaction)
            case .write:
                let own = scratch.lastWrite[key]
                let read = scratch.lastRead[key]
                base[index] = own >= 0 ? base[Int(own)] : (read >= 0 ? version[Int(read)] : Version.none)
                scratch.noteWrite(key, Int32(index))
            case .append:
                scratch.noteWrite(key, Int32(index))
            }
        }
    }

    private mutating func observeRead(
        _ index: Int, _ operation: History.Operation, key: Int, transaction: Int
    ) {
        let own = scratch.lastWrite[key]
        if own >= 0 {
            if history.operations[Int(own)].value != operation.value {
                findings.add(.ownWriteUnseen, [transaction], [Int(own), index])
            }
            return
        }
        version[index] = source(of: operation.value, operation.key, read: index, transaction)
        let previous = scratch.lastRead[key]
        if previous >= 0, version[Int(previous)] != version[index] {
            findings.add(.changingRead, [transaction], [Int(previous), index])
        }
        scratch.lastRead[key] = Int32(index)
        let writer = version[index]
        guard writer >= 0 else { return }
        foreignReads += 1
        noteIntermediate(writer, read: index, transaction)
    }

    /// The write of a value that was read, and the error of that read, if any.
    private mutating func source(of value: Int64, _ key: Int32, read: Int, _ transaction: Int) -> Int32 {
        if value == History.initialValue, !history.operations[read].kind.isList { return Version.initial }
        guard let writer = writers.writer(history.operations, key: key, value: value) else {
            findings.add(.unwrittenValue, [transaction], [read])
            return Version.none
        }
        let other = Int(owner[writer])
        if other == transaction {
            // An own value where the caller expects none: read before it was written, or contained twice.
            if writer > read {
                findings.add(.unwrittenValue, [transaction], [read, writer])
            } else {
                findings.add(.duplicateElement, [transaction], [writer, read])
            }
            return Version.none
        }
        switch history.transactions[other].end {
        case .committed: break
        case .aborted: findings.add(.abortedRead, [other, transaction], [writer, read])
        case .unknown:
            if !counts[other] {
                counts[other] = true
                pending.append(Int32(other))
            }
        }
        return Int32(writer)
    }

    private mutating func noteIntermediate(_ writer: Int32, read: Int, _ transaction: Int) {
        let other = Int(owner[Int(writer)])
        guard other != transaction, !isFinal[Int(writer)], history.transactions[other].end != .aborted else { return }
        let later = history.transactions[other].operations.first {
            $0 > Int(writer) && key[$0] == key[Int(writer)] && !history.operations[$0].kind.isRead
        }
        findings.add(.intermediateRead, [other, transaction], [Int(writer), read] + (later.map { [$0] } ?? []))
    }

    // MARK: Lists

    private mutating func observeList(
        _ index: Int, _ operation: History.Operation, key: Int, transaction: Int
    ) {
        guard let foreign = foreignCount(index, operation, key: key, transaction: transaction) else { return }
        let previous = scratch.lastRead[key]
        scratch.lastRead[key] = Int32(index)
        if !agrees(index, operation, count: foreign, key: key, transaction: transaction) { return }
        version[index] = Int32(foreign)
        if previous >= 0, version[Int(previous)] != version[index] {
            findings.add(.changingRead, [transaction], [Int(previous), index])
        }
        guard foreign > 0 else { return }
        foreignReads += 1
        let last = order[key][foreign - 1]
        if last >= 0 { noteIntermediate(last, read: index, transaction) }
    }

    /// The number of elements before the own ones; nil when an own one is missing.
    private mutating func foreignCount(
        _ index: Int, _ operation: History.Operation, key: Int, transaction: Int
    ) -> Int? {
        let list = history.list(operation)
        var own = scratch.lastWrite[key]
        guard own >= 0 else { return list.count }
        // Usually the own elements are the last ones, in order.
        var end = list.endIndex
        while own >= 0, end > list.startIndex, list[end - 1] == history.operations[Int(own)].value {
            end -= 1
            own = scratch.previousWrite(own, owner, history)
        }
        if own < 0 { return end - list.startIndex }
        var first = list.endIndex
        var ownPlaces: Set<Int> = []
        own = scratch.lastWrite[key]
        while own >= 0 {
            let element = history.operations[Int(own)].value
            guard let place = list[..<first].lastIndex(of: element) else {
                findings.add(.ownWriteUnseen, [transaction], [Int(own), index])
                return nil
            }
            first = place
            ownPlaces.insert(place)
            own = scratch.previousWrite(own, owner, history)
        }
        // Another transaction's element follows an own one that was not committed.
        for place in first..<list.endIndex where !ownPlaces.contains(place) {
            _ = source(of: list[place], operation.key, read: index, transaction)
        }
        findings.add(.changingRead, [transaction], [Int(scratch.lastWrite[key]), index])
        return first - list.startIndex
    }

    /// Compares the elements with the longest list so far, and extends that where they are longer.
    private mutating func agrees(
        _ index: Int, _ operation: History.Operation, count: Int, key: Int, transaction: Int
    ) -> Bool {
        let start = Int(operation.value)
        let known = order[key].count
        if longest[key] >= 0 {
            let other = Int(history.operations[Int(longest[key])].value)
            var place = 0
            let common = min(count, known)
            while place < common, history.elements[start + place] == history.elements[other + place] { place += 1 }
            if place < common {
                findings.add(
                    .incompatibleOrders, [Int(owner[Int(longest[key])]), transaction], [Int(longest[key]), index])
                for place in place..<count {
                    _ = source(of: history.elements[start + place], operation.key, read: index, transaction)
                }
                return false
            }
        }
        guard count > known || longest[key] < 0 else { return true }
        for place in known..<max(known, count) {
            let writer = source(of: history.elements[start + place], operation.key, read: index, transaction)
            order[key].append(max(writer, -1))
            guard writer >= 0 else { continue }
            if position[Int(writer)] >= 0 {
                findings.add(.duplicateElement, [Int(owner[Int(writer)]), transaction], [Int(writer), index])
            } else {
                position[Int(writer)] = Int32(place)
            }
        }
        longest[key] = Int32(index)
        return true
    }

    /// Acknowledged elements that the last read of their list lacks, though it began after all their commits.
    private mutating func findLostElements() {
        var lastFinish = [UInt64](repeating: 0, count: keyCount)
        var lastRead = [Int32](repeating: -1, count: keyCount)
        for (index, operation) in history.operations.enumerated() where operation.kind.isList {
            let transaction = history.transactions[Int(owner[index])]
            let key = Int(key[index])
            guard transaction.end == .committed else { continue }
            if operation.kind == .append {
                lastFinish[key] = max(lastFinish[key], transaction.finish)
            } else if lastRead[key] < 0
                || transaction.start > history.transactions[Int(owner[Int(lastRead[key])])].start
            {
                lastRead[key] = Int32(index)
            }
        }
        var present: [Int: Set<Int64>] = [:]
        for (index, operation) in history.operations.enumerated() where operation.kind == .append {
            let key = Int(key[index])
            let read = Int(lastRead[key])
            guard history.transactions[Int(owner[index])].end == .committed, read >= 0,
                history.transactions[Int(owner[read])].start > lastFinish[key]
            else { continue }
            let isThere: Bool
            if version[read] >= 0 {
                isThere = position[index] >= 0 && position[index] < version[read]
            } else {
                let set = present[key] ?? Set(history.list(history.operations[read]))
                present[key] = set
                isThere = set.contains(operation.value)
            }
            if !isThere { findings.add(.lostElement, [Int(owner[index]), Int(owner[read])], [index, read]) }
        }
    }
}

/// What the current transaction did to each key before: arrays by key that a stamp clears.
struct KeyScratch {
    private var stamp: [Int32]
    fileprivate(set) var lastWrite: [Int32]
    var lastRead: [Int32]

    init(_ keys: Int) {
        stamp = [Int32](repeating: -1, count: keys)
        lastWrite = [Int32](repeating: -1, count: keys)
        lastRead = [Int32](repeating: -1, count: keys)
    }

    /// Whether this is the transaction's first access to the key, about which nothing is known then.
    @inline(__always)
    mutating func claim(_ key: Int, _ transaction: Int32) -> Bool {
        guard stamp[key] != transaction else { return false }
        stamp[key] = transaction
        lastWrite[key] = -1
        lastRead[key] = -1
        return true
    }

    mutating func noteWrite(_ key: Int, _ operation: Int32) { lastWrite[key] = operation }

    /// The previous write of the same transaction to the same key; -1 when there is none.
    func previousWrite(_ operation: Int32, _ owner: [Int32], _ history: History) -> Int32 {
        let own = history.operations[Int(operation)]
        let first = Int(history.transactions[Int(owner[Int(operation)])].first)
        var index = Int(operation) - 1
        while index >= first {
            let other = history.operations[index]
            if other.key == own.key, !other.kind.isRead { return Int32(index) }
            index -= 1
        }
        return -1
    }
}

/// Findings by anomaly: the count, and the first with its transactions and operations.
struct FindingList {
    struct Direct {
        var transactions: [Int]
        var operations: [Int]
        var count: Int
    }

    private(set) var found: [Anomaly: Direct] = [:]

    mutating func add(_ anomaly: Anomaly, _ transactions: [Int], _ operations: [Int]) {
        if found[anomaly] != nil {
            found[anomaly]?.count += 1
        } else {
            found[anomaly] = Direct(transactions: transactions, operations: operations, count: 1)
        }
    }
}
