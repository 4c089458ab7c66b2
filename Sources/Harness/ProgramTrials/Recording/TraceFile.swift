import Files

/// Why a trace is unreadable: cut, of another version, or with a gap.
package struct TraceError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// One record of a trace, in the layout of CAssayPreload's `trace.h`.
package struct TraceRecord: Sendable, Equatable {
    /// The numbers of `enum assay_trace_kind`.
    package enum Kind: UInt16, Sendable {
        case start = 1
        case end, create, write, truncate, preallocate, rename, link, unlink, makeDirectory, removeDirectory, sync
        case syncDirectory, syncRange, syncAll, writeBack, output, unseen, past, mode, node
    }

    package var kind: Kind
    package var process: UInt32 = 0
    package var failed = false
    package var inode: UInt64 = 0
    package var offset: Int64 = 0
    package var count: Int64 = 0
    /// Paths as ``BytePath/key``.
    package var path = ""
    package var destination = ""
    package var data: [UInt8] = []
}

/// The records of a trace, from the bytes of its file.
package enum TraceFile {
    package static let version: Int64 = 2
    private static let magic: UInt32 = 0x4159_4153
    private static let headerSize = 64

    /// Throws: `TraceError` for a trace that is cut, has a gap, or was written by another version.
    package static func read(_ bytes: [UInt8]) throws(TraceError) -> [TraceRecord] {
        var records: [TraceRecord] = []
        var place = 0
        while place < bytes.count {
            guard bytes.count - place >= headerSize else { throw cut(records) }
            let size = Int(word(bytes, place + 4))
            guard word(bytes, place) == magic, size >= headerSize else {
                throw TraceError("the trace is damaged behind record \(records.count)")
            }
            guard bytes.count - place >= size else { throw cut(records) }
            guard long(bytes, place + 8) == UInt64(records.count) else {
                throw TraceError("record \(records.count) of the trace is missing")
            }
            records.append(try record(Array(bytes[place..<(place + size)]), number: records.count))
            place += size
        }
        return records
    }

    private static func cut(_ records: [TraceRecord]) -> TraceError {
        TraceError("the trace is cut short behind record \(records.count)")
    }

    private static func record(_ bytes: [UInt8], number: Int) throws(TraceError) -> TraceRecord {
        let kindNumber = UInt16(word(bytes, 20) & 0xFFFF)
        guard let kind = TraceRecord.Kind(rawValue: kindNumber) else {
            throw TraceError("record \(number) of the trace is of a kind that this version does not know")
        }
        var record = TraceRecord(kind: kind)
        record.process = word(bytes, 16)
        record.failed = word(bytes, 20) >> 16 != 0
        record.inode = long(bytes, 24)
        record.offset = Int64(bitPattern: long(bytes, 32))
        record.count = Int64(bitPattern: long(bytes, 40))
        let path = Int(word(bytes, 48))
        let destination = Int(word(bytes, 52))
        let data = Int(clamping: long(bytes, 56))
        guard data <= bytes.count, headerSize + path + destination + data == bytes.count else {
            throw TraceError("record \(number) of the trace is damaged")
        }
        let ends = (headerSize + path, headerSize + path + destination)
        record.path = BytePath(Array(bytes[headerSize..<ends.0])).key
        record.destination = BytePath(Array(bytes[ends.0..<ends.1])).key
        record.data = Array(bytes[ends.1...])
        if kind == .start, record.offset != version {
            throw TraceError(
                "the trace is of version \(record.offset), this program reads \(version): build the preloaded library "
                    + "and this program together")
        }
        return record
    }

    private static func word(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
    }

    private static func long(_ bytes: [UInt8], _ place: Int) -> UInt64 {
        UInt64(word(bytes, place)) | UInt64(word(bytes, place + 4)) << 32
    }
}
