import JSONText
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension CaseContext {
    /// Tells the report which files a sweep damages, and what stands in their pages, as far as the engine can say. The
    /// engine is asked about a copy, in a child: an open may change what it opens, and no engine may be open in a
    /// process that forks.
    package func describeSweep(_ files: [(name: String, bytes: [UInt8])]) throws {
        var owners: [String: [SweepMap.PageRange]] = [:]
        if onlyTrial == nil { owners = try pageOwners(files) }
        report.describe(
            files.map { SweepMap.File(name: $0.name, byteCount: $0.bytes.count, owners: owners[$0.name] ?? []) })
    }

    /// Nothing where the engine cannot say: a map without names is still a map.
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
