import RunRecords

/// A file that an engine's code is loaded from while the program runs.
package struct EngineFile: Sendable, Hashable {
    /// From the root.
    package var path: String
    /// Of its content: twelve hexadecimal digits.
    package var digest: String

    package init(path: String, digest: String) {
        self.path = path
        self.digest = digest
    }

    /// nil where the file cannot be read, or is empty.
    package init?(path: String) {
        guard let digest = BuildIdentity.identifier(file: path) else { return nil }
        self.init(path: path, digest: digest)
    }
}
