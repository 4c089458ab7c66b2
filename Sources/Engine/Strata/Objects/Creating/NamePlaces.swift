/// Finds the place of a name in a list of names, by the name's bytes: a look-up makes no string, and hashes a short
/// name by a few multiplications.
///
/// Two names are equal here if their bytes are. Swift's strings are also equal if they are equivalent spellings in
/// Unicode: for a name that was not found, a caller compares strings, unless ``isASCII`` rules that out.
struct NamePlaces {
    /// The UTF-8 of all names, one after another.
    private let bytes: [UInt8]
    /// Where each name starts in `bytes`, and the end of the last one.
    private let starts: [Int]
    /// An open hash table of places; -1 for an empty slot. Its size is a power of two, at least twice the names.
    private let slots: [Int]
    /// Whether every name is ASCII: then an ASCII name that was not found has no other spelling to be found by.
    let isASCII: Bool

    /// - Parameter names: a name that comes twice is found at its first place.
    init(_ names: [String]) {
        var bytes: [UInt8] = []
        var starts = [0]
        for name in names {
            bytes += name.utf8
            starts.append(bytes.count)
        }
        var size = 4
        while size < 2 * names.count { size *= 2 }
        var slots = Array(repeating: -1, count: size)
        bytes.withUnsafeBytes { all in
            for place in names.indices {
                let name = UnsafeRawBufferPointer(rebasing: all[starts[place]..<starts[place + 1]])
                var slot = Self.hash(name) & (size - 1)
                while slots[slot] >= 0 { slot = (slot + 1) & (size - 1) }
                slots[slot] = place
            }
        }
        isASCII = bytes.allSatisfy { $0 < 0x80 }
        self.bytes = bytes
        self.starts = starts
        self.slots = slots
    }

    /// The place of a name; nil if there is none.
    func place(of name: UnsafeRawBufferPointer) -> Int? {
        var slot = Self.hash(name) & (slots.count - 1)
        while true {
            let place = slots[slot]
            if place < 0 { return nil }
            let start = starts[place]
            if starts[place + 1] - start == name.count, isEqual(name, from: start) { return place }
            slot = (slot + 1) & (slots.count - 1)
        }
    }

    private func isEqual(_ name: UnsafeRawBufferPointer, from start: Int) -> Bool {
        bytes.withUnsafeBytes { all in
            for offset in 0..<name.count where all[start + offset] != name[offset] { return false }
            return true
        }
    }

    /// Uses all bytes: names of a class often differ in a number at their end, or in their middle.
    private static func hash(_ name: UnsafeRawBufferPointer) -> Int {
        guard let base = name.baseAddress else { return 0 }
        let count = name.count
        var hash = UInt64(truncatingIfNeeded: count)
        var offset = 0
        while offset + 8 <= count {
            hash = mixed(hash ^ base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        if offset + 4 <= count {
            hash = mixed(hash ^ UInt64(base.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
            offset += 4
        }
        var rest: UInt64 = 0
        while offset < count {
            rest = rest << 8 | UInt64(base.load(fromByteOffset: offset, as: UInt8.self))
            offset += 1
        }
        return Int(truncatingIfNeeded: mixed(hash ^ rest) >> 32)
    }

    private static func mixed(_ word: UInt64) -> UInt64 {
        let product = word &* 0x9E37_79B9_7F4A_7C15
        return product ^ product >> 29
    }
}
