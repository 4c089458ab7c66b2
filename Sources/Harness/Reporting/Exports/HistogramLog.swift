import Measuring
import RunRecords

/// The latencies of a run as a log of HdrHistogram, version 1.3: a line per case and distribution, in nanoseconds.
///
/// HdrHistogram, with two significant digits, has 128 buckets per power of two, and `Histogram` has 64. Each bucket of
/// the latter is recorded at its middle, as reported percentiles are; the smallest and the largest value are exact.
struct HistogramLog {
    let exported: ExportedRun

    var text: String {
        let header = exported.run.header
        var lines = [
            "#[Histogram log format version 1.3]", "#[Run \(Self.plain(header.id)), values in nanoseconds]",
            "#[StartTime: \(header.startTime).000 (seconds since epoch), \(Figure.time(header.startTime))]",
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"",
        ]
        for (result, named) in exported.histograms {
            let tag = Self.plain("\(exported.name(result.test))/\(result.test.id)/\(named.name)")
            let length = Self.thousandths(Double(result.durationNanoseconds) / 1e9)
            let maximum = Self.thousandths(Double(named.histogram.maximum) / 1e6)
            let bytes = HighDynamicRange(named.histogram).compressed
            lines.append("Tag=\(tag),0.000,\(length),\(maximum),\(Base64.text(bytes))")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// A tag has no comma, space or line end.
    private static func plain(_ text: String) -> String {
        String(text.map { $0.isWhitespace || $0 == "," || $0.isNewline ? "_" : $0 })
    }

    private static func thousandths(_ value: Double) -> String {
        let whole = Int((value * 1_000).rounded())
        let rest = String(whole % 1_000)
        return "\(whole / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}

/// A histogram in the encoding V2 of HdrHistogram.
struct HighDynamicRange {
    private static let digits: UInt32 = 2
    /// 256 values in the first bucket, half as many in each further one.
    private static let halfPower = 7
    /// By index, up to that of the largest value.
    private(set) var counts: [UInt64]
    private let maximum: UInt64

    init(_ histogram: Histogram) {
        maximum = histogram.maximum
        counts = Array(repeating: 0, count: Self.index(histogram.maximum) + 1)
        let sparse = histogram.sparse
        for (place, bucket) in sparse.enumerated() {
            let bounds = Histogram.bucketBounds(bucket.index)
            let middle = bounds.lowerBound + (bounds.upperBound - bounds.lowerBound) / 2
            var left = bucket.count
            // The smallest and largest values are exact.
            for (end, isThere) in [
                (histogram.minimum, place == 0), (histogram.maximum, place == sparse.count - 1),
            ] where isThere && left > 0 {
                counts[Self.index(end)] += 1
                left -= 1
            }
            counts[Self.index(min(max(middle, histogram.minimum), histogram.maximum))] += left
        }
    }

    /// The index of a value's count: unit 1, so that each value below 256 has an index of its own.
    static func index(_ value: UInt64) -> Int {
        let bucket = 64 - (value | 255).leadingZeroBitCount - (halfPower + 1)
        return (bucket << halfPower) + Int(value >> UInt64(bucket))
    }

    /// The bytes that the log encodes: a cookie, a length, and a zlib stream of `encoded`.
    var compressed: [UInt8] {
        let stream = ZlibStream.stored(encoded)
        return Self.bytes(UInt32(0x1C84_9314)) + Self.bytes(UInt32(stream.count)) + stream
    }

    var encoded: [UInt8] {
        let payload = payload
        return Self.bytes(UInt32(0x1C84_9313)) + Self.bytes(UInt32(payload.count)) + Self.bytes(UInt32(0))
            + Self.bytes(Self.digits) + Self.bytes(UInt64(1)) + Self.bytes(max(maximum, 2))
            + Self.bytes((1.0).bitPattern) + payload
    }

    /// Counts as ZigZag numbers of seven bits a byte; a run of zeros is written as its negated length.
    private var payload: [UInt8] {
        var bytes: [UInt8] = []
        var zeros = 0
        for count in counts {
            if count == 0 {
                zeros += 1
                continue
            }
            if zeros > 0 { Self.append(-Int64(zeros), to: &bytes) }
            zeros = 0
            Self.append(Int64(clamping: count), to: &bytes)
        }
        return bytes
    }

    /// The ninth byte has eight bits of the number, so that no number needs ten bytes.
    private static func append(_ number: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: (number << 1) ^ (number >> 63))
        for _ in 0..<8 {
            if rest < 0x80 {
                bytes.append(UInt8(rest))
                return
            }
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}

/// Bytes as an uncompressed zlib stream, which any reader accepts and which needs no library.
enum ZlibStream {
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            stream.append(rest.isEmpty ? 1 : 0)
            for word in [length, ~length] { stream += [UInt8(truncatingIfNeeded: word), UInt8(word >> 8)] }
            stream += block
        } while !rest.isEmpty
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return stream + [UInt8(b >> 8), UInt8(truncatingIfNeeded: b), UInt8(a >> 8), UInt8(truncatingIfNeeded: a)]
    }
}

enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            var four: [UInt8] = []
            for _ in 0..<4 {
                four.append(digits[Int(bits & 63)])
                bits >>= 6
            }
            text += four.reversed().prefix(group.count + 1)
            text += Array(repeating: UInt8(ascii: "="), count: 3 - group.count)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
