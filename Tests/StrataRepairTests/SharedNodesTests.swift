import Platform
import StrataFiles
import StrataRepair
import Testing

@testable import StrataStorage
@testable import StrataStorageTests

/// A file of 600 KB whose trees share their children, with valid checksums and counts, claimed 10^12 elements: a check,
/// a copy, a compaction and a salvage of it once never ended, and wrote until the disk was full.
@Suite struct SharedNodesTests {
    /// Structures with many references to one node.
    enum Sharing: String, CaseIterable {
        case leavesOfList, branchesOfList, elementsOfSet, elementsOfMap, longElements, nested, values, groups, entries
    }

    @Test("a check ends, and reports a shared node", arguments: Sharing.allCases)
    func check(sharing: Sharing) async {
        await #expect(processExitsWith: .success) { [name = sharing.rawValue as String] in
            alarm(60)
            let file = try SharedNodes.make(name)
            precondition(file.finding() != nil, "\(name) is called sound")
            try SharedNodes.checkMemory()
        }
    }

    @Test("a copy ends, and is refused", arguments: Sharing.allCases)
    func copy(sharing: Sharing) async {
        await #expect(processExitsWith: .success) { [name = sharing.rawValue as String] in
            alarm(60)
            let (store, disk) = try SharedNodes.open(SharedNodes.make(name))
            let size = try disk.status(FileImages.path)?.size ?? 0
            // Two of these structures may be copied: an index is rebuilt, and a value that few rows share is copied for
            // each.
            let mayPass = ["entries", "longElements"].contains(name)
            do {
                try store.writeCopy(to: "copy")
                precondition(mayPass, "\(name) is copied")
                let made = try disk.status("copy")?.size ?? 0
                precondition(made <= size, "\(name) grows")
            } catch {
                precondition(SharedNodes.isDamage(error) && !mayPass, "\(name): \(error)")
                let left = try (disk.status("copy"), disk.status("copy.copying"))
                precondition(left.0 == nil && left.1 == nil, "\(name) leaves something")
            }
            try store.close()
            do {
                try Store.compact(path: FileImages.path, options: FileImages.options(on: disk))
                precondition(mayPass, "\(name) is compacted")
            } catch {
                precondition(SharedNodes.isDamage(error) && !mayPass, "\(name): \(error)")
            }
            try SharedNodes.checkMemory()
        }
    }

    @Test("a salvage ends, and the new store is sound", arguments: Sharing.allCases)
    func salvage(sharing: Sharing) async {
        await #expect(processExitsWith: .success) { [name = sharing.rawValue as String] in
            alarm(60)
            let file = try SharedNodes.make(name)
            let (report, _) = try SalvagedStore.from(file.bytes) { view, _ in
                try (0..<2).map { try view.rowCount($0) }
            }
            precondition(name == "entries" || !report.isWhole, "nothing is missing of \(name)")
            try SharedNodes.checkMemory()
        }
    }

    @Test("a survey, an inspection, a deletion and an online compaction end", arguments: Sharing.allCases)
    func others(sharing: Sharing) async {
        await #expect(processExitsWith: .success) { [name = sharing.rawValue as String] in
            alarm(60)
            let file = try SharedNodes.make(name)
            let (store, _) = try SharedNodes.open(file)
            _ = try StoreVerification(of: store).survey()
            let transaction = try store.beginWrite()
            for key in 1...2 as ClosedRange<Int64> {
                do { try transaction.delete(0, RowKey(key)) } catch { TestSettings.say("\(error)") }
            }
            transaction.rollback()
            let mover = try store.beginWrite()
            var cursor: CompactionCursor? = CompactionCursor()
            var steps = 0
            while let from = cursor {
                var walk = CompactionWalk(mover.nodes, limit: 3, pages: 16)
                steps += 1
                precondition(steps < 100_000, "an online compaction of \(name) goes on for ever")
                do { cursor = try walk.run(&mover.view.state, from: from) } catch { break }
            }
            mover.rollback()
            do { try store.close() } catch {}
            var options = FileImages.options
            let disk = FileImages.Disk()
            try disk.put(file.bytes, at: FileImages.path)
            options.fileSystem = disk
            options.readOnly = true
            let reading = try Store.open(path: FileImages.path, options: options)
            do { _ = try reading.inspect() } catch { precondition(SharedNodes.isDamage(error), "\(error)") }
            try reading.close()
            try SharedNodes.checkMemory()
        }
    }
}
