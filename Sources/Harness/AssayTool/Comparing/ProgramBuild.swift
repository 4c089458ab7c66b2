import Harness
import RunRecords

/// How this program was built.
enum ProgramBuild {
    static var isRelease: Bool {
        #if DEBUG
            false
        #else
            true
        #endif
    }

    /// The enabled traits of the package.
    static var traits: [String] {
        var traits: [String] = []
        #if Crypto
            traits.append("Crypto")
        #endif
        #if LMDB
            traits.append("LMDB")
        #endif
        #if RocksDB
            traits.append("RocksDB")
        #endif
        #if SQLite
            traits.append("SQLite")
        #endif
        #if Zoo
            traits.append("Zoo")
        #endif
        return traits
    }

    static var path: String { Checkout.executablePath(fallback: CommandLine.arguments[0]) }

    /// Reads the whole program for its digest.
    static func describe(_ registries: Registries) -> BuildDescription {
        BuildDescription(
            version: assayVersion, isRelease: isRelease, traits: traits,
            digest: BuildIdentity.digest(executable: path, engines: registries.engines.engines))
    }
}
