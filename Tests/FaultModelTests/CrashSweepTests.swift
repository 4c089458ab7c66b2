import FaultModel
import Seeds
import Testing

@Suite struct CrashSweepTests {
    /// Every content that a crash may leave in a file: each sector independently has one of the versions that it had in
    /// memory since the sync, and the file has one of its sizes since then. Follows the fault model's rules, without
    /// its code.
    private func bruteForce(base: [UInt8], writes: [(offset: Int, bytes: [UInt8])]) -> Set<[UInt8]?> {
        var memory = base
        var sizes = [base.count]
        let sectors = (writes.map { $0.offset + $0.bytes.count } + [base.count]).max().map { ($0 + 511) / 512 } ?? 0
        func sector(_ index: Int) -> [UInt8] {
            let padded = memory + [UInt8](repeating: 0, count: sectors * 512 - memory.count)
            return Array(padded[(index * 512)..<(index * 512 + 512)])
        }
        var versions = (0..<sectors).map { Set([sector($0)]) }
        for (offset, bytes) in writes {
            if memory.count < offset + bytes.count {
                memory += [UInt8](repeating: 0, count: offset + bytes.count - memory.count)
                sizes.append(memory.count)
            }
            memory.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
            for index in (offset / 512)...((offset + bytes.count - 1) / 512) { versions[index].insert(sector(index)) }
        }
        var contents: Set<[UInt8]> = [[]]
        for choices in versions {
            contents = Set(contents.flatMap { start in choices.map { start + $0 } })
        }
        return Set(contents.flatMap { content in sizes.map { Array(content.prefix($0)) } })
    }

    @Test("exhaustive enumeration gives the contents that brute force gives", arguments: 0..<80)
    func equalsBruteForce(seed: UInt64) {
        var random = RandomStream(Seed(seed))
        let base = (0..<random.below(1500)).map { UInt8(truncatingIfNeeded: $0) }
        var trace = TraceBuilder()
        let file = trace.settled("a.log", base)
        var writes: [(offset: Int, bytes: [UInt8])] = []
        for value in 0..<(1 + random.below(3)) {
            let bytes = filled(UInt8(200 + value), 1 + random.below(900))
            let offset = random.below(1200)
            writes.append((offset, bytes))
            trace.write(file, bytes, at: offset, role: .log)
        }
        #expect(trace.finalContents(of: "a.log") == bruteForce(base: base, writes: writes), "seed \(seed)")
    }

