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

/// What a worker has to run an engine with, as its runner knew it when it began.
package struct EngineFiles: Sendable, Hashable {
    /// What the engine is loaded from, where it is no part of the program.
    package var own: EngineFile?
    /// What its library is loaded from, where that was chosen while the program runs.
    package var library: EngineFile?

    package init(own: EngineFile? = nil, library: EngineFile? = nil) {
        self.own = own
        self.library = library
    }

    package init(of engine: any Engine) {
        self.init(own: engine.file, library: engine.peerLibrary)
    }
}
