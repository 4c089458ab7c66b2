import Files
import Harness
import Platform

/// A copy of a database that a compaction makes or leaves by mistake.
struct PlantedCopy {
    private let files: [DatabaseFile]
    private let path: String

    init(files: [DatabaseFile], _ location: DatabaseLocation) {
        self.files = files
        path = Self.path(at: location)
    }

    static func path(at location: DatabaseLocation) -> String { location.directory + "/compaction-copy" }

    func make() throws(EngineError) {
        guard let file = files.first(where: { $0.role == .data }) else { return }
        try plant { try FileTree.writeBytes(path, try FileTree.readBytes(file.path)) }
    }

    func remove() throws(EngineError) { try plant { try FileTree.remove(path) } }

    /// As many bytes as the database has, plus what every compaction may use.
    func inMemory() throws(EngineError) -> [UInt8] {
        var hoard: [UInt8] = []
        try plant {
            let bytes = try files.reduce(8 << 20) { try $0 + FileTree.size($1.path) }
            hoard = [UInt8](repeating: 0x5A, count: bytes)
        }
        // Long enough to be seen by a sampler.
        usleep(50_000)
        return hoard
    }

    private func plant(_ body: () throws -> Void) throws(EngineError) {
        do { try body() } catch { throw EngineError(.unsupported, "the mistake cannot be planted: \(error)") }
    }
}
