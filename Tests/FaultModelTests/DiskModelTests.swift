import FaultModel
import Testing

@Suite struct DiskModelTests {
    @Test("nothing that was synced is ever lost")
    func syncedIsNeverLost() {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 4096))
        trace.write(file, filled(2, 512), at: 0)
        trace.sync(file)
        trace.write(file, filled(3, 512), at: 2048)
        for state in trace.finalStates() {
            let bytes = state.image["a"]?.bytes ?? []
            #expect(bytes.prefix(512) == filled(2, 512)[...])
            #expect(bytes.dropFirst(512).prefix(1536).allSatisfy { $0 == 1 })
        }
    }

    @Test("an unsynced write is lost or whole")
    func unsyncedWrite() {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 512))
        trace.write(file, filled(2, 512), at: 0)
        #expect(trace.finalContents(of: "a") == [filled(1, 512), filled(2, 512)])
    }

    @Test("the last write of a file may be torn at every sector")
    func tornAtEverySector() {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 4096))
        trace.write(file, filled(2, 4096), at: 0)
        let contents = trace.finalContents(of: "a")
        for sectors in 0...8 {
            #expect(contents.contains(filled(2, sectors * 512) + filled(1, 4096 - sectors * 512)))
        }
        #expect(contents.count == 256)
    }

    @Test("a sector is never torn")
    func sectorIsNeverTorn() {
        var trace = TraceBuilder()
        let file = trace.settled("a.log", filled(1, 1024))
        trace.write(file, filled(2, 1000), at: 12, role: .log)
        for content in trace.finalContents(of: "a.log") {
            let first = content?.prefix(512) ?? []
            #expect(first == filled(1, 512)[...] || first == (filled(1, 12) + filled(2, 500))[...])
        }
    }

    @Test("a sector goes to the disk as it stood in memory")
    func sectorAsInMemory() {
        var trace = TraceBuilder()
        let file = trace.settled("a.log", filled(1, 512))
        trace.write(file, filled(2, 100), at: 0, role: .log)
        trace.write(file, filled(3, 100), at: 100, role: .log)
        // The second write alone would need a disk that writes less than a sector.
        #expect(
            trace.finalContents(of: "a.log") == [
                filled(1, 512), filled(2, 100) + filled(1, 412), filled(2, 100) + filled(3, 100) + filled(1, 312),
            ])
    }

    @Test("writes reach the disk in any order")
    func writesInAnyOrder() {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 8192))
        trace.write(file, filled(2, 512), at: 0)
        trace.write(file, filled(3, 512), at: 4096)
        let contents = trace.finalContents(of: "a")
        #expect(contents.contains(filled(1, 4096) + filled(3, 512) + filled(1, 3584)))
        #expect(contents.count == 4)
    }

    @Test("a file's size reaches the disk apart from its contents")
    func sizeApartFromContents() {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 512))
        trace.write(file, filled(2, 512), at: 512)
        // The new size without the bytes reads as zeros; the bytes without the new size cannot be read.
        #expect(
            trace.finalContents(of: "a") == [
                filled(1, 512), filled(1, 512) + filled(0, 512), filled(1, 512) + filled(2, 512),
            ])
    }

    @Test("sizes of one file change in order")
    func sizesInOrder() {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 2048))
        trace.truncate(file, 512)
        trace.truncate(file, 1024)
        #expect(
            trace.finalContents(of: "a") == [filled(1, 2048), filled(1, 512), filled(1, 512) + filled(0, 512)])
    }

    @Test("bytes that a cut took off do not come back")
    func cutBytesStayAway() {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 8192))
        trace.truncate(file, 100)
        trace.truncate(file, 8192)
        trace.sync(file)
        #expect(trace.finalContents(of: "a") == [filled(1, 100) + filled(0, 8092)])
    }

    @Test("a new file may vanish though its contents were synced")
    func newFileMayVanish() {
        var trace = TraceBuilder()
        let file = trace.create("a")
        trace.write(file, [1, 2, 3], at: 0)
        trace.sync(file)
        #expect(trace.finalContents(of: "a") == [nil, [1, 2, 3]])
        trace.syncDirectory()
        #expect(trace.finalContents(of: "a") == [[1, 2, 3]])
    }

    @Test("a synced name may lead to an empty file")
    func syncedNameOfEmptyFile() {
        var trace = TraceBuilder()
        let file = trace.create("a")
        trace.syncDirectory()
        trace.write(file, filled(7, 512), at: 0)
        #expect(trace.finalContents(of: "a") == [[], filled(0, 512), filled(7, 512)])
    }

    @Test("a rename may be undone, but is never half done")
    func undoneRename() {
        var trace = TraceBuilder()
        _ = trace.settled("old", [1])
        _ = trace.settled("new", [2])
        trace.add(.rename(path: "new", destination: "old"), .rename)
        let states = Set(trace.finalStates().map { [$0.image["old"]?.bytes, $0.image["new"]?.bytes] })
        #expect(states == [[[1], [2]], [[2], nil]])
        trace.syncDirectory()
        #expect(trace.finalContents(of: "old") == [[2]])
    }

    @Test("changes of one name reach the disk in order")
    func changesOfOneName() {
        var trace = TraceBuilder()
        _ = trace.settled("a", [1])
        trace.add(.remove(path: "a"), .remove)
        let again = trace.create("a")
        trace.write(again, [2], at: 0)
        trace.sync(again)
        #expect(trace.finalContents(of: "a") == [[1], nil, [2]])
    }

    @Test("changes of different names reach the disk in any order")
    func changesOfDifferentNames() {
        var trace = TraceBuilder()
        _ = trace.create("a")
        _ = trace.create("b")
        let states = Set(trace.finalStates().map { Set($0.image.entries.keys) })
        #expect(states == [[], ["a"], ["b"], ["a", "b"]])
    }

    @Test("after a failed sync the bytes that it covered stay in doubt")
    func doubtAfterAFailedSync() {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 1024))
        trace.write(file, filled(2, 512), at: 0)
        trace.sync(file, failed: true)
        trace.write(file, filled(3, 512), at: 512)
        trace.sync(file)
        // The second sync reports success, and the first write may still be missing.
        #expect(
            trace.finalContents(of: "a") == [
                filled(1, 512) + filled(3, 512), filled(2, 512) + filled(3, 512),
            ])
        #expect(trace.model.current["a"]?.bytes == filled(2, 512) + filled(3, 512))
    }

    @Test("a new write that is synced ends the doubt about its bytes")
    func syncedWriteEndsDoubt() {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 512))
        trace.write(file, filled(2, 512), at: 0)
        trace.sync(file, failed: true)
        trace.write(file, filled(3, 512), at: 0)
        trace.sync(file)
        #expect(trace.finalContents(of: "a") == [filled(3, 512)])
    }

    @Test("a size that a failed sync should have covered waits for the next one")
    func sizeAfterAFailedSync() {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 512))
        trace.write(file, filled(2, 512), at: 512)
        trace.sync(file, failed: true)
        let lost = filled(1, 512)
        #expect(trace.finalContents(of: "a") == [lost, lost + filled(0, 512), lost + filled(2, 512)])
        trace.sync(file)
        #expect(trace.finalContents(of: "a") == [lost + filled(0, 512), lost + filled(2, 512)])
    }

    @Test("a name that a failed sync should have covered waits for the next one")
    func nameAfterAFailedSync() {
        var trace = TraceBuilder()
        _ = trace.create("a")
        trace.syncDirectory(failed: true)
        _ = trace.create("b")
        func states() -> Set<Set<String>> { Set(trace.finalStates().map { Set($0.image.entries.keys) }) }
        #expect(states() == [[], ["a"], ["b"], ["a", "b"]])
        trace.syncDirectory()
        #expect(states() == [["a", "b"]])
    }
}
