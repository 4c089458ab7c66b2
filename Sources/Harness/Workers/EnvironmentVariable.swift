/// `NAME=VALUE` as the system has it: bytes without a zero, which need not be UTF-8.
package struct EnvironmentVariable: Hashable, Sendable, ExpressibleByStringInterpolation {
    package var bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package init(_ text: String) { bytes = Array(text.utf8) }

    package init(stringLiteral text: String) { self.init(text) }

    package func hasPrefix(_ text: some StringProtocol) -> Bool { bytes.starts(with: text.utf8) }

    /// With its sign: `NAME=`. nil where it has none, which the system allows.
    package var name: [UInt8]? { bytes.firstIndex(of: UInt8(ascii: "=")).map { Array(bytes[...$0]) } }

    /// What stands behind the sign.
    package var value: [UInt8] { Array(bytes.dropFirst(name?.count ?? 0)) }

    /// For what is known to be text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}
