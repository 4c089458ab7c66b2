import Seeds
import Testing

@testable import FaultModel

/// The possible losses on file systems that promise more than POSIX.
@Suite struct CrashProfileTests {
    private func rules(_ profile: CrashProfile, exhaustiveUnits: Int = 12) -> CrashRules {
        var rules = CrashRules()
        rules.profile = profile
        rules.exhaustiveUnits = exhaustiveUnits
        rules.sampleCount = 300
        return rules
    }

    private func finalStates(_ trace: TraceBuilder, _ rules: CrashRules) -> [CrashState] {
        var states: [CrashState] = []
        var sweep = CrashSweep(base: DiskImage(), trace: trace.records, rules: rules, seed: Seed(1))
        _ = sweep.visit(points: trace.records.count..<(trace.records.count + 1)) { state in
            states.append(state)
            return true
        }
        return states
    }

    /// Writes a new file and renames it over a synced one.
    private func replaced() -> TraceBuilder {
        var trace = TraceBuilder()
        _ = trace.settled("rows", filled(1, 600))
        let inode = trace.create("new")
        trace.write(inode, filled(2, 600), at: 0)
        trace.add(.rename(path: "new", destination: "rows"), .rename)
        return trace
    }

    @Test("with ordered writes each state is one that the program saw")
    func prefix() {
        let trace = replaced()
        let seen = (0...3).map { undone in
            var image = DiskModel(DiskImage(), after: trace.records.count - undone, of: trace.records).current
            return image.digest()
        }
        let states = finalStates(trace, rules(.prefix))
        #expect(Set(states.map(\.digest)) == Set(seen) && states.count == 4)
        // A larger bound does not add states.
        #expect(finalStates(trace, rules(.prefix, exhaustiveUnits: 0)).count == 4)
    }

    @Test("ext4 keeps names in order, never a size without its data, and a file replaced by a rename")
    func ordered() {
        let trace = replaced()
        let strict = Set(finalStates(trace, rules(.strict)).map { $0.image["rows"]?.bytes })
        let ordered = Set(finalStates(trace, rules(.ext4Ordered)).map { $0.image["rows"]?.bytes })
        #expect(ordered == [filled(1, 600), filled(2, 600)])
        // Under strict rules the file may have zeros in place of the writes, or of a part of them.
        #expect(strict.contains(filled(0, 600)) && strict.isSuperset(of: ordered))
        var two = TraceBuilder()
        _ = two.create("one")
        _ = two.create("two")
        #expect(!finalStates(two, rules(.ext4Ordered)).contains { $0.image["one"] == nil && $0.image["two"] != nil })
        #expect(finalStates(two, rules(.strict)).contains { $0.image["one"] == nil && $0.image["two"] != nil })
    }

    @Test("on ext4 a new name can precede its contents, a replaced name cannot")
    func newName() {
        var trace = TraceBuilder()
        let inode = trace.create("new")
        trace.write(inode, filled(2, 600), at: 0)
        trace.add(.rename(path: "new", destination: "rows"), .rename)
        let found = Set(finalStates(trace, rules(.ext4Ordered)).map { $0.image["rows"]?.bytes })
        #expect(found == [nil, [], filled(2, 600)])
        // Writes after the rename are not flushed by it.
        var later = replaced()
        later.write(Inode(2), filled(3, 600), at: 600)
        let both = Set(finalStates(later, rules(.ext4Ordered)).map { $0.image["rows"]?.bytes })
        #expect(both == [filled(1, 600), filled(2, 600), filled(2, 600) + filled(3, 600)])
    }

    /// As an editor saves: a copy of the old file, then the file itself rewritten.
    private func rewritten() -> TraceBuilder {
        var trace = TraceBuilder()
        let inode = trace.settled("rows", filled(1, 600))
        let copy = trace.create("copy")
        trace.write(copy, filled(1, 600), at: 0)
        trace.truncate(inode, 0)
        trace.write(inode, filled(2, 600), at: 0)
        return trace
    }

