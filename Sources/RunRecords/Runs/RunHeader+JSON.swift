import JSONText
import Seeds

extension Machine {
    package var json: JSONValue {
        .object([
            JSONMember("host", .string(host)), JSONMember("os", .string(system)),
            JSONMember("cpu", .string(processor)), JSONMember("cores", .integer(coreCount)),
            JSONMember("memory_bytes", .integer(memoryBytes)), JSONMember("file_system", .string(fileSystem)),
            JSONMember("fsync_honest", .string(fsync.rawValue)), JSONMember("fsync_ns", .unsigned(fsyncNanoseconds)),
        ])
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(
            host: try json.string("host"), system: try json.string("os"), processor: try json.string("cpu"),
            coreCount: try json.integer("cores"), memoryBytes: try json.integer("memory_bytes"),
            fileSystem: try json.string("file_system"),
            fsync: try json.choice("fsync_honest", of: FsyncHonesty.self),
            fsyncNanoseconds: try json.unsigned("fsync_ns"))
    }
}

extension RunHeader {
    package var json: JSONValue {
        var members = [
            JSONMember("format", .string(Self.format)), JSONMember("id", .string(id)),
            JSONMember("assay_version", .string(assayVersion)), JSONMember("plan", .string(plan)),
            JSONMember("seed", .unsigned(seed.rawValue)), JSONMember("command", .string(command)),
            JSONMember("time", .integer(startTime)), JSONMember("commit", .string(commit)),
            JSONMember("branch", .string(branch)),
            JSONMember("build", .string(isReleaseBuild ? "release" : "debug")),
            JSONMember("build_digest", .string(buildDigest)), JSONMember("machine", machine.json),
            JSONMember(
                "engines",
                .array(engines.map(\.json))),
            JSONMember(
                "not_built",
                .array(
                    notBuilt.map {
                        .object([JSONMember("name", .string($0.name)), JSONMember("remedy", .string($0.remedy))])
                    })),
            JSONMember("warnings", .strings(warnings)),
        ]
        if let budgetSeconds { members.append(JSONMember("budget_seconds", .real(budgetSeconds))) }
        members.append(JSONMember("cases", .strings(cases)))
        let inRounds = cases.compactMap { id in rounds[id].map { JSONMember(id, .integer($0)) } }
        members.append(JSONMember("rounds", .object(inRounds)))
        let ended = cases.compactMap { id in endedRounds[id].map { JSONMember(id, .integer($0)) } }
        if !ended.isEmpty { members.append(JSONMember("ended_rounds", .object(ended))) }
        members.append(JSONMember("controls", .strings(cases.filter(controls.contains))))
        members.append(JSONMember("measures", .bool(measures)))
        if !doubtfulFigures.isEmpty {
            members.append(JSONMember("doubtful_figures", .array(doubtfulFigures.map(\.json))))
        }
        if let part { members.append(JSONMember("part", part.json)) }
        if !merged.isEmpty { members.append(JSONMember("merged", .array(merged.map(\.json)))) }
        return .object(members)
    }

    /// Throws: also if the format has another version.
    package init(json: JSONObjectReader) throws(JSONShapeError) {
        guard try json.string("format") == Self.format else {
            throw JSONShapeError(path: json.path + ".format", expected: Self.format)
        }
        self.init(
            id: try json.string("id"), plan: try json.string("plan"), seed: Seed(try json.unsigned("seed")),
            machine: try Machine(json: try json.object("machine")))
        assayVersion = try json.string("assay_version")
        command = try json.string("command")
        startTime = try json.integer("time")
        commit = try json.string("commit")
        branch = try json.string("branch")
        isReleaseBuild = try json.string("build") == "release"
        for engine in try json.objects("engines") {
            engines.append(try EngineVersion(json: engine))
        }
        for engine in try json.objects("not_built") {
            notBuilt.append(NotBuilt(name: try engine.string("name"), remedy: try engine.string("remedy")))
        }
        buildDigest = try json.string("build_digest")
        warnings = try json.strings("warnings")
        controls = Set(try json.strings("controls"))
        measures = try json.bool("measures")
        rounds = try json.integers("rounds")
        if json.has("ended_rounds") { endedRounds = try json.integers("ended_rounds") }
        cases = try json.strings("cases")
        budgetSeconds = json.has("budget_seconds") ? try json.real("budget_seconds") : nil
        if json.has("doubtful_figures") {
            for figure in try json.objects("doubtful_figures") {
                doubtfulFigures.append(try DoubtfulFigure(json: figure))
            }
        }
        part = json.has("part") ? try PlanPart(json: try json.object("part")) : nil
        if json.has("merged") {
            for shard in try json.objects("merged") { merged.append(try MergedShard(json: shard)) }
        }
    }
}

extension JSONObjectReader {
    fileprivate func integers(_ name: String) throws(JSONShapeError) -> [String: Int] {
        let reader = try object(name)
        var found: [String: Int] = [:]
        if case .object(let members) = reader.value {
            for member in members { found[member.name] = try reader.integer(member.name) }
        }
        return found
    }

    func strings(_ name: String) throws(JSONShapeError) -> [String] {
        var list: [String] = []
        for element in try array(name) {
            guard case .string(let text) = element else {
                throw JSONShapeError(path: "\(path).\(name)", expected: "strings")
            }
            list.append(text)
        }
        return list
    }
}

extension EngineVersion {
    fileprivate var json: JSONValue {
        var members = [
            JSONMember("name", .string(name)), JSONMember("version", .string(version)),
            JSONMember("library", .string(library)), JSONMember("promises", .array(promises.map(\.json))),
        ]
        if let file {
            members += [JSONMember("file", .string(file)), JSONMember("file_digest", .string(fileDigest))]
        }
        if let libraryFile {
            members += [
                JSONMember("library_file", .string(libraryFile)), JSONMember("library_digest", .string(libraryDigest)),
            ]
        }
        if !assertions.isEmpty { members.append(JSONMember("assertions", .strings(assertions))) }
        return .object(members)
    }

    /// Older runs have no promises and no libraries.
    fileprivate init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(
            name: try json.string("name"), version: try json.string("version"),
            library: json.has("library") ? try json.string("library") : nil)
        if json.has("file") {
            file = try json.string("file")
            fileDigest = try json.string("file_digest")
        }
        if json.has("library_file") {
            libraryFile = try json.string("library_file")
            libraryDigest = try json.string("library_digest")
        }
        if json.has("assertions") { assertions = try json.strings("assertions") }
        guard json.has("promises") else { return }
        for promise in try json.objects("promises") {
            promises.append(
                EnginePromise(
                    kind: try promise.string("kind"), sentence: try promise.string("sentence"),
                    source: try promise.string("source"),
                    level: promise.has("level") ? try promise.choice("level", of: IsolationLevel.self) : nil))
        }
    }
}

extension EnginePromise {
    fileprivate var json: JSONValue {
        var members = [
            JSONMember("kind", .string(kind)), JSONMember("sentence", .string(sentence)),
            JSONMember("source", .string(source)),
        ]
        if let level { members.append(JSONMember("level", .string(level.rawValue))) }
        return .object(members)
    }
}
