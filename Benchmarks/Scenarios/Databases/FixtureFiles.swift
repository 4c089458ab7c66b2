import Files
import Harness

/// The files of a closed database, kept in memory: each trial starts from a copy of them.
struct FixtureFiles {
    let files: [(name: String, bytes: [UInt8])]

    /// The files of the case's fixture.
    init(_ context: CaseContext) throws {
        try self.init(context.engine, at: try context.fixtureLocation())
    }

    /// All but the lock file.
    init(_ engine: any Engine, at location: DatabaseLocation) throws {
        files = try engine.files(at: location).filter { $0.role != .lock }.map { file in
            (String(file.path.dropFirst(location.directory.count + 1)), try FileTree.readBytes(file.path))
        }
        guard !files.isEmpty else { throw HarnessError("the database of \(engine.name) has no files") }
    }

    var bytes: Int { files.reduce(0) { $0 + $1.bytes.count } }

    /// Writes them into a directory, and removes everything else in it.
    func place(in directory: String) throws -> DatabaseLocation {
        try FileTree.remove(directory)
        try FileTree.createDirectory(directory)
        for file in files { try FileTree.writeBytes(directory + "/" + file.name, file.bytes) }
        return DatabaseLocation(directory: directory)
    }
}
