import Harness

// The operations of a key-value store that `KeyValueSession` calls.

/// Looks up values by key: in a version of the store, or in a transaction.
@usableFromInline
package protocol KeyValueReader {
    /// Runs the body with the value of a row's key. The bytes are valid until the body returns or writes. Returns
    /// whether the store has the key.
    @discardableResult
    func get(
        _ key: KeyBuffer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError) -> Bool

    /// Does the same for any key, such as that of the catalogue.
    @discardableResult
    func get(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError) -> Bool
}

@usableFromInline
package protocol KeyValueVersion: KeyValueReader {
    /// Calls the body for the rows of a table in key order, from `lowest` on and before `highest`, until the body
    /// returns false. Without `highest` the scan ends with the table.
    func scan(
        _ table: PackedTable, from lowest: Int64, before highest: Int64?,
        _ body: (Int64, UnsafeRawBufferPointer) throws(EngineError) -> Bool
    ) throws(EngineError)

    /// Calls the body for the values of all rows of a table in key order.
    func scanValues(
        _ table: PackedTable, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError)
}

@usableFromInline
package protocol KeyValueWriter: KeyValueReader {
    func put(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) throws(EngineError)
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(EngineError)
    /// Deletes a row; does nothing if the store lacks the key.
    func delete(_ key: KeyBuffer) throws(EngineError)
    /// The largest key of a table; nil when it has no row.
    func lastKey(_ table: PackedTable) throws(EngineError) -> Int64?
    /// Puts a row of a new table. Its key is larger than those that the caller put before.
    func append(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) throws(EngineError)
    /// Puts a row. Throws if the store has the key.
    func insert(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer, into table: PackedTable) throws(EngineError)
    /// Puts a row under ``nextKey(_:)`` or a later key, which the store does not have yet. The default calls put.
    func insertNew(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) throws(EngineError)
    /// Stores the catalogue, and creates what the store needs for its tables. Throws if the store has a catalogue.
    func create(_ catalogue: PackedCatalogue) throws(EngineError)
}

/// A version that the store keeps readable until the session calls `release`.
@usableFromInline
package protocol KeyValuePin: KeyValueReader {
    func release()
}

/// A transaction that its caller commits or aborts.
@usableFromInline
package protocol KeyValueTransaction: KeyValueWriter {
    func commit() throws(EngineError)
    func abort()
}

extension KeyValueReader {
    @inlinable @inline(__always) @discardableResult
    package func get(
        _ key: KeyBuffer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError) -> Bool { try get(key.bytes, body) }

    /// Reads the stored catalogue; nil if the store has none.
    package func catalogue() throws(EngineError) -> PackedCatalogue? {
        var read: [UInt8]?
        try PackedCatalogue.withKey { key throws(EngineError) in
            _ = try get(key) { bytes throws(EngineError) in read = Array(bytes) }
        }
        guard let read else { return nil }
        return try PackedCatalogue(bytes: read)
    }
}

extension KeyValueVersion {
    @inlinable @inline(__always)
    package func scanValues(
        _ table: PackedTable, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError) {
        try scan(table, from: .min, before: nil) { (_, value) throws(EngineError) in
            try body(value)
            return true
        }
    }
}

extension KeyValueWriter {
    @inlinable @inline(__always)
    package func put(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) throws(EngineError) {
        try put(key.bytes, value)
    }

    @inlinable @inline(__always)
    package func append(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) throws(EngineError) { try put(key, value) }

    @inlinable @inline(__always)
    package func insert(
        _ key: KeyBuffer, _ value: UnsafeRawBufferPointer, into table: PackedTable
    ) throws(EngineError) {
        if try get(key, { (_) throws(EngineError) in }) { throw table.taken(key) }
        try put(key, value)
    }

    @inlinable @inline(__always)
    package func insertNew(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) throws(EngineError) {
        try put(key, value)
    }

    package func create(_ catalogue: PackedCatalogue) throws(EngineError) {
        guard try self.catalogue() == nil else { throw EngineError(.refused, "there are tables already") }
        try PackedCatalogue.withKey { key throws(EngineError) in
            try catalogue.withBytes { bytes throws(EngineError) in try put(key, bytes) }
        }
    }

    /// For a table whose keys are row indexes: the key after the largest one, 0 if the table has no row. Throws if no
    /// key follows, as in a damaged table.
    @inlinable
    package func nextKey(_ table: PackedTable) throws(EngineError) -> Int64 {
        guard let last = try lastKey(table) else { return 0 }
        guard last < .max else { throw Self.noNextKey }
        return last + 1
    }

    /// As ``nextKey(_:)``, if the keys of so many rows follow one another from there.
    @inlinable
    package func firstKey(_ table: PackedTable, of count: Int) throws(EngineError) -> Int64 {
        let first = try nextKey(table)
        guard first <= .max - Int64(count) else { throw Self.noNextKey }
        return first
    }

    @usableFromInline
    static var noNextKey: EngineError { KeyedRows.noNextKey }
}

extension PackedTable {
    @usableFromInline
    package func missing(_ key: Int64) -> EngineError { EngineError(.refused, "table \(name) has no row \(key)") }

    @usableFromInline
    package func taken(_ key: KeyBuffer) -> EngineError {
        EngineError(.refused, "table \(name) has a row \(PackedKey.read(key.bytes, of: number) ?? 0)")
    }
}
