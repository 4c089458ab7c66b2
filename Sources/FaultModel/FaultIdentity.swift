/// What a file is for, as far as faults are concerned.
package enum FileRole: String, Sendable, CaseIterable {
    case data, log, lock, temporary, directory

    /// The role that the usual names tell: `x.log`, `x-wal`, `x.lock`, `x.tmp`.
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

/// A kind of file operation that can fail, or after which power can go.
package enum IOKind: String, Sendable, CaseIterable {
    case read, write, truncate, preallocate, rename, create, remove, sync
    case syncDirectory = "sync-directory"
    case writeBack = "write-back"
    case map

    /// Whether it can change what is on disk: these are recorded and numbered, the others are not.
    package var isRecorded: Bool { self != .read && self != .map }

    /// Whether it may need space that the disk has to find.
    package var takesSpace: Bool {
        switch self {
        case .write, .truncate, .preallocate, .rename, .create: true
        default: false
        }
    }
}

/// Which I/O operation of a history is meant, in words that survive when other parts of the history are taken out.
///
/// The canonical form is `label/actor/role/kind/index`, for example `commit-12/main/log/write/0`; characters that
/// would be ambiguous are written `%XX`.
package struct FaultIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The logical operation that caused it. Given when the history is generated.
    package var label: String
    /// Who did it: the caller's thread, or background work, which counts from its trigger.
    package var actor: String
    package var role: FileRole
    package var kind: IOKind
    /// How many such operations came before it under the same label, actor, role and kind.
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

    /// Reads the canonical form back; nil for anything else.
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
