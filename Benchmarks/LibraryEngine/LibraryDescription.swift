import Harness
import JSONText
import RunRecords

/// A library's description of itself: the runner, which never loads it, knows its engine only by this.
package struct LibraryDescription: Sendable, Hashable {
    /// A pattern for the base names of files.
    package struct FilePattern: Sendable, Hashable {
        package enum Role: String, Sendable, CaseIterable {
            case data, log, constant, lock, ignored
        }

        package var role: Role
        package var pattern: String
    }

    package enum Threads: Int, Sendable {
        case one = 0
        case onePerTransaction = 1
        case free = 2
    }

    /// A capability that it claims.
    package enum Claim: String, Sendable, CaseIterable {
        case persistent, snapshots, compaction, checks, processes
        case ownWrites = "own-writes"
    }

    package struct Sentence: Sendable, Hashable {
        package var kind: String
        package var level: String
        package var sentence: String
        package var source: String
    }

    package var file: EngineFile
    package var name = ""
    package var version = ""
    package var claims: Set<Claim> = []
    package var promises: [Sentence] = []
    package var files: [FilePattern] = []
    package var longestKey: UInt64 = 0
    package var longestValue: UInt64 = 0
    package var allowsEmptyKey = false
    package var threads = Threads.one
    /// The names of the files that are built with assertions, among the library's own and those that it needs.
    package var assertions: [String] = []
    /// The settings of each durability class that the library has.
    package var settings: [DurabilityClass: [EngineSetting]] = [:]

    package init(file: EngineFile) {
        self.file = file
    }

    package var json: JSONValue {
        .object([
            JSONMember("library", .string(file.path)), JSONMember("digest", .string(file.digest)),
            JSONMember("name", .string(name)), JSONMember("version", .string(version)),
            JSONMember("claims", .strings(claims.map(\.rawValue).sorted())),
            JSONMember(
                "promises",
                .array(promises.map { .strings([$0.kind, $0.level, $0.sentence, $0.source]) })),
            JSONMember("files", .array(files.map { .strings([$0.role.rawValue, $0.pattern]) })),
            JSONMember("longest_key", .unsigned(longestKey)), JSONMember("longest_value", .unsigned(longestValue)),
            JSONMember("empty_key", .bool(allowsEmptyKey)), JSONMember("threads", .integer(threads.rawValue)),
            JSONMember("assertions", .strings(assertions)),
            JSONMember(
                "settings",
                .object(
                    DurabilityClass.allCases.compactMap { durability in
                        settings[durability].map { list in
                            JSONMember(durability.rawValue, .array(list.map { .strings([$0.name, $0.value]) }))
                        }
                    })),
        ])
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(file: EngineFile(path: try json.string("library"), digest: try json.string("digest")))
        name = try json.string("name")
        version = try json.string("version")
        for word in try json.strings("claims") {
            if let claim = Claim(rawValue: word) { claims.insert(claim) }
        }
        for row in try Self.rows(json, "promises", columns: 4) {
            promises.append(Sentence(kind: row[0], level: row[1], sentence: row[2], source: row[3]))
        }
        for row in try Self.rows(json, "files", columns: 2) {
            guard let role = FilePattern.Role(rawValue: row[0]) else { continue }
            files.append(FilePattern(role: role, pattern: row[1]))
        }
        longestKey = try json.unsigned("longest_key")
        longestValue = try json.unsigned("longest_value")
        allowsEmptyKey = try json.bool("empty_key")
        threads = Threads(rawValue: try json.integer("threads")) ?? .one
        assertions = try json.strings("assertions")
        let classes = try json.object("settings")
        for durability in DurabilityClass.allCases where classes.has(durability.rawValue) {
            settings[durability] = try Self.rows(classes, durability.rawValue, columns: 2).map {
                EngineSetting($0[0], $0[1])
            }
        }
    }

    private static func rows(
        _ json: JSONObjectReader, _ name: String, columns: Int
    ) throws(JSONShapeError) -> [[String]] {
        let rows: [[String]] = try json.member(name)
        guard rows.allSatisfy({ $0.count == columns }) else {
            throw JSONShapeError(path: "\(json.path).\(name)", expected: "lists of \(columns) strings")
        }
        return rows
    }
}
