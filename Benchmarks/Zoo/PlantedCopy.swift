import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The copy of a database that a compaction makes and should not, or leaves behind.
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

    /// As many bytes as the database has, and what every compaction may take.
    func inMemory() throws(EngineError) -> [UInt8] {
        var hoard: [UInt8] = []
        try plant {
            let bytes = try files.reduce(8 << 20) { try $0 + FileTree.size($1.path) }
            hoard = [UInt8](repeating: 0x5A, count: bytes)
        }
        // Long enough for whoever looks now and then.
        usleep(50_000)
        return hoard
    }

    private func plant(_ body: () throws -> Void) throws(EngineError) {
        do { try body() } catch { throw EngineError(.unsupported, "the mistake cannot be planted: \(error)") }
    }
}
