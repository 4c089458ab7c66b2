/// A string `NAME=VALUE` of the environment: bytes other than 0, which need not be UTF-8.
package struct EnvironmentVariable: Hashable, Sendable, ExpressibleByStringInterpolation {
    package var bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package init(_ text: String) { bytes = Array(text.utf8) }

    package init(stringLiteral text: String) { self.init(text) }

    package func hasPrefix(_ text: some StringProtocol) -> Bool { bytes.starts(with: text.utf8) }

    /// The name with the sign, `NAME=`. nil if the string has no sign, which the system allows.
    package var name: [UInt8]? { bytes.firstIndex(of: UInt8(ascii: "=")).map { Array(bytes[...$0]) } }

    /// The bytes after the sign.
    package var value: [UInt8] { Array(bytes.dropFirst(name?.count ?? 0)) }

    /// For variables that are known to be text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}
