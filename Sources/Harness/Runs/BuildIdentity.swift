import RunRecords
import Seeds

/// Identifies a build: a digest of the program's file and of the versions of its libraries.
///
/// Figures of two builds must not be in one run, and another build may end a replayed case differently.
package enum BuildIdentity {
    /// Twelve hexadecimal digits; empty if the file cannot be read.
    package static func digest(executable: String, engines: [any Engine]) -> String {
        guard let content = digest(file: executable) else { return "" }
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

    /// Twelve hexadecimal digits; nil if the file cannot be read.
    package static func identifier(file path: String) -> String? {
        digest(file: path).map { StableHash.identifier(of: "\($0)") }
    }

    /// A digest of the file's length and of its words of 64 bits, in four chains. nil if the file cannot be mapped.
    static func digest(file path: String) -> UInt64? {
        MappedFile.read(path) { digest($0) }
    }

    static func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let prime: UInt64 = 0x9E37_79B9_7F4A_7C15
        var (a, b, c, d) = (prime, prime &* 3, prime &* 5, prime &* 7)
        let words = bytes.bindMemory(to: UInt64.self)
        var index = 0
        // Multiplying by an odd number and rotating are invertible, so that a change of one word changes its chain.
        while index + 4 <= words.count {
            a = (a ^ words[index]) &* prime
            b = (b ^ words[index + 1]) &* prime
            c = (c ^ words[index + 2]) &* prime
            d = (d ^ words[index + 3]) &* prime
            a = a << 29 | a >> 35
            b = b << 29 | b >> 35
            c = c << 29 | c >> 35
            d = d << 29 | d >> 35
            index += 4
        }
        let rest = bytes[(index * 8)...]
        let chains = [a, b, c, d, UInt64(bytes.count), StableHash.of(rest)]
        return StableHash.of(chains.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
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
