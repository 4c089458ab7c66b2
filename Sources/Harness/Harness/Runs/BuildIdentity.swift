import RunRecords
import Seeds

/// Identifies a build: a digest of the program's file and of the versions of its libraries.
///
/// Figures of two builds must not be in one run, and another build may end a replayed case differently.
package enum BuildIdentity {
    /// Twelve hexadecimal digits; empty if the file cannot be read.
    package static func digest(executable: String, engines: [any Engine]) -> String {
        guard let content = FileDigest.value(file: executable) else { return "" }
        let versions = engines.map { engine in
            "\(engine.name)=\(engine.version)" + (engine.file.map { "@\($0.digest)" } ?? "")
                + (engine.peerLibrary.map { "@\($0.digest)" } ?? "")
        }.sorted().joined(separator: ";")
        return StableHash.identifier(of: "\(content);\(versions)")
    }

    /// This build: its digest, and a text in the form of `RunHeader.buildText`.
    package static func text(
        _ registries: Registries, executable: String, isRelease: Bool
    ) -> (digest: String, text: String) {
        let engines = registries.engines.engines
        let digest = digest(executable: executable, engines: engines)
        let parts =
            [isRelease ? "release" : "debug"]
            + engines.map { engine in
                "\(engine.name) \(engine.version)"
                    + ((engine.file ?? engine.peerLibrary).map { " from \($0.path) (\($0.digest))" } ?? "")
            }
        return (digest, "build \(digest) (\(parts.joined(separator: ", ")))")
    }
}

extension RunHeader {
    /// For people: `build 5f3a0c12beef (release, commit 155f503, strata 0.1, sqlite 3.40.1)`.
    package var buildText: String {
        var parts = [isReleaseBuild ? "release" : "debug"]
        if !commit.isEmpty { parts.append("commit \(commit.prefix(7))") }
        parts += engines.map { engine in
            "\(engine.name) \(engine.version)" + (engine.loadedFrom.map { " from \($0)" } ?? "")
        }
        return "build \(buildDigest.isEmpty ? "unknown" : buildDigest) (\(parts.joined(separator: ", ")))"
    }
}
