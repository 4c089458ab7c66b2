import Harness
import RunRecords

/// The files of a closed database, held in memory: each trial begins with a copy of them.
struct FixtureFiles {
    let files: [(name: String, bytes: [UInt8])]

    /// Those of the case's fixture.
    init(_ context: CaseContext) throws {
        try self.init(context.engine, at: try context.fixtureLocation())
    }

    /// All but the lock.
    init(_ engine: any Engine, at location: DatabaseLocation) throws {
        files = try engine.files(at: location).filter { $0.role != .lock }.map { file in
            (String(file.path.dropFirst(location.directory.count + 1)), try FileTree.readBytes(file.path))
        }
        guard !files.isEmpty else { throw HarnessError("the database of \(engine.name) has no files") }
    }

    var bytes: Int { files.reduce(0) { $0 + $1.bytes.count } }

    /// Writes them into a directory that holds nothing else afterwards.
    func place(in directory: String) throws -> DatabaseLocation {
        try FileTree.remove(directory)
        try FileTree.createDirectory(directory)
        for file in files { try FileTree.writeBytes(directory + "/" + file.name, file.bytes) }
        return DatabaseLocation(directory: directory)
    }
}