    @Test("on ext4 truncations are ordered with names")
    func truncations() {
        let states = finalStates(rewritten(), rules(.ext4Ordered))
        #expect(!states.contains { $0.image["copy"] == nil && $0.image["rows"]?.bytes != filled(1, 600) })
        let strict = finalStates(rewritten(), rules(.strict))
        #expect(strict.contains { $0.image["copy"] == nil && $0.image["rows"]?.size == 0 })
        // A journal commit may come between the truncation and later writes.
        #expect(Set(states.map { $0.image["rows"]?.bytes }) == [filled(1, 600), [], filled(2, 600)])
    }

    @Test("a sync commits the whole journal: names, truncations, and renamed files")
    func journal() {
        var cut = rewritten()
        let other = cut.create("other")
        cut.write(other, filled(4, 10), at: 0)
        cut.sync(other)
        for state in finalStates(cut, rules(.ext4Ordered)) {
            #expect([[], filled(2, 600)].contains(state.image["rows"]?.bytes) && state.image["copy"] != nil)
        }
        var renamed = replaced()
        let next = renamed.create("other")
        renamed.sync(next)
        #expect(finalStates(renamed, rules(.ext4Ordered)).allSatisfy { $0.image["rows"]?.bytes == filled(2, 600) })
        #expect(finalStates(renamed, rules(.strict)).contains { $0.image["rows"]?.bytes == filled(1, 600) })
        // A directory's sync covers the journal up to its last change, in order.
        var directory = TraceBuilder()
        _ = directory.create("a/one")
        _ = directory.create("two")
        _ = directory.create("a/three")
        directory.syncDirectory()
        for state in finalStates(directory, rules(.ext4Ordered)) {
            #expect(state.image["a/one"] != nil && state.image["two"] != nil)
        }
        #expect(finalStates(directory, rules(.ext4Ordered)).contains { $0.image["a/three"] == nil })
    }

    @Test("visiting all legal states visits as many as counted")
    func counted() {
        var both = rewritten()
        both.add(.rename(path: "copy", destination: "rows"), .rename)
        for trace in [replaced(), rewritten(), both] {
            for profile in CrashProfile.allCases {
                let rules = rules(profile, exhaustiveUnits: 20)
                var sweep = CrashSweep(base: DiskImage(), trace: trace.records, rules: rules, seed: Seed(1))
                let report = sweep.visit { _ in true }
                #expect(report.exhaustivePoints == report.points)
                #expect(report.legal == .exactly(UInt64(report.visited)), "\(profile): \(report)")
            }
        }
    }

    @Test("on ext4 only, a sync of any file makes earlier names durable")
    func namesWithSync() {
        var trace = TraceBuilder()
        _ = trace.create("other")
        let inode = trace.create("rows")
        trace.write(inode, filled(3, 100), at: 0)
        trace.sync(inode)
        _ = trace.create("later")
        for state in finalStates(trace, rules(.ext4Ordered)) {
            #expect(state.image["rows"]?.bytes == filled(3, 100) && state.image["other"] != nil)
        }
        #expect(finalStates(trace, rules(.ext4Ordered)).contains { $0.image["later"] == nil })
        #expect(finalStates(trace, rules(.strict)).contains { $0.image["rows"] == nil })
    }

    @Test("on ext4 a sync of a part of a file makes earlier names durable, and no contents outside of that part")
    func namesWithSyncOfRange() {
        var trace = TraceBuilder()
        let inode = trace.create("rows")
        trace.write(inode, filled(1, 1_024), at: 0)
        trace.sync(inode)
        for place in [0, 512] { trace.write(inode, filled(2, 512), at: place) }
        _ = trace.create("other")
        trace.add(.syncRange(inode: inode, offset: 512, count: 512), .sync)
        let states = finalStates(trace, rules(.ext4Ordered))
        let second = filled(2, 512)
        #expect(Set(states.map { $0.image["rows"]?.bytes }) == [filled(1, 512) + second, second + second])
        #expect(states.allSatisfy { $0.image["other"] != nil })
        #expect(finalStates(trace, rules(.strict)).contains { $0.image["other"] == nil })
        // A failed sync makes nothing durable.
        trace.records[trace.records.count - 1].failed = true
        #expect(finalStates(trace, rules(.ext4Ordered)).contains { $0.image["other"] == nil })
    }

