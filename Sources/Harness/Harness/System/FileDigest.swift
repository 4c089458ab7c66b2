import Seeds

/// A digest of a file: it identifies a program or a library by its content.
package enum FileDigest {
    /// Twelve hexadecimal digits; nil if the file cannot be read.
    package static func identifier(file path: String) -> String? {
        value(file: path).map { StableHash.identifier(of: "\($0)") }
    }

    /// A digest of the file's length and of its words of 64 bits, in four chains. nil if the file cannot be mapped.
    static func value(file path: String) -> UInt64? {
        MappedFile.read(path) { value($0) }
    }

    private static func value(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let prime: UInt64 = 0x9E37_79B9_7F4A_7C15
        var (a, b, c, d) = (prime, prime &* 3, prime &* 5, prime &* 7)
        let words = bytes.bindMemory(to: UInt64.self)
        var index = 0
        // Multiplying by an odd number and rotating are invertible, so that a change of one word changes its chain.
        while index + 4 <= words.count {
            a = (a ^ words[index]) &* prime
            b = (b ^ words[index + 1]) &* prime
            c = (c ^ words[index + 2]) &* prime
            d = (d ^ words[index + 3]) &* prime
            a = a << 29 | a >> 35
            b = b << 29 | b >> 35
            c = c << 29 | c >> 35
            d = d << 29 | d >> 35
            index += 4
        }
        let rest = bytes[(index * 8)...]
        let chains = [a, b, c, d, UInt64(bytes.count), StableHash.of(rest)]
        return StableHash.of(chains.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
    }
}
