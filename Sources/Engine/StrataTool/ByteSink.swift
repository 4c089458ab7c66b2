import Commands
import StrataFiles

/// Bytes on their way to a file or standard output, in pieces of 64 KiB.
final class ByteSink {
    private var bytes: [UInt8] = []
    private var offset: Int64 = 0
    private let file: (any File)?
    private let path: String?

    /// - Parameter file: nil for standard output.
    init(_ file: (any File)?, at path: String? = nil) {
        self.file = file
        self.path = path
        bytes.reserveCapacity(80 << 10)
    }

    func put(_ text: String) { bytes.append(contentsOf: text.utf8) }

    func put(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    func put(_ byte: UInt8) { bytes.append(byte) }

    /// Called after each row, and between the parts of a large one: writes the bytes if they fill a piece.
    func endRow() throws { if bytes.count >= 64 << 10 { try flush() } }

    func flush() throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        guard let file else { return try Output.write(bytes) }
        try bytes.withUnsafeBytes { try file.write($0, at: offset) }
        offset += Int64(bytes.count)
    }
}

extension ByteSink {
    /// Removes the file if nothing was written to it.
    func removeIfEmpty() throws {
        guard let path, offset == 0 else { return }
        try naming(path) { try POSIXFileSystem().remove(path) }
    }
}

/// A size as people read it.
func readable(_ bytes: Int) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var value = Double(bytes)
    var unit = 0
    while value >= 1024 && unit + 1 < units.count {
        value /= 1024
        unit += 1
    }
    return unit == 0 ? "\(bytes) bytes" : "\(decimal(value, 1)) \(units[unit])"
}

/// A number with this many digits behind the point.
func decimal(_ value: Double, _ digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = (value * scale).rounded()
    guard digits > 0, scaled.magnitude < 1e15 else {
        return "\(Int(clamping: Int64(scaled.magnitude < 1e18 ? scaled : 0)))"
    }
    let whole = Int(scaled) / Int(scale)
    let rest = String(abs(Int(scaled) % Int(scale)))
    return "\(whole)." + String(repeating: "0", count: digits - rest.count) + rest
}
