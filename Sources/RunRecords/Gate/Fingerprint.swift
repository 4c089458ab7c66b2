import JSONText

/// Machine, system, build and versions of the run that a baseline's figures are from. Some counters are comparable only
/// if a part of these is equal.
package struct Fingerprint: Sendable, Hashable {
    package var processor: String
    package var coreCount: Int
    package var memoryBytes: Int
    package var system: String
    package var fileSystem: String
    package var assayVersion: String
    package var commit: String
    package var isReleaseBuild: Bool
    /// By the name of the engine.
    package var engineVersions: [String: String]

    package init(_ header: RunHeader) {
        processor = header.machine.processor
        coreCount = header.machine.coreCount
        memoryBytes = header.machine.memoryBytes
        system = header.machine.system
        fileSystem = header.machine.fileSystem
        assayVersion = header.assayVersion
        commit = header.commit
        isReleaseBuild = header.isReleaseBuild
        engineVersions = Dictionary(header.engines.map { ($0.name, $0.version) }) { first, _ in first }
    }

    /// Why figures of a counter are not comparable with those of another origin; nil if they are.
    package func objection(to counter: Counter, from other: Fingerprint) -> String? {
        let isOfCode = counter == .instructions || counter.isOfAllocator
        if isOfCode, isReleaseBuild != other.isReleaseBuild {
            return "the baseline is of a \(isReleaseBuild ? "release" : "debug") build"
        }
        if counter == .instructions, processor != other.processor {
            return "the baseline was counted on another processor (\(processor)), and libraries choose their code by "
                + "the processor"
        }
        return nil
    }

    package var json: JSONValue {
        .object([
            JSONMember("cpu", .string(processor)), JSONMember("cores", .integer(coreCount)),
            JSONMember("memory_bytes", .integer(memoryBytes)), JSONMember("os", .string(system)),
            JSONMember("file_system", .string(fileSystem)), JSONMember("assay_version", .string(assayVersion)),
            JSONMember("commit", .string(commit)), JSONMember("build", .string(isReleaseBuild ? "release" : "debug")),
            JSONMember(
                "engines",
                .object(engineVersions.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) })),
        ])
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        processor = try json.string("cpu")
        coreCount = try json.integer("cores")
        memoryBytes = try json.integer("memory_bytes")
        system = try json.string("os")
        fileSystem = try json.string("file_system")
        assayVersion = try json.string("assay_version")
        commit = try json.string("commit")
        isReleaseBuild = try json.string("build") == "release"
        engineVersions = [:]
        let engines = try json.object("engines")
        if case .object(let members) = engines.value {
            for member in members { engineVersions[member.name] = try engines.string(member.name) }
        }
    }
}
