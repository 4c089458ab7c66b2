import JSONText

/// The machine, system, build and engine versions of the run that measured a baseline's figures. Some counters are
/// comparable only between runs that agree in a part of these.
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
}

extension Fingerprint: JSONRecord {
    package static let blank = Fingerprint(RunHeader.blank)

    package static let fields: [JSONField<Fingerprint>] = [
        .member("cpu", \.processor), .member("cores", \.coreCount), .member("memory_bytes", \.memoryBytes),
        .member("os", \.system), .member("file_system", \.fileSystem), .member("assay_version", \.assayVersion),
        .member("commit", \.commit), .build("build", \.isReleaseBuild), .member("engines", \.engineVersions),
    ]
}
