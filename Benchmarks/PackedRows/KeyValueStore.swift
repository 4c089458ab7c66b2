import Harness

// What a key-value store has to do for `KeyValueSession`, which does the rest. The loops of the session are
// `@inlinable`: the target of each store has them with the store's own functions inlined.

/// A version of the store, or a transaction: the value of a key.
@usableFromInline
package protocol KeyValueReader {
    /// Runs the body with the value, whose bytes are valid until it returns or writes. Returns whether there is such a
    /// key.
    @discardableResult
    func get(
        _ key: KeyBuffer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError) -> Bool

    /// The same for the key of the catalogue.
    @discardableResult
    func get(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError) -> Bool
}

@usableFromInline
package protocol KeyValueVersion: KeyValueReader {
    /// Visits the rows of a table in key order, from a key on and before another one, until the body returns false.
    func scan(
        _ table: PackedTable, from lowest: Int64, before highest: Int64?,
        _ body: (Int64, UnsafeRawBufferPointer) throws(EngineError) -> Bool
    ) throws(EngineError)

    /// Visits the values of all rows of a table in key order.
    func scanValues(
        _ table: PackedTable, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError)
}

@usableFromInline
package protocol KeyValueWriter: KeyValueReader {
    func put(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) throws(EngineError)
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(EngineError)
    /// A missing key is ignored.
    func delete(_ key: KeyBuffer) throws(EngineError)
    /// The largest key of a table; nil when it has no row.
    func lastKey(_ table: PackedTable) throws(EngineError) -> Int64?
    /// Puts a row after all others of a table that is new.
    func append(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) throws(EngineError)
    /// Puts a row; refuses a key that is there.
    func insert(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer, into table: PackedTable) throws(EngineError)
    /// Makes the tables; refuses if there are any.
    func create(_ catalogue: PackedCatalogue) throws(EngineError)
}

/// A version that a session keeps until it releases it.
@usableFromInline
package protocol KeyValuePin: KeyValueReader {
    func release()
}

/// A transaction that its caller ends.
package protocol KeyValueTransaction: KeyValueWriter {
    func commit() throws(EngineError)
    func abort()
}

extension KeyValueReader {
    @inlinable @inline(__always) @discardableResult
    package func get(
        _ key: KeyBuffer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError) -> Bool { try get(key.bytes, body) }

    /// The stored catalogue; nil where there are no tables yet.
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

    package func create(_ catalogue: PackedCatalogue) throws(EngineError) {
        guard try self.catalogue() == nil else { throw EngineError(.refused, "there are tables already") }
        try PackedCatalogue.withKey { key throws(EngineError) in
            try catalogue.withBytes { bytes throws(EngineError) in try put(key, bytes) }
        }
    }

    /// The key of the next row of a table whose keys are row indexes.
    @inlinable
    package func nextKey(_ table: PackedTable) throws(EngineError) -> Int64 { try lastKey(table).map { $0 + 1 } ?? 0 }

    /// Puts a row under its own key, or under `next`; where that is nil, under the next one of the table.
    @inlinable @inline(__always)
    package func insert(
        _ row: Int, of packer: RowPacker, into table: PackedTable, _ key: KeyBuffer, next: Int64?
    ) throws(EngineError) {
        guard let own = packer.key(row) else {
            if let next { key.set(table.number, next) } else { key.set(table.number, try nextKey(table)) }
            return try put(key, packer.pack(row))
        }
        key.set(table.number, own)
        try insert(key, packer.pack(row), into: table)
    }
}

extension PackedTable {
    @usableFromInline
    package func missing(_ key: Int64) -> EngineError { EngineError(.refused, "table \(name) has no row \(key)") }

    @usableFromInline
    package func taken(_ key: KeyBuffer) -> EngineError {
        EngineError(.refused, "table \(name) has a row \(PackedKey.read(key.bytes, of: number) ?? 0)")
    }
}
