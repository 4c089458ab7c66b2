import FaultModel
import Seeds
import Testing

/// Random traces over two files, compared with a model of whole files.
@Suite struct RandomTraceTests {
    private struct Whole {
        var files: [Inode: [UInt8]] = [:]
        var entries: [String: Inode] = [:]
    }

    private struct History {
        var trace = TraceBuilder()
        /// The contents that programs see, and the durable ones, file by file.
        var current = Whole()
        var durable = Whole()

        mutating func step(_ random: inout RandomStream) {
            let names = ["a", "b", "c"]
            let name = names[random.below(3)]
            guard let inode = current.entries[name] else {
                let made = trace.create(name)
                current.entries[name] = made
                current.files[made] = []
                durable.files[made] = []
                return
            }
            var bytes = current.files[inode] ?? []
            switch random.below(12) {
            case 0:
                let size = random.below(9_000)
                trace.truncate(inode, size)
                current.files[inode] = Array(bytes.prefix(size)) + filled(0, max(0, size - bytes.count))
            case 1:
                let other = names[random.below(3)]
                trace.add(.rename(path: name, destination: other), .rename)
                current.entries[name] = nil
                current.entries[other] = inode
            case 2:
                trace.add(.remove(path: name), .remove)
                current.entries[name] = nil
            case 3, 4:
                trace.sync(inode)
                durable.files[inode] = bytes
            case 5, 6:
                trace.syncDirectory()
                durable.entries = current.entries
            default:
                let piece = filled(UInt8(1 + random.below(255)), 1 + random.below(5_000))
                let offset = random.below(6_000)
                trace.write(inode, piece, at: offset)
                bytes += filled(0, max(0, offset + piece.count - bytes.count))
                bytes.replaceSubrange(offset..<(offset + piece.count), with: piece)
                current.files[inode] = bytes
            }
        }
    }

    private func contents(_ image: DiskImage) -> [String: [UInt8]] {
        image.entries.mapValues { image.files[$0]?.bytes ?? [] }
    }

    private func contents(_ whole: Whole) -> [String: [UInt8]] {
        whole.entries.mapValues { whole.files[$0] ?? [] }
    }

    @Test("a crash that keeps nothing leaves the last sync, one that keeps all what programs saw", arguments: 0..<12)
    func noneOrAllKept(seed: UInt64) {
        var random = RandomStream(Seed(seed))
        var history = History()
        for step in 0..<40 {
            history.step(&random)
            let point = CrashPoint(history.trace.model)
            #expect(contents(point.image(of: StateMask())) == contents(history.durable), "seed \(seed), step \(step)")
            let all = StateMask(allBelow: point.bitCount)
            #expect(contents(point.image(of: all)) == contents(history.current), "seed \(seed), step \(step)")
        }
    }

    @Test("every byte of every state was there once, or is zero", arguments: 0..<4)
    func everyByteWasThere(seed: UInt64) {
        var random = RandomStream(Seed(seed))
        var history = History()
        var seen: [Inode: [Set<UInt8>]] = [:]
        for _ in 0..<25 {
            history.step(&random)
            for (inode, bytes) in history.current.files {
                var places = seen[inode] ?? [Set<UInt8>](repeating: [0], count: 11_000)
                for place in Swift.stride(from: 0, to: bytes.count, by: 211) { places[place].insert(bytes[place]) }
                seen[inode] = places
            }
        }
        var rules = CrashRules()
        rules.exhaustiveUnits = 6
        rules.sampleCount = 10
        rules.pairLimit = 4
        rules.cutLimit = 0
        var sweep = CrashSweep(base: DiskImage(), trace: history.trace.records, rules: rules, seed: Seed(seed))
        let report = sweep.visit { state in
            for (inode, file) in state.image.files {
                let bytes = file.bytes
                for place in Swift.stride(from: 0, to: bytes.count, by: 211)
                where seen[inode]?[place].contains(bytes[place]) != true {
                    Issue.record("seed \(seed), \(state.address): byte \(place) of \(inode) is \(bytes[place])")
                    return false
                }
            }
            return true
        }
        #expect(report.distinct > 25)
    }
}
