import FaultModel
import SimulatedDisk
import StrataFiles

/// The simplest correct engine: it writes everything to a temporary file, syncs it, renames it over the old one and
/// syncs the directory. Planted mistakes show that the simulation finds them.
///
/// For one thread: its state has no guard.
class ShadowFileProgram: SimulatedProgram, @unchecked Sendable {
    enum Mistake { case noSync, noDirectorySync, writesInPlace, swallowsErrors }

    class var mistake: Mistake? { nil }

    private let disk: SimulatedDisk
    private var state = ProgramState()

    required init(_ disk: SimulatedDisk) { self.disk = disk }

    static func open(_ disk: SimulatedDisk, _ scheduling: any Scheduling) throws -> Self {
        let program = self.init(disk)
        if try disk.status("database") == nil { return program }
        let file = try disk.open("database", .read)
        program.state = try decode(file.get(Int(file.size())))
        // The previous process's writes may still be only in the cache.
        try program.save(program.state)
        return program
    }

    func commit(_ changes: () -> [ProgramChange]) throws {
        var next = state
        next.apply(changes())
        try save(next)
        state = next
    }

    private func save(_ next: ProgramState) throws {
        let bytes = Self.encode(next)
        let path = Self.mistake == .writesInPlace ? "database" : "database.tmp"
        let file = try disk.open(path, .createOrOpen)
        try file.truncate(to: 0)
        // In pieces, like a program with a buffer.
        for start in stride(from: 0, to: bytes.count, by: 6_000) {
            try file.put(Array(bytes[start..<min(bytes.count, start + 6_000)]), at: Int64(start))
        }
        if Self.mistake == .swallowsErrors {
            try? file.syncData()
        } else if Self.mistake != .noSync {
            try file.syncData()
        }
        if Self.mistake != .writesInPlace { try disk.rename(path, to: "database") }
        if Self.mistake != .noDirectorySync { try disk.syncDirectory(of: "database") }
    }

    func pin() throws -> () throws -> UInt64 {
        let digest = state.digest
        return { digest }
    }

    func check() throws {}
    func close() throws {}

    struct Damaged: Error {}

    private static func encode(_ state: ProgramState) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ value: Int64) { withUnsafeBytes(of: value.littleEndian) { bytes += Array($0) } }
        for (key, row) in state.rows.sorted(by: { $0.key < $1.key }) {
            append(key)
            append(row.number)
            append(Int64(row.text.count))
            bytes += row.text
        }
        let digest = bytes.withUnsafeBytes(ByteDigest.hash)
        append(Int64(bitPattern: digest))
        return bytes
    }

    private static func decode(_ bytes: [UInt8]) throws -> ProgramState {
        var changes: [ProgramChange] = []
        var place = 0
        func next() throws -> Int64 {
            guard place + 8 <= bytes.count else { throw Damaged() }
            defer { place += 8 }
            return bytes.withUnsafeBytes {
                Int64(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: Int64.self))
            }
        }
        while place + 8 < bytes.count {
            let key = try next()
            let number = try next()
            let count = Int(try next())
            guard count >= 0, place + count <= bytes.count else { throw Damaged() }
            let row = ProgramRow(number: number, text: Array(bytes[place..<(place + count)]))
            changes.append(ProgramChange(key: key, row: row))
            place += count
        }
        let digest = bytes.prefix(place).withUnsafeBytes { ByteDigest.hash($0) }
        let found = try next()
        if found != Int64(bitPattern: digest) { throw Damaged() }
        var state = ProgramState()
        state.apply(changes)
        return state
    }
}

// For one thread, as its superclass.
final class ShadowFileWithoutSync: ShadowFileProgram, @unchecked Sendable {
    override class var mistake: Mistake? { .noSync }
}

// For one thread, as its superclass.
final class ShadowFileWithoutDirectorySync: ShadowFileProgram, @unchecked Sendable {
    override class var mistake: Mistake? { .noDirectorySync }
}

// For one thread, as its superclass.
final class ShadowFileInPlace: ShadowFileProgram, @unchecked Sendable {
    override class var mistake: Mistake? { .writesInPlace }
}

// For one thread, as its superclass.
final class ShadowFileSwallowingErrors: ShadowFileProgram, @unchecked Sendable {
    override class var mistake: Mistake? { .swallowsErrors }
}

extension File {
    func put(_ bytes: [UInt8], at offset: Int64) throws {
        let failure: FileError? = bytes.withUnsafeBytes { buffer in
            do throws(FileError) {
                try write(buffer, at: offset)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    func get(_ count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
    }
}
