/// The operations and observations of actors on a database, by transaction, in flat arrays: a million operations take
/// some 60 MB instead of a million objects.
///
/// Rules for recording:
/// 1. Keys are registers, which are read and written as a whole, or lists, which are read as a whole and appended to. A
///    key has one kind for the whole history.
/// 2. No two writes give a register the same value, and no two appends a list the same element, whatever their fate: a
///    value identifies its writer. A register without a write reads ``initialValue``, which is never written; a list
///    without an append is empty.
/// 3. All times come from one monotonic clock: a start is taken before the first call of a transaction, an end after
///    the last call has returned.
/// 4. A transaction of unknown fate (its process was killed, its commit failed) is recorded with every operation that
///    it may have done.
///
/// Size: 24 bytes an operation, 32 a transaction, 8 per element of a list that was read.
package struct History: Sendable {
    /// The fate of a transaction.
    package enum End: UInt8, Sendable, CaseIterable {
        /// The engine acknowledged the commit.
        case committed
        /// It was rolled back, and the engine confirmed it.
        case aborted
        /// Unknown: it may have committed or not.
        case unknown
    }

    package struct Operation: Sendable, Hashable {
        package enum Kind: UInt8, Sendable {
            case read, write, readList, append

            package var isList: Bool { self == .readList || self == .append }
            package var isRead: Bool { self == .read || self == .readList }
        }

        /// For a read of a list: the index of its first element in ``History/elements``. Else the value.
        package var value: Int64
        package var key: Int32
        /// For a read of a list: the number of its elements.
        package var count: Int32
        package var kind: Kind
    }

    package struct Transaction: Sendable, Hashable {
        package var start: UInt64
        /// Meaningless for an unknown fate, which may take effect at any time after its start.
        package var finish: UInt64
        /// The thread or process that ran it.
        package var actor: Int32
        /// The index of its first operation.
        package var first: Int32
        package var count: Int32
        package var end: End

        package var operations: Range<Int> { Int(first)..<(Int(first) + Int(count)) }
        /// The latest time of its end: unbounded for an unknown fate.
        package var latest: UInt64 { end == .unknown ? .max : finish }
    }

    /// The content of a register before its first write.
    package static let initialValue: Int64 = 0

    package private(set) var transactions: [Transaction] = []
    package private(set) var operations: [Operation] = []
    package private(set) var elements: [Int64] = []

    package init() {}

    /// Reserves capacity for a history of that size, so that nothing is copied while it grows.
    package init(capacityOfTransactions transactions: Int, operations: Int, elements: Int) {
        self.transactions.reserveCapacity(transactions)
        self.operations.reserveCapacity(operations)
        self.elements.reserveCapacity(elements)
    }

    // MARK: Recording

    /// Begins a transaction: the following operations belong to it, until ``end(_:at:)``.
    package mutating func begin(actor: Int, at start: UInt64) {
        transactions.append(
            Transaction(
                start: start, finish: .max, actor: Int32(truncatingIfNeeded: actor), first: Int32(operations.count),
                count: 0, end: .unknown))
    }

    package mutating func read(_ key: Int, _ value: Int64) { add(.read, key, value: value, count: 0) }
    package mutating func write(_ key: Int, _ value: Int64) { add(.write, key, value: value, count: 0) }
    package mutating func append(_ key: Int, _ element: Int64) { add(.append, key, value: element, count: 0) }

    package mutating func readList(_ key: Int, _ list: some Collection<Int64>) {
        let first = elements.count
        elements.append(contentsOf: list)
        add(.readList, key, value: Int64(first), count: Int32(list.count))
    }

    private mutating func add(_ kind: Operation.Kind, _ key: Int, value: Int64, count: Int32) {
        precondition(!transactions.isEmpty, "an operation outside of a transaction")
        operations.append(Operation(value: value, key: Int32(key), count: count, kind: kind))
        transactions[transactions.count - 1].count += 1
    }

    package mutating func end(_ end: End, at finish: UInt64) {
        transactions[transactions.count - 1].end = end
        transactions[transactions.count - 1].finish = finish
    }

    /// Adds the record of another actor.
    package mutating func add(_ other: History) {
        let (operation, element) = (Int32(operations.count), Int64(elements.count))
        for transaction in other.transactions {
            var transaction = transaction
            transaction.first += operation
            transactions.append(transaction)
        }
        for own in other.operations {
            var own = own
            if own.kind == .readList { own.value += element }
            operations.append(own)
        }
        elements += other.elements
    }

    // MARK: Looking

    /// The elements that a read of a list returned.
    package func list(_ operation: Operation) -> ArraySlice<Int64> {
        elements[Int(operation.value)..<(Int(operation.value) + Int(operation.count))]
    }

    package func count(of end: End) -> Int { transactions.count { $0.end == end } }

    /// Transactions that ran concurrently with one of another actor: without any, a history shows nothing about
    /// concurrency. A transaction of unknown fate counts with its start only.
    ///
    /// Complexity: O(n log n).
    package var overlapCount: Int {
        let order = transactions.indices.sorted { transactions[$0].start < transactions[$1].start }
        var isOverlapping = [Bool](repeating: false, count: transactions.count)
        // The two latest ends so far of two different actors: one of them is not the present actor's.
        var latest: (end: UInt64, index: Int)?
        var second: (end: UInt64, index: Int)?
        for index in order {
            let transaction = transactions[index]
            for other in [latest, second].compactMap({ $0 })
            where transactions[other.index].actor != transaction.actor && other.end > transaction.start {
                isOverlapping[index] = true
                isOverlapping[other.index] = true
            }
            let end = transaction.end == .unknown ? transaction.start : transaction.finish
            if latest.map({ end >= $0.end }) ?? true {
                if let latest, transactions[latest.index].actor != transaction.actor { second = latest }
                latest = (end, index)
            } else if let first = latest, transactions[first.index].actor != transaction.actor,
                second.map({ end > $0.end }) ?? true
            {
                second = (end, index)
            }
        }
        return isOverlapping.count { $0 }
    }
}
