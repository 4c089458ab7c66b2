import RunRecords

/// A file from which an engine's code is loaded at run time.
package struct EngineFile: Sendable, Hashable {
    /// Absolute.
    package var path: String
    /// A digest of its content: twelve hexadecimal digits.
    package var digest: String

    package init(path: String, digest: String) {
        self.path = path
        self.digest = digest
    }

    /// nil if the file cannot be read, or is empty.
    package init?(path: String) {
        guard let digest = FileDigest.identifier(file: path) else { return nil }
        self.init(path: path, digest: digest)
    }
}

/// The files that a worker must load its engine from, as they were when the run began.
package struct EngineFiles: Sendable, Hashable {
    /// The file of the engine, if it is not part of the program.
    package var own: EngineFile?
    /// The file of the engine's library, if the user chose one at run time.
    package var library: EngineFile?

    package init(own: EngineFile? = nil, library: EngineFile? = nil) {
        self.own = own
        self.library = library
    }

    package init(of engine: any Engine) {
        self.init(own: engine.file, library: engine.peerLibrary)
    }
}
