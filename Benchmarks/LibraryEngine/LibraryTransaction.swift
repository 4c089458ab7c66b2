import CAssayEngine
import Harness
import PackedRows

extension assay_bytes {
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(data: bytes.baseAddress, size: bytes.count)
    }
}

/// A transaction of a store, used by one thread at a time.
final class LibraryTransaction: KeyValueVersion, KeyValueTransaction, KeyValuePin {
    private let library: EngineLibrary
    private let store: OpaquePointer
    private var handle: OpaquePointer?
    /// Whether the latest failure was a conflict with another transaction.
    private(set) var wasBusy = false

    init(_ store: LibraryStore, _ handle: OpaquePointer) {
        library = store.library
        self.store = store.handle
        self.handle = handle
    }

    @inline(__always)
    private func judge(_ status: Int32, _ call: StaticString) throws(EngineError) {
        if status != 0 { throw failure(status, call) }
    }

    private func failure(_ status: Int32, _ call: StaticString) -> EngineError {
        wasBusy = status == TransactionKind.busy
        return library.error(status, store, call)
    }

    @inline(__always) @discardableResult
    func get(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError) -> Bool {
        guard let value = try get(key) else { return false }
        try body(value)
        return true
    }

    /// The bytes are valid until the next call; nil when there is no such key.
    @inline(__always)
    func get(_ key: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer? {
        var value = assay_bytes()
        let status = library.get(handle, assay_bytes(key), &value)
        if status == TransactionKind.notFound { return nil }
        try judge(status, "get")
        return try buffer(value, "get")
    }

    @inline(__always)
    private func buffer(_ bytes: assay_bytes, _ call: StaticString) throws(EngineError) -> UnsafeRawBufferPointer {
        guard bytes.size >= 0, bytes.data != nil || bytes.size == 0 else {
            throw EngineError(.refused, "\(library.description.name) \(call): it gave a size without bytes")
        }
        return UnsafeRawBufferPointer(start: bytes.data, count: bytes.size)
    }

    @inline(__always)
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(EngineError) {
        try judge(library.put(handle, assay_bytes(key), assay_bytes(value)), "put")
    }

    /// Returns whether there was such a key, as far as the engine can tell.
    @discardableResult
    func delete(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
        let status = library.delete(handle, assay_bytes(key))
        if status == TransactionKind.notFound { return false }
        try judge(status, "delete_key")
        return true
    }

    func delete(_ key: KeyBuffer) throws(EngineError) { try delete(key.bytes) }

    /// The handle is invalid afterwards, also after an error.
    func commit() throws(EngineError) {
        guard let ending = handle else { throw EngineError(.refused, "no transaction is open") }
        handle = nil
        try judge(library.commit(ending), "commit")
    }

    /// Does nothing after the transaction's end.
    func abort() {
        if let handle { library.abort(handle) }
        handle = nil
    }

    func release() { abort() }

    /// Visits entries from one bound to the other, which is excluded, until the body returns false.
    @inline(__always)
    func scan(
        from: UnsafeRawBufferPointer?, to: UnsafeRawBufferPointer?, isBackward: Bool = false,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(EngineError) -> Bool
    ) throws(EngineError) {
        let cursor = try cursor(from, to, isBackward: isBackward)
        defer { end(cursor) }
        var (key, value) = (assay_bytes(), assay_bytes())
        var status = library.next(cursor, &key, &value)
        while status == 0 {
            guard try body(try buffer(key, "next"), try buffer(value, "next")) else { return }
            status = library.next(cursor, &key, &value)
        }
        if status != TransactionKind.notFound { try judge(status, "next") }
    }

    func end(_ cursor: OpaquePointer) { library.endScan(cursor) }

    /// The status of a call of next.
    func answer(_ cursor: OpaquePointer) -> Int32 {
        var (key, value) = (assay_bytes(), assay_bytes())
        return library.next(cursor, &key, &value)
    }

    func cursor(
        _ from: UnsafeRawBufferPointer?, _ to: UnsafeRawBufferPointer?, isBackward: Bool
    ) throws(EngineError) -> OpaquePointer {
        var (first, last) = (assay_bytes(), assay_bytes())
        if let from { first = assay_bytes(from) }
        if let to { last = assay_bytes(to) }
        var cursor: OpaquePointer?
        let status = withUnsafePointer(to: &first) { first in
            withUnsafePointer(to: &last) { last in
                library.scan(
                    handle, from == nil ? nil : first, to == nil ? nil : last, isBackward ? 1 : 0, &cursor)
            }
        }
        try judge(status, "scan")
        guard let cursor else { throw EngineError(.refused, "\(library.description.name) scan: it gave no cursor") }
        return cursor
    }

    @inline(__always)
    func scan(
        _ table: PackedTable, from lowest: Int64, before highest: Int64?,
        _ body: (Int64, UnsafeRawBufferPointer) throws(EngineError) -> Bool
    ) throws(EngineError) {
        let (first, last) = (KeyBuffer(), KeyBuffer())
        first.set(table.number, lowest)
        if let highest { last.set(table.number, highest) } else { last.set(table.number + 1, .min) }
        try scan(from: first.bytes, to: last.bytes) { (key, value) throws(EngineError) in
            guard let number = PackedKey.read(key, of: table.number) else {
                throw EngineError(.refused, "\(library.description.name) next: a key outside of the scan's bounds")
            }
            return try body(number, value)
        }
        withExtendedLifetime((first, last)) {}
    }

    func lastKey(_ table: PackedTable) throws(EngineError) -> Int64? {
        let (first, last) = (KeyBuffer(), KeyBuffer())
        // Descending from the last key that the previous table can have, exclusive.
        last.set(table.number, .max)
        first.set(table.number - 1, .max)
        var found: Int64?
        try scan(from: last.bytes, to: first.bytes, isBackward: true) { (key, _) throws(EngineError) in
            found = PackedKey.read(key, of: table.number)
            return false
        }
        withExtendedLifetime((first, last)) {}
        return found
    }
}
