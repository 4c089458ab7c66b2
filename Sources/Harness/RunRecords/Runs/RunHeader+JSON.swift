import JSONText
import Seeds

// The members of run.json.

extension RunHeader: JSONRecord {
    package static let blank = RunHeader(id: "", plan: "", seed: Seed(0), machine: .blank)

    package static let fields: [JSONField<RunHeader>] = [
        .constant("format", format), .member("id", \.id), .member("assay_version", \.assayVersion),
        .member("plan", \.plan), .sparse("question", \.question), .member("seed", \.seed.rawValue),
        .member("command", \.command),
        .member("time", \.startTime), .member("commit", \.commit), .member("branch", \.branch),
        .build("build", \.isReleaseBuild), .member("build_digest", \.buildDigest),
        .member("machine", \.machine),
        .member("engines", \.engines), .member("not_built", \.notBuilt),
        .member("warnings", \.warnings),
        .member("budget_seconds", \.budgetSeconds, in: .seconds), .member("cases", \.cases),
        .sparse("families", \.families), .sparse("scenarios", \.scenarioQuestions),
        counts("rounds", \.rounds),
        counts("ended_rounds", \.endedRounds, isSparse: true),
        JSONField("controls", write: { .strings($0.cases.filter($0.controls.contains)) }) {
            (json, header) throws(JSONShapeError) in header.controls = Set(try [String](json: json ?? .null))
        },
        .member("measures", \.measures), .sparse("doubtful_figures", \.doubtfulFigures), .member("part", \.part),
        .sparse("merged", \.merged),
    ]

    /// Numbers by the id of their case, which the header writes in the order of the cases.
    private static func counts(
        _ name: String, _ member: JSONField<RunHeader>.Member<[String: Int]>, isSparse: Bool = false
    ) -> JSONField<RunHeader> {
        JSONField(
            name,
            write: { header in
                let counts = header[keyPath: member]
                let members = header.cases.compactMap { id in counts[id].map { JSONMember(id, .integer($0)) } }
                return isSparse && members.isEmpty ? nil : .object(members)
            }
        ) { (json, header) throws(JSONShapeError) in
            if isSparse && json == nil { return }
            header[keyPath: member] = try [String: Int](json: json ?? .null, in: .counts)
        }
    }
}

extension JSONField {
    /// Whether a program is a release build, as `release` or `debug`.
    static func build(_ name: String, _ isRelease: Member<Bool>) -> JSONField {
        JSONField(name, write: { .string($0[keyPath: isRelease] ? "release" : "debug") }) {
            (json, record) throws(JSONShapeError) in
            let word = try String(json: json ?? .null)
            guard ["release", "debug"].contains(word) else { throw JSONShapeError(expected: "release or debug") }
            record[keyPath: isRelease] = word == "release"
        }
    }
}

extension Machine: JSONRecord {
    package static let blank = Machine(
        host: "", system: "", processor: "", coreCount: 0, memoryBytes: 0, fileSystem: "", fsync: .yes,
        fsyncNanoseconds: 0)

    package static let fields: [JSONField<Machine>] = [
        .member("host", \.host), .member("os", \.system), .member("cpu", \.processor), .member("cores", \.coreCount),
        .member("memory_bytes", \.memoryBytes), .member("file_system", \.fileSystem),
        .member("fsync_honest", \.fsync), .member("fsync_ns", \.fsyncNanoseconds),
    ]
}

extension NotBuilt: JSONRecord {
    package static let blank = NotBuilt(name: "", remedy: "")
    package static let fields: [JSONField<NotBuilt>] = [.member("name", \.name), .member("remedy", \.remedy)]
}

extension EngineVersion: JSONRecord {
    package static let blank = EngineVersion(name: "", version: "")

    /// Older runs have no promises and no libraries.
    package static let fields: [JSONField<EngineVersion>] = [
        .member("name", \.name), .member("version", \.version),
        JSONField("library", write: { .string($0.library) }) { (json, engine) throws(JSONShapeError) in
            engine.library = EngineVersion(name: engine.name, version: "").library
            if let json { engine.library = try String(json: json) }
        },
        .lenient("promises", \.promises), .member("file", \.file),
        .companion("file_digest", \.fileDigest, of: \.file), .member("library_file", \.libraryFile),
        .companion("library_digest", \.libraryDigest, of: \.libraryFile),
        .sparse("assertions", \.assertions),
    ]
}

extension EnginePromise: JSONRecord {
    package static let blank = EnginePromise(kind: "", sentence: "", source: "")
    package static let fields: [JSONField<EnginePromise>] = [
        .member("kind", \.kind), .member("sentence", \.sentence), .member("source", \.source),
        .member("level", \.level),
    ]
}
