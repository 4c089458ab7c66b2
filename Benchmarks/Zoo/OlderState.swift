import Files
import Harness
import Synchronization

/// The files of a database at the open of its first session, restored at the close of its last one.
final class OlderState: Sendable {
    private struct Kept: Sendable {
        var files: [(path: String, bytes: [UInt8])]
        var sessions: Int
    }

    private static let kept = Mutex<[String: Kept]>([:])
    private let location: DatabaseLocation

    private init(_ location: DatabaseLocation) {
        self.location = location
    }

    /// - Returns: the object whose `noteClose` a session calls when it is closed; nil where nothing is kept.
    static func noteOpen(_ location: DatabaseLocation, _ isWanted: Bool) throws(EngineError) -> OlderState? {
        guard isWanted else { return nil }
        do {
            try kept.withLock { kept in
                if kept[location.directory] != nil {
                    kept[location.directory]?.sessions += 1
                    return
                }
                var files: [(path: String, bytes: [UInt8])] = []
                for name in try FileTree.names(in: location.directory) {
                    let path = location.directory + "/" + name
                    if !FileTree.isDirectory(path) { files.append((path, try FileTree.readBytes(path))) }
                }
                kept[location.directory] = Kept(files: files, sessions: 1)
            }
        } catch {
            throw EngineError(.unsupported, "the mistake cannot be planted: \(error)")
        }
        return OlderState(location)
    }

    /// Call it once for each session, after its close.
    func noteClose() throws(EngineError) {
        let files = Self.kept.withLock { kept -> [(path: String, bytes: [UInt8])]? in
            kept[location.directory]?.sessions -= 1
            guard let entry = kept[location.directory], entry.sessions == 0 else { return nil }
            kept[location.directory] = nil
            return entry.files
        }
        guard let files else { return }
        do {
            for name in try FileTree.names(in: location.directory) {
                let path = location.directory + "/" + name
                if !FileTree.isDirectory(path) { try FileTree.remove(path) }
            }
            for file in files { try FileTree.writeBytes(file.path, file.bytes) }
        } catch {
            throw EngineError(.unsupported, "the mistake cannot be planted: \(error)")
        }
    }
}
