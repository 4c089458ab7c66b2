import Files
import JSONText
import Platform
import RunRecords

extension CaseContext {
    /// Adds a map of the damaged files to the report, with the owner of each page if the engine names owners. A child
    /// process asks the engine, on a copy of the files: an open may change them, and a process that forks must not have
    /// an engine open.
    package func describeSweep(_ files: [(name: String, bytes: [UInt8])]) throws {
        var owners: [String: [SweepMap.PageRange]] = [:]
        if onlyTrial == nil { owners = try pageOwners(files) }
        report.describe(
            files.map { SweepMap.File(name: $0.name, byteCount: $0.bytes.count, owners: owners[$0.name] ?? []) })
    }

    /// Empty if the engine cannot name owners: the map then shows pages without them.
    private func pageOwners(_ files: [(name: String, bytes: [UInt8])]) throws -> [String: [SweepMap.PageRange]] {
        let location = try emptyLocation("page-owners")
        for file in files { try FileTree.writeBytes(location.directory + "/" + file.name, file.bytes) }
        let answer = directory + "/page-owners.json"
        let child = try ForkedChild.start { _ in
            do {
                let owners = try engine.pageOwners(at: location)
                let list = owners.map { SweepMap.File(name: $0.key, byteCount: 0, owners: $0.value) }
                let map = SweepMap(fault: .flip, positions: [], files: list)
                try FileTree.writeBytes(answer, map.json.bytes)
                return 0
            } catch {
                return 1
            }
        }
        let end = child.wait()
        defer { removeCopies([location.directory, answer]) }
        guard end == .exited(0) else { return [:] }
        let value = try JSONReader.read(try FileTree.readBytes(answer))
        let map = try SweepMap(json: try JSONObjectReader(value, path: "page owners"), limit: 0)
        return Dictionary(map.files.map { ($0.name, $0.owners) }) { first, _ in first }
    }

    private func removeCopies(_ paths: [String]) {
        for path in paths {
            do { try FileTree.remove(path) } catch { report.note("left behind: \(error)") }
        }
    }
}
