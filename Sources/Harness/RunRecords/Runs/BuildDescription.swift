import JSONText

/// How a program was built. It decides whether figures of two programs can be compared.
package struct BuildDescription: Hashable, Sendable {
    /// The version of the harness.
    package var version: String
    package var isRelease: Bool
    /// The traits of the package that it was built with, ascending.
    package var traits: [String]
    /// A digest of the program's bytes: programs with equal digests are one build.
    package var digest: String

    package init(version: String, isRelease: Bool, traits: [String], digest: String) {
        self.version = version
        self.isRelease = isRelease
        self.traits = traits.sorted()
        self.digest = digest
    }

    /// Whether it may make planted mistakes and delays.
    package var hasZoo: Bool { traits.contains("Zoo") }
}

extension BuildDescription: JSONRecord {
    package static let blank = BuildDescription(version: "", isRelease: false, traits: [], digest: "")

    /// All members but the version: the caller reads onto a record that has it.
    package static let fields: [JSONField<BuildDescription>] = [
        .build("kind", \.isRelease), .member("traits", \.traits), .member("digest", \.digest),
    ]
}
