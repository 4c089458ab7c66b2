/// What the file of a shared library (ELF, 64 bits, little-endian) tells the loader: its own name, the libraries that
/// it needs, and the symbols that it imports.
///
/// Every offset and length is checked against the file: a truncated or forged file gives fewer facts, and crashes
/// nothing.
package struct SharedObject: Sendable, Equatable {
    /// The name that programs linked with it look for; empty if it has none.
    package private(set) var name = ""
    /// Names of the libraries that it needs.
    package private(set) var needed: [String] = []
    /// Names of functions and data that it imports.
    package private(set) var imports: Set<String> = []

    /// Called when a C assertion fails, and imported only by code that was compiled without NDEBUG.
    private static let failures: Set<String> = ["__assert_fail", "__assert_perror_fail", "__assert"]

    /// Whether it contains assertions, which end the process when they fail.
    package var hasAssertions: Bool { !imports.isDisjoint(with: Self.failures) }

    /// nil if there is no shared library of this kind at the path.
    package init?(path: String) {
        guard let object = MappedFile.read(path, { SharedObject(bytes: $0) }) else { return nil }
        self = object
    }

    /// nil if the bytes are not a shared library of this kind.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard let image = ELFImage(bytes) else { return nil }
        let table = image.dynamicTable
        name = table[ELFImage.Tag.soname].first.map { image.string(at: $0) } ?? ""
        needed = table[ELFImage.Tag.needed].map { image.string(at: $0) }
        imports = image.undefinedNames
    }
}

/// The parts of an ELF file that the loader reads.
private struct ELFImage {
    enum Tag {
        static let needed: UInt64 = 1
        static let soname: UInt64 = 14
        static let hash: UInt64 = 4
        static let strings: UInt64 = 5
        static let symbols: UInt64 = 6
        static let stringsSize: UInt64 = 10
        static let gnuHash: UInt64 = 0x6FFF_FEF5
    }

    struct Dynamic {
        fileprivate var values: [UInt64: [UInt64]] = [:]

        subscript(tag: UInt64) -> [UInt64] { values[tag] ?? [] }
    }

    private struct Segment {
        var fileOffset: UInt64
        var address: UInt64
        var size: UInt64
    }

    private static let symbolSize = 24
    /// More symbols than any library has, to bound the cost of a forged count.
    private static let most = 1 << 22

    private let bytes: UnsafeRawBufferPointer
    private var segments: [Segment] = []
    private(set) var dynamicTable = Dynamic()

    init?(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        // Magic, 64 bits, little-endian.
        guard bytes.count >= 64, Array(bytes[0..<6]) == [0x7F, 0x45, 0x4C, 0x46, 2, 1] else { return nil }
        guard let start = number(UInt64.self, at: 32), let size = number(UInt16.self, at: 54),
            let count = number(UInt16.self, at: 56), size >= 56
        else { return nil }
        var dynamic: Segment?
        for index in 0..<UInt64(count) {
            let (header, overflows) = start.addingReportingOverflow(index * UInt64(size))
            guard !overflows, let kind = number(UInt32.self, at: header),
                let offset = number(UInt64.self, at: header &+ 8), let address = number(UInt64.self, at: header &+ 16),
                let length = number(UInt64.self, at: header &+ 32)
            else { return nil }
            let segment = Segment(fileOffset: offset, address: address, size: length)
            if kind == 1 { segments.append(segment) }
            if kind == 2 { dynamic = segment }
        }
        guard let dynamic else { return }
        for index in 0..<min(dynamic.size / 16, 4_096) {
            guard let tag = number(UInt64.self, at: dynamic.fileOffset &+ index * 16),
                let value = number(UInt64.self, at: dynamic.fileOffset &+ index * 16 &+ 8), tag != 0
            else { return }
            dynamicTable.values[tag, default: []].append(value)
        }
    }

    private func number<Number: FixedWidthInteger>(_ type: Number.Type, at place: UInt64) -> Number? {
        let width = MemoryLayout<Number>.size
        guard place <= UInt64(bytes.count), bytes.count - Int(place) >= width else { return nil }
        return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: Int(place), as: Number.self))
    }

    /// The offset in the file of what the loader puts at an address.
    private func offset(of address: UInt64) -> UInt64? {
        for segment in segments where address >= segment.address && address - segment.address < segment.size {
            let (offset, overflows) = segment.fileOffset.addingReportingOverflow(address - segment.address)
            return overflows ? nil : offset
        }
        return nil
    }

    private func place(_ tag: UInt64) -> UInt64? { dynamicTable[tag].first.flatMap(offset) }

    /// The string at an index of the string table; empty if the index lies outside of it.
    func string(at index: UInt64) -> String {
        guard let start = place(Tag.strings), let size = dynamicTable[Tag.stringsSize].first, index < size,
            start <= UInt64(bytes.count), index < UInt64(bytes.count) - start
        else { return "" }
        let first = Int(start + index)
        let end = Int(min(UInt64(bytes.count), start.addingReportingOverflow(size).partialValue))
        guard first < end else { return "" }
        return String(decoding: bytes[first..<end].prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The number of symbols. If the file has only the newer hash table, it is that of the symbols before those in the
    /// table, among which are all imported ones.
    private var symbolCount: Int {
        let older = place(Tag.hash).flatMap { number(UInt32.self, at: $0 &+ 4) }
        let newer = place(Tag.gnuHash).flatMap { number(UInt32.self, at: $0 &+ 4) }
        return min(Self.most, Int(older ?? newer ?? 0))
    }

    var undefinedNames: Set<String> {
        guard let start = place(Tag.symbols) else { return [] }
        var names: Set<String> = []
        for index in 0..<symbolCount {
            let symbol = start &+ UInt64(index * Self.symbolSize)
            guard let name = number(UInt32.self, at: symbol), let section = number(UInt16.self, at: symbol &+ 6) else {
                break
            }
            if section == 0, name != 0 { names.insert(string(at: UInt64(name))) }
        }
        return names
    }
}
