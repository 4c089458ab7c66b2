import StrataFiles

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Standard output and standard error.
enum Output {
    /// - Throws: `ToolError` when the output cannot be written.
    static func line(_ text: String = "") throws { try write(Array((text + "\n").utf8), to: STDOUT_FILENO) }

    static func error(_ text: String) {
        do { try write(Array((text + "\n").utf8), to: STDERR_FILENO) } catch { return }
    }

    /// Writes over the line that the last call wrote, on a terminal; nothing elsewhere.
    static func progress(_ text: String) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        do { try write(Array("\r\u{1B}[K\(text)".utf8), to: STDERR_FILENO) } catch { return }
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer -> Int in
                guard let base = buffer.baseAddress else { return 0 }
                #if canImport(Glibc)
                    return Glibc.write(descriptor, base + done, buffer.count - done)
                #else
                    return Darwin.write(descriptor, base + done, buffer.count - done)
                #endif
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw ToolError("standard output: \(String(cString: strerror(errno)))")
            }
            done += count
        }
    }

    /// Seconds since some moment.
    static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Bytes on their way to a file or standard output, in pieces of 64 KiB.
final class ByteSink {
    private var bytes: [UInt8] = []
    private var offset: Int64 = 0
    private let file: (any File)?

    /// - Parameter file: nil for standard output.
    init(_ file: (any File)?) {
        self.file = file
        bytes.reserveCapacity(80 << 10)
    }

    func put(_ text: String) { bytes.append(contentsOf: text.utf8) }

    func put(_ byte: UInt8) { bytes.append(byte) }

    /// Goes to the file when a piece is full.
    func endRow() throws { if bytes.count >= 64 << 10 { try flush() } }

    func flush() throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        guard let file else { return try Output.write(bytes, to: STDOUT_FILENO) }
        try bytes.withUnsafeBytes { try file.write($0, at: offset) }
        offset += Int64(bytes.count)
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

/// A number with so many digits behind the point.
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
