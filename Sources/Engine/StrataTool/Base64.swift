/// Base 64 with padding, as section 4 of RFC 4648 defines it.
enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let count = min(3, bytes.count - index)
            var value = 0
            for offset in 0..<3 { value = value << 8 | (offset < count ? Int(bytes[index + offset]) : 0) }
            for place in 0..<4 {
                output.append(place <= count ? letters[value >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
            index += 3
        }
        return String(decoding: output, as: UTF8.self)
    }
}
