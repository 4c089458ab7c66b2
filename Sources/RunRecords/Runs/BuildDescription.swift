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

    package var json: JSONValue {
        .object([
            JSONMember("kind", .string(isRelease ? "release" : "debug")), JSONMember("traits", .strings(traits)),
            JSONMember("digest", .string(digest)),
        ])
    }

    package init(json: JSONObjectReader, version: String) throws(JSONShapeError) {
        let kind = try json.string("kind")
        guard ["release", "debug"].contains(kind) else {
            throw JSONShapeError(path: json.path + ".kind", expected: "release or debug")
        }
        var traits: [String] = []
        for element in try json.array("traits") {
            guard case .string(let name) = element else {
                throw JSONShapeError(path: json.path + ".traits", expected: "strings")
            }
            traits.append(name)
        }
        self.init(version: version, isRelease: kind == "release", traits: traits, digest: try json.string("digest"))
    }
}
