/// A value for a column. Trivial: no reference counting, no allocation.
///
/// Bytes are borrowed: they must live until the call that takes the cell returns.
package struct Cell {
    package enum Kind: UInt8, Sendable { case null, integer, double, bytes }

    package var kind: Kind
    package var bits: UInt64
    package var base: UnsafeRawPointer?

    @inline(__always)
    init(kind: Kind, bits: UInt64, base: UnsafeRawPointer? = nil) {
        self.kind = kind
        self.bits = bits
        self.base = base
    }

    package static var null: Cell { @inline(__always) get { Cell(kind: .null, bits: 0) } }

    /// An integer, or the key of the row that a link leads to.
    @inline(__always)
    package static func integer(_ value: Int64) -> Cell {
        Cell(kind: .integer, bits: UInt64(bitPattern: value))
    }

    @inline(__always)
    package static func double(_ value: Double) -> Cell { Cell(kind: .double, bits: value.bitPattern) }

    /// Text as UTF-8, data, or the payload of a `links` column (``LinkPayload``).
    @inline(__always)
    package static func bytes(_ value: UnsafeRawBufferPointer) -> Cell {
        Cell(kind: .bytes, bits: UInt64(value.count), base: value.baseAddress)
    }

    @inline(__always) package var isNull: Bool { kind == .null }
    @inline(__always) package var integerValue: Int64 { Int64(bitPattern: bits) }
    @inline(__always) package var doubleValue: Double { Double(bitPattern: bits) }
    @inline(__always) package var count: Int { Int(truncatingIfNeeded: bits) }
    @inline(__always) package var bytesValue: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: kind == .bytes ? count : 0)
    }

    /// A cell for a text, valid during `body`.
    package static func withText<Value, Failure: Error>(
        _ text: String, _ body: (Cell) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var result: Result<Value, Failure>?
        _ = text.utf8.withContiguousStorageIfAvailable { bytes in
            do throws(Failure) {
                result = .success(try body(.bytes(UnsafeRawBufferPointer(bytes))))
            } catch {
                result = .failure(error)
            }
        }
        // A text bridged from another framework may have no contiguous UTF-8.
        guard let result else { return try withCopy(of: Array(text.utf8), body) }
        return try result.get()
    }

    /// A cell for a value, valid during `body`.
    package static func withCopy<Value, Failure: Error>(
        of bytes: [UInt8], _ body: (Cell) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var result: Result<Value, Failure>?
        bytes.withUnsafeBytes { buffer in
            do throws(Failure) { result = .success(try body(.bytes(buffer))) } catch { result = .failure(error) }
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): throw error
        case nil: preconditionFailure("withUnsafeBytes calls its closure")
        }
    }
}
