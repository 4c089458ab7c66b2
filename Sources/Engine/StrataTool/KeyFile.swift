import Commands
import StrataCrypto
import StrataFiles
import StrataStorage

/// The key of an encrypted store. The user names a file that holds it: every process of the machine can read a command
/// line.
enum KeyFile {
    static let option = OptionSpecification(
        "--key-file", value: "KEY", "the key of an encrypted FILE: 64 bytes, or 128 hexadecimal digits")

    /// The cipher that `option` names; nil when it is not given.
    static func cipher(_ arguments: Arguments, _ option: OptionSpecification = option) throws -> (any Cipher)? {
        guard let path = arguments.value(option.name) else { return nil }
        let bytes = try read(path)
        guard let key = bytes.count == EncryptionKey.size ? bytes : decoded(bytes) else {
            throw ToolError("\(path) holds no key: 64 bytes, or 128 hexadecimal digits, were expected")
        }
        do throws(EncryptionKey.Refusal) { return try EncryptionKey.cipher(key) } catch {
            throw ToolError("this strata was built without encryption; install libssl-dev and build it again")
        }
    }

    private static func read(_ path: String) throws -> [UInt8] {
        try naming(path) {
            let file = try POSIXFileSystem().open(path, .readThroughLinks)
            defer { file.close() }
            var bytes = [UInt8](repeating: 0, count: 1024)
            let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
            return Array(bytes[..<count])
        }
    }

    /// Hexadecimal digits, surrounded by any whitespace.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8]? {
        let digits = bytes.filter { $0 > 32 }
        guard digits.count == 2 * EncryptionKey.size else { return nil }
        let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard values.count == digits.count else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}