    @Test("states are built again in any order, and a state of no operation is refused")
    func statesInAnyOrder() {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 2_000))
        for value in 0..<6 {
            trace.write(file, filled(UInt8(10 + value), 700), at: 300 * value)
            if value % 3 == 2 { trace.sync(file) }
        }
        var states: [(step: CrashAddress.Step, digest: UInt64)] = []
        var sweep = CrashSweep(base: DiskImage(), trace: trace.records, seed: Seed(1))
        _ = sweep.visit { state in
            states.append((state.step, state.digest))
            return true
        }
        #expect(states.count > 20)
        var random = RandomStream(Seed(2))
        for order in [Array(states.indices), states.indices.reversed(), random.permutation(of: states.count)] {
            var rebuild = CrashRebuild(base: DiskImage(), trace: trace.records, profile: .strict)
            for place in order {
                var image = rebuild.image(at: states[place].step)
                #expect(image?.digest() == states[place].digest)
            }
            #expect(rebuild.image(at: CrashAddress.Step(operation: trace.records.count + 1, state: StateMask())) == nil)
            #expect(rebuild.image(at: CrashAddress.Step(operation: 0, state: StateMask(bits: [3]))) == nil)
        }
    }

    @Test("chosen states are among the legal ones", arguments: 0..<20)
    func chosenStatesAreLegal(seed: UInt64) {
        var random = RandomStream(Seed(seed))
        var trace = TraceBuilder()
        let file = trace.settled("a.log", filled(1, 2048))
        for value in 0..<4 {
            trace.write(
                file, filled(UInt8(10 + value), 1 + random.below(700)), at: random.below(1800),
                role: .log)
        }
        var few = CrashRules()
        few.exhaustiveUnits = 0
        few.sampleCount = 50
        var all = CrashRules()
        all.exhaustiveUnits = 20
        #expect(trace.finalContents(of: "a.log", few).isSubset(of: trace.finalContents(of: "a.log", all)))
    }

    /// Twenty writes, too many to visit all states.
    private var longTrace: TraceBuilder {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 20 * 4096))
        for page in 0..<20 { trace.write(file, filled(UInt8(100 + page), 4096), at: page * 4096) }
        return trace
    }

    @Test("above the limit prefixes, single losses, pairs and cuts are visited")
    func aboveTheLimit() {
        let contents = longTrace.finalContents(of: "a")
        func expected(_ isKept: (Int) -> Bool) -> [UInt8] {
            (0..<20).flatMap { filled(isKept($0) ? UInt8(100 + $0) : 1, 4096) }
        }
        for page in 0..<20 {
            #expect(contents.contains(expected { $0 < page }), "prefix \(page)")
            #expect(contents.contains(expected { $0 != page }), "lost \(page)")
            #expect(contents.contains(expected { $0 == page }), "alone \(page)")
            for sectors in 1..<8 {
                var torn = expected { $0 <= page }
                let start = page * 4096 + sectors * 512
                torn.replaceSubrange(start..<(page + 1) * 4096, with: filled(1, (8 - sectors) * 512))
                #expect(contents.contains(torn), "cut \(page) at \(sectors)")
            }
            for other in 0..<page {
                #expect(contents.contains(expected { $0 != page && $0 != other }), "pair \(other), \(page)")
            }
        }
        #expect(contents.count > 1000)
    }

    @Test("the report says how much of what is legal was visited")
    func reportOfASweep() {
        let trace = longTrace
        var sweep = CrashSweep(base: DiskImage(), trace: trace.records, seed: Seed(1))
        var handedOut = 0
        let last = trace.records.count
        let report = sweep.visit(points: last..<(last + 1)) { _ in
            handedOut += 1
            return true
        }
        #expect(report.points == 1)
        #expect(report.operations == last)
        // Two header pages and the last write are split by sector, the other 17 by page.
        #expect(report.units == 3 * 8 + 17)
        #expect(report.legal == .exactly(1 << 41))
        #expect(report.distinct == handedOut)
        #expect(report.visited >= report.distinct)
        #expect(report.exhaustivePoints == 0)
        #expect(LegalCount.exactly(1 << 61) * .exactly(1 << 10) == .moreThanTwoTo(71))
        #expect(LegalCount.moreThanTwoTo(71).description == "more than 2^71")
    }

    @Test("a canonical address rebuilds its state")
    func addressRebuildsItsState() throws {
        let trace = longTrace
        var rules = CrashRules()
        rules.sampleCount = 40
        var sweep = CrashSweep(base: DiskImage(), trace: trace.records, rules: rules, seed: Seed(3))
        let replay = sweep
        var checked = 0
        _ = try sweep.visit(points: 12..<25) { state in
            checked += 1
            if checked % 17 != 0 { return true }
            let text = state.address.description
            let address = try #require(CrashAddress(text), "\(text)")
            #expect(address == state.address)
            let again = try #require(replay.image(at: address.steps[0]))
            #expect(again.entries == state.image.entries)
            #expect(again.files == state.image.files)
            return true
        }
        #expect(checked > 1000)
    }

    @Test("an address that is no state of the trace is refused")
    func foreignAddressIsRefused() {
        var trace = TraceBuilder()
        _ = trace.create("a")
        let sweep = CrashSweep(base: DiskImage(), trace: trace.records, seed: Seed(1))
        #expect(sweep.image(at: .init(operation: 1, state: StateMask(bits: [0]))) != nil)
        #expect(sweep.image(at: .init(operation: 1, state: StateMask(bits: [1]))) == nil)
        #expect(sweep.image(at: .init(operation: 2, state: StateMask())) == nil)
    }

    @Test("equal seeds give equal states, and others do not")
    func equalSeeds() {
        func addresses(_ seed: UInt64) -> [String] {
            var found: [String] = []
            let trace = longTrace
            var sweep = CrashSweep(base: DiskImage(), trace: trace.records, seed: Seed(seed))
            let last = trace.records.count
            _ = sweep.visit(points: last..<(last + 1)) { state in
                found.append(state.address.description)
                return true
            }
            return found
        }
        let first = addresses(7)
        #expect(first == addresses(7))
        #expect(first != addresses(8))
    }

    @Test("states with equal bytes are tried once for each context")
    func triedOncePerContext() {
        var trace = TraceBuilder()
        let file = trace.settled("a", filled(1, 512))
        trace.write(file, filled(1, 512), at: 0)
        trace.write(file, filled(1, 512), at: 0)
        let points = 4..<(trace.records.count + 1)
        func count(_ context: (Int) -> UInt64) -> (visited: Int, distinct: Int) {
            var sweep = CrashSweep(base: DiskImage(), trace: trace.records, seed: Seed(1))
            let report = sweep.visit(points: points, context: context) { _ in true }
            return (report.visited, report.distinct)
        }
        #expect(count { _ in 0 } == (1 + 2 + 4, 1))
        #expect(count { UInt64($0) } == (1 + 2 + 4, 3))
    }

    @Test("a sweep stops when its visitor says so")
    func stoppedSweep() {
        let trace = longTrace
        var sweep = CrashSweep(base: DiskImage(), trace: trace.records, seed: Seed(1))
        var count = 0
        let report = sweep.visit { _ in
            count += 1
            return count < 5
        }
        #expect(report.distinct == 5)
    }

    @Test("a crash before the first operation leaves the base")
    func crashBeforeTheFirst() {
        var base = DiskImage()
        base.files[Inode(9)] = FileImage([1, 2, 3])
        base.entries["a"] = Inode(9)
        var sweep = CrashSweep(base: base, trace: [], seed: Seed(1))
        var states: [CrashState] = []
        _ = sweep.visit { state in
            states.append(state)
            return true
        }
        #expect(states.map(\.address.description) == ["crash:op=0,state=0x0"])
        #expect(states.first?.image["a"]?.bytes == [1, 2, 3])
    }
}
