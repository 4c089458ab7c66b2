/// The role of a file, for faults.
package enum FileRole: String, Sendable, CaseIterable {
    case data, log, lock, temporary, directory

    /// The role by common file names: `x.log`, `x-wal`, `x.lock`, `x.tmp`.
    package static func byName(_ path: String) -> FileRole {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        if name.hasSuffix("log") || name.hasSuffix("wal") || name.hasSuffix("journal") { return .log }
        if name.hasSuffix("lock") || name.hasSuffix("shm") { return .lock }
        if name.hasSuffix("tmp") || name.hasSuffix("temp") || name.contains(".tmp") || name.contains("-temporary") {
            return .temporary
        }
        return .data
    }
}

/// A kind of file operation that can fail, or after which power can fail.
package enum IOKind: String, Sendable, CaseIterable {
    case read, write, truncate, preallocate, rename, create, remove, sync
    case syncDirectory = "sync-directory"
    case writeBack = "write-back"
    case map

    /// Whether it can change the disk: such operations are recorded and numbered, others are not.
    package var isRecorded: Bool { self != .read && self != .map }

    /// Whether it may allocate space.
    package var takesSpace: Bool {
        switch self {
        case .write, .truncate, .preallocate, .rename, .create: true
        default: false
        }
    }
}

/// Identifies an I/O operation of a script by a name that stays valid when other parts of the script are removed.
///
/// The canonical form is `label/actor/role/kind/index`, for example `commit-12/main/log/write/0`; characters that
/// would be ambiguous are written `%XX`.
package struct FaultIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The logical operation that caused it. Chosen when the script is generated.
    package var label: String
    /// The thread that called: `main`, or another name that the script gave it, or `background` for a thread without a
    /// name, whose operations count under the label that was set last.
    package var actor: String
    package var role: FileRole
    package var kind: IOKind
    /// The number of such operations before it under the same label, actor, role and kind.
    package var index: Int

    package init(label: String, actor: String, role: FileRole, kind: IOKind, index: Int) {
        self.label = label
        self.actor = actor
        self.role = role
        self.kind = kind
        self.index = index
    }

    package var description: String {
        "\(Self.escaped(label))/\(Self.escaped(actor))/\(role.rawValue)/\(kind.rawValue)/\(index)"
    }

    /// Parses the canonical form; nil for any other text.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, let label = Self.unescaped(parts[0]), let actor = Self.unescaped(parts[1]),
            let role = FileRole(rawValue: String(parts[2])), let kind = IOKind(rawValue: String(parts[3])),
            let index = Int(parts[4]), index >= 0, String(index) == parts[4]
        else { return nil }
        self.init(label: label, actor: actor, role: role, kind: kind, index: index)
        guard description == text else { return nil }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_.:+=()[]".utf8.contains(byte)
        }
    }

    private static func escaped(_ text: String) -> String {
        if text.utf8.allSatisfy(isPlain) { return text }
        var result = ""
        for byte in text.utf8 {
            if isPlain(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }

    private static func unescaped(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        let source = Array(text.utf8)
        var place = 0
        while place < source.count {
            if source[place] == UInt8(ascii: "%") {
                guard place + 2 < source.count,
                    let byte = UInt8(String(decoding: source[(place + 1)...(place + 2)], as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(byte)
                place += 3
            } else {
                bytes.append(source[place])
                place += 1
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
