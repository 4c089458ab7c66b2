import CDuckDB
import Harness

/// The result of a statement: rows, in chunks of columns.
final class DuckDBResult {
    private let functions: DuckDBFunctions
    private var raw = assay_duckdb_result()
    private var isFilled = false

    init(_ functions: DuckDBFunctions) {
        self.functions = functions
    }

    deinit { destroy() }

    func fill(_ body: (DuckDBFunctions.ResultPlace) -> Int32) throws(EngineError) {
        isFilled = true
        guard body(&raw) == 0 else {
            let message = functions.resultError(&raw).map { String(cString: $0) } ?? "no reason was given"
            let kind = functions.resultErrorType(&raw)
            destroy()
            throw DuckDBConnection.error(message, kind: kind)
        }
    }

    func destroy() {
        guard isFilled else { return }
        isFilled = false
        functions.destroyResult(&raw)
    }

    /// Passes each chunk to the body, in which it is valid.
    @inline(__always)
    func forEachChunk(_ body: (DuckDBChunk) throws(EngineError) -> Void) throws(EngineError) {
        while let handle = functions.fetchChunk(raw) {
            defer {
                var place: DuckDBHandle? = handle
                functions.destroyChunk(&place)
            }
            let count = Int(functions.chunkSize(handle))
            if count == 0 { return }
            try body(DuckDBChunk(handle: handle, count: count, functions: functions))
        }
    }
}

/// Some rows of a result.
struct DuckDBChunk {
    fileprivate let handle: DuckDBHandle
    let count: Int
    fileprivate let functions: DuckDBFunctions

    fileprivate init(handle: DuckDBHandle, count: Int, functions: DuckDBFunctions) {
        self.handle = handle
        self.count = count
        self.functions = functions
    }

    func column(_ index: Int) -> DuckDBVector {
        DuckDBVector(functions.vector(handle, UInt64(index)), functions)
    }
}

/// One column of a chunk, in the library's memory layout.
struct DuckDBVector {
    private let data: UnsafeMutableRawPointer?
    private let validity: UnsafeMutablePointer<UInt64>?
    private let handle: DuckDBHandle?
    private let functions: DuckDBFunctions

    fileprivate init(_ handle: DuckDBHandle?, _ functions: DuckDBFunctions) {
        self.handle = handle
        self.functions = functions
        data = functions.vectorData(handle)
        validity = functions.validity(handle)
    }

    /// The rows of an integer column.
    func integers(_ count: Int) -> UnsafeBufferPointer<Int64> {
        UnsafeBufferPointer(start: data.map { UnsafePointer($0.assumingMemoryBound(to: Int64.self)) }, count: count)
    }

    @inline(__always)
    func isNull(_ row: Int) -> Bool {
        guard let validity else { return false }
        return validity[row >> 6] >> UInt64(row & 63) & 1 == 0
    }

    @inline(__always)
    func integer(_ row: Int) -> Int64 {
        data?.loadUnaligned(fromByteOffset: row * 8, as: Int64.self) ?? 0
    }

    @inline(__always)
    func real(_ row: Int) -> Double {
        data?.loadUnaligned(fromByteOffset: row * 8, as: Double.self) ?? 0
    }

    func boolean(_ row: Int) -> Bool { data?.load(fromByteOffset: row, as: UInt8.self) == 1 }

    /// The lower half of a number of 128 bits: for a sum of integers the wrapping sum.
    func lowerHalf(_ row: Int) -> Int64 {
        data?.loadUnaligned(fromByteOffset: row * 16, as: Int64.self) ?? 0
    }

    /// Texts of up to twelve bytes are inside the vector, others behind a pointer.
    @inline(__always)
    func utf8(_ row: Int) -> UnsafeBufferPointer<UInt8> {
        guard let entry = data?.advanced(by: row * 16) else { return UnsafeBufferPointer(start: nil, count: 0) }
        let count = Int(entry.loadUnaligned(as: UInt32.self))
        let start =
            count <= 12
            ? UnsafeRawPointer(entry.advanced(by: 4))
            : entry.loadUnaligned(fromByteOffset: 8, as: UnsafeRawPointer.self)
        return UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count)
    }

    func text(_ row: Int) -> String { String(decoding: utf8(row), as: UTF8.self) }

    /// The integers of a list.
    func list(_ row: Int) -> [Int] {
        guard let data else { return [] }
        let first = Int(data.loadUnaligned(fromByteOffset: row * 16, as: UInt64.self))
        let count = Int(data.loadUnaligned(fromByteOffset: row * 16 + 8, as: UInt64.self))
        if count == 0 { return [] }
        let child = DuckDBVector(functions.listChild(handle), functions)
        return (first..<first + count).map { Int(child.integer($0)) }
    }
}
