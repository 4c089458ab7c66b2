import CAssayEngine
import Files
import Harness
import PackedRows
import RunRecords

/// The library under test, with a directory of its own for each rule.
final class ConformanceSubject {
    let library: EngineLibrary
    let directory: String

    init(_ library: EngineLibrary, directory: String) {
        self.library = library
        self.directory = directory
    }

    var description: LibraryDescription { library.description }

    /// The strictest class that it supports.
    var durability: DurabilityClass {
        DurabilityClass.allCases.first { description.settings[$0] != nil } ?? .full
    }

    func place(_ name: String) throws -> String {
        let path = directory + "/" + name
        try FileTree.createDirectory(path)
        return path
    }

    /// Opens a store, runs the body and closes the store. An error of the body is thrown after the close.
    func withStore<Output>(
        _ place: String, _ durability: DurabilityClass? = nil, _ body: (LibraryStore) throws -> Output
    ) throws -> Output {
        let store = try LibraryStore(library, directory: place, durability ?? self.durability)
        let output: Output
        do {
            output = try body(store)
        } catch {
            // The error of the body is thrown, whatever the close does.
            do { try store.close() } catch { throw error }
            throw error
        }
        try store.close()
        return output
    }

    /// As ``withStore(_:_:_:)``, with a new store.
    func withStore<Output>(_ body: (LibraryStore) throws -> Output) throws -> Output {
        try withStore(try place("store"), nil, body)
    }
}

extension LibraryStore {
    /// Puts entries, or deletes those without a value, all in one transaction.
    func change(_ entries: [(key: [UInt8], value: [UInt8]?)]) throws(EngineError) {
        try write { transaction throws(EngineError) in
            for entry in entries { try transaction.change(entry.key, entry.value) }
        }
    }

    func change(_ key: String, _ value: String?) throws(EngineError) {
        try change([(Array(key.utf8), value.map { Array($0.utf8) })])
    }

    /// The value under a key, in a transaction of its own.
    func value(_ key: [UInt8]) throws(EngineError) -> [UInt8]? {
        try read { transaction throws(EngineError) in try transaction.value(key) }
    }

    func text(_ key: String) throws(EngineError) -> String? {
        try value(Array(key.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// All entries, by a scan in one transaction.
    func entries() throws(EngineError) -> [ConformanceEntry] {
        try read { transaction throws(EngineError) in try transaction.entries() }
    }
}

struct ConformanceEntry: Hashable {
    var key: [UInt8]
    var value: [UInt8]
}

extension LibraryTransaction {
    func change(_ key: [UInt8], _ value: [UInt8]?) throws(EngineError) {
        try Self.withBytes(key) { key throws(EngineError) in
            guard let value else {
                try self.delete(key)
                return
            }
            try Self.withBytes(value) { value throws(EngineError) in try self.put(key, value) }
        }
    }

    func value(_ key: [UInt8]) throws(EngineError) -> [UInt8]? {
        try Self.withBytes(key) { key throws(EngineError) in try self.get(key).map { Array($0) } }
    }

    func text(_ key: String) throws(EngineError) -> String? {
        try value(Array(key.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    func change(_ key: String, _ value: String?) throws(EngineError) {
        try change(Array(key.utf8), value.map { Array($0.utf8) })
    }

    func entries(
        from: [UInt8]? = nil, to: [UInt8]? = nil, isBackward: Bool = false
    ) throws(EngineError) -> [ConformanceEntry] {
        var entries: [ConformanceEntry] = []
        try Self.withBytes(from ?? []) { first throws(EngineError) in
            try Self.withBytes(to ?? []) { last throws(EngineError) in
                try self.scan(from: from == nil ? nil : first, to: to == nil ? nil : last, isBackward: isBackward) {
                    (key, value) throws(EngineError) in
                    entries.append(ConformanceEntry(key: Array(key), value: Array(value)))
                    // An endless scan is a violation, too.
                    return entries.count < 1_000_000
                }
            }
        }
        return entries
    }

    /// Passes the bytes in memory of their own, which is overwritten afterwards: a library that keeps the pointer then
    /// reads other data. One byte follows in that memory that does not belong to them.
    static func withBytes<Output>(
        _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Output
    ) throws(EngineError) -> Output {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + 1, alignment: 1)
        memory.copyBytes(from: bytes + [0xA5])
        defer {
            memory.initializeMemory(as: UInt8.self, repeating: 0x5A)
            memory.deallocate()
        }
        return try body(UnsafeRawBufferPointer(rebasing: memory[..<bytes.count]))
    }
}