    @Test("with ordered writes a sync covers exactly all earlier writes")
    func syncInOrder() {
        var trace = TraceBuilder()
        let inode = trace.create("rows")
        let other = trace.create("other")
        trace.write(other, filled(1, 700), at: 0)
        trace.write(inode, filled(2, 700), at: 0)
        trace.write(other, filled(3, 700), at: 700)
        trace.sync(inode)
        let states = finalStates(trace, rules(.prefix))
        #expect(states.allSatisfy { $0.image["rows"]?.bytes == filled(2, 700) })
        let both = filled(1, 700) + filled(3, 700)
        #expect(Set(states.map { $0.image["other"]?.bytes }) == [filled(1, 700), both])
        #expect(finalStates(trace, rules(.strict)).contains { $0.image["other"] == nil })
    }

    @Test("a sample of states contains only legal ones")
    func chosen() {
        var trace = replaced()
        let inode = trace.create("log")
        for part in 0..<3 { trace.write(inode, filled(UInt8(4 + part), 700), at: 700 * part, role: .log) }
        trace.write(inode, filled(9, 512), at: 0, role: .log)
        let all = Set(finalStates(trace, rules(.ext4Ordered, exhaustiveUnits: 20)).map(\.digest))
        let chosen = finalStates(trace, rules(.ext4Ordered, exhaustiveUnits: 0)).map(\.digest)
        #expect(chosen.count > 10 && all.isSuperset(of: chosen))
    }

    @Test("a synced range is durable, its neighbours are not")
    func syncedRange() {
        var trace = TraceBuilder()
        let inode = trace.settled("rows", filled(1, 1_536))
        trace.write(inode, filled(2, 512), at: 0)
        trace.write(inode, filled(3, 1_024), at: 1_024)
        trace.add(.syncRange(inode: inode, offset: 1_024, count: 1_024), .sync)
        let found = Set(finalStates(trace, rules(.strict)).map { $0.image["rows"]?.bytes ?? [] })
        let middle = filled(1, 512) + filled(3, 1_024)
        #expect(found == [filled(1, 512) + middle, filled(2, 512) + middle])
        // A failed sync guarantees nothing.
        trace.records[trace.records.count - 1].failed = true
        #expect(finalStates(trace, rules(.strict)).contains { $0.image["rows"]?.bytes == filled(1, 1_536) })
    }

    @Test("a hard link names the same file")
    func link() {
        var trace = TraceBuilder()
        let inode = trace.settled("rows", filled(1, 10))
        trace.add(.link(path: "other", inode: inode), .create)
        let states = finalStates(trace, rules(.strict))
        #expect(Set(states.map { $0.image["other"]?.bytes }) == [nil, filled(1, 10)])
        trace.add(.remove(path: "rows"), .remove)
        trace.syncDirectory()
        #expect(finalStates(trace, rules(.strict)).allSatisfy { $0.image["other"]?.bytes == filled(1, 10) })
    }

    @Test("a state describes its part of each operation")
    func parts() throws {
        let trace = replaced()
        let point = CrashPoint(trace.model)
        let none = point.parts(of: StateMask())
        #expect(none.count == 3 && none.allSatisfy { $0.kept == .none })
        #expect(point.parts(of: StateMask(allBelow: point.bitCount)).allSatisfy { $0.kept == .all })
        let kept = finalStates(trace, rules(.strict)).flatMap { point.parts(of: $0.step.state).map(\.kept) }
        #expect(kept.contains(.part(sectors: 1, of: 2, isSizeKept: true)))
        // Bits: the name, two sectors, the size, the other name.
        let withoutSize = point.parts(of: StateMask(bits: [0, 1, 2, 4])).map(\.kept)
        #expect(withoutSize == [.all, .part(sectors: 2, of: 2, isSizeKept: false), .all])
    }
}
