import RunRecords

/// What a transaction is going to do, for engines that have to know it when the transaction begins.
@usableFromInline
package enum TransactionAccess: Sendable {
    /// It only reads: an engine with versions gives it a snapshot, and no lock.
    case reading
    case writing
}

/// Transactions that the caller begins and ends, over cells that ``TransactionCells`` made. Capability `transactions`.
///
/// A session has one transaction at a time. Its isolation level is the one that the engine promises, by the engine's
/// own means: the adapter adds no lock. If another session holds a lock, the adapter waits or retries, as users of the
/// engine would. A call that throws leaves the transaction open: the caller rolls it back.
package protocol TransactionSession: Session {
    func begin(_ access: TransactionAccess) throws(EngineError)

    /// Reads the number of a cell.
    func read(_ cell: Int) throws(EngineError) -> Int64
    func write(_ cell: Int, _ value: Int64) throws(EngineError)

    /// Reads the text of a cell. A list is one text, with commas between its elements.
    func readText(_ cell: Int) throws(EngineError) -> String
    func writeText(_ cell: Int, _ text: String) throws(EngineError)

    /// If it throws, the caller does not know whether the transaction committed.
    func commit() throws(EngineError)
    func rollback() throws(EngineError)
}

/// An engine returned a text for a cell that no transaction wrote, and reported no error: the harness found the
/// mistake, not the engine.
package struct UnwrittenTextError: Error, CustomStringConvertible {
    package let cell: Int
    package let text: String

    package var description: String { "cell \(cell) has a text that no transaction wrote: \(text.prefix(80))" }
}

extension TransactionSession {
    /// Throws: an `EngineError` for what the engine refused; `UnwrittenTextError` for a text that is not a list.
    package func readList(_ cell: Int) throws -> [Int64] {
        let text = try readText(cell)
        if text.isEmpty { return [] }
        var elements: [Int64] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let element = Int64(part) else { throw UnwrittenTextError(cell: cell, text: text) }
            elements.append(element)
        }
        return elements
    }

    /// Appends an element to the list of a cell, by reading the whole list and writing it back: an element has no row
    /// of its own.
    package func append(_ cell: Int, _ element: Int64) throws(EngineError) {
        let text = try readText(cell)
        try writeText(cell, text.isEmpty ? "\(element)" : "\(text),\(element)")
    }
}

/// The table that transactions work on: persons, since every engine has a class or a table for them. A cell is a row;
/// its number is in `age`, its text in `name`.
@usableFromInline
package enum TransactionCells {
    @usableFromInline
    package static let table = "Person"
    package static let key = "id"
    @usableFromInline
    package static let number = "age"
    @usableFromInline
    package static let text = "name"

    /// Cells from 0 on, each with the number 0 and an empty text.
    package static func tables(count: Int) -> TableSet {
        var names = TextColumn()
        var dogs = LinkListColumn()
        for _ in 0..<count {
            names.append("")
            dogs.append([Int32]())
        }
        return TableSet(
            dataset: "cells",
            tables: [
                Table(
                    name: table, key: key,
                    columns: [
                        Column(key, .integer((0..<count).map { Int64($0) })), Column(text, .text(names)),
                        Column(number, .integer(Array(repeating: 0, count: count))),
                        Column("score", .real(Array(repeating: 0, count: count))),
                        Column("dogs", .links(target: "Dog", dogs)),
                    ]),
                Table(
                    name: "Dog", key: nil,
                    columns: [Column("name", .text(TextColumn())), Column("age", .integer([]))]),
            ], digest: 0)
    }
}
