/// Bits of a mask that are decided independently of all other units. The number of legal states is the product of the
/// units' numbers of choices.
struct CrashUnit: Sendable {
    /// The sets of bits that may be on disk; the first is the empty one.
    var choices: [[Int]]
    /// How many it counts as in ``CrashCoverage/units``: a chain of n dependent changes counts n.
    var size: Int
}

extension CrashPoint {
    /// The independent units. A write is decided sector by sector if it goes to the log, if it lies in the header of
    /// the data file, or if it is the last write of its file and at most a page long. Any other write is decided page
    /// by page: each page of it is lost or whole.
    func units(_ rules: CrashRules) -> [CrashUnit] {
        switch rules.profile {
        case .strict: dataUnits(rules) { _ in true } + chainUnits()
        case .ext4Ordered: dataUnits(rules) { !$0.lengthens } + orderedUnits()
        case .prefix: [Self.prefixes(of: effects.filter { !$0.bits.isEmpty }) { Array($0.bits) }]
        }
    }

    /// The legal state nearest to a mask.
    func permitted(_ mask: StateMask, _ profile: CrashProfile) -> StateMask {
        guard profile == .ext4Ordered else { return mask }
        var result = mask
        var isCut = false
        for effect in effects {
            guard let bit = effect.journalBit else { continue }
            isCut = isCut || !result[bit]
            if isCut {
                result[bit] = false
            } else {
                for place in effect.rest { result.set(effects[place].bits, to: true) }
            }
        }
        // Contents beyond a size that is not on the disk are lost.
        result = normalized(result)
        for effect in effects where effect.lengthens {
            if let bit = effect.sizeBit { result.set(effect.dataBits, to: result[bit]) }
        }
        return result
    }

    /// One unit for the journal (names and explicit sizes, in order), and one for each run of writes that extend a
    /// file, with their sizes. That a change in the journal also waits for such writes is left to ``permitted(_:_:)``.
    private func orderedUnits() -> [CrashUnit] {
        let journal = effects.filter { $0.journalBit != nil }
        var units = journal.isEmpty ? [] : [Self.prefixes(of: journal) { $0.journalBit.map { [$0] } ?? [] }]
        for run in lengtheningRuns() {
            units.append(
                Self.prefixes(of: run.effects.map { effects[$0] }) { effect in
                    Array(effect.dataBits) + (effect.sizeBit.map { [$0] } ?? [])
                })
        }
        return units
    }

    /// Writes that extend one file, between two explicit size changes.
    private struct LengtheningRun {
        /// Indexes of effects.
        var effects: [Int] = []
        /// The indexes of those two changes; nil for none.
        var before: Int?
        var behind: Int?
    }

    private func lengtheningRuns() -> [LengtheningRun] {
        var runs: [LengtheningRun] = []
        /// The current run of each file.
        var open: [Inode: Int] = [:]
        var lastSet: [Inode: Int] = [:]
        for (place, effect) in effects.enumerated() {
            guard let inode = effect.operation.inode, effect.sizeBit != nil else { continue }
            if effect.lengthens {
                if open[inode] == nil {
                    open[inode] = runs.count
                    runs.append(LengtheningRun(before: lastSet[inode]))
                }
                if let run = open[inode] { runs[run].effects.append(place) }
            } else {
                if let run = open.removeValue(forKey: inode) { runs[run].behind = place }
                lastSet[inode] = place
            }
        }
        return runs
    }

    /// The number of states of names, explicit sizes and extending writes that a journal allows.
    /// Complexity: O(changes in the journal * runs).
    private func journalCount() -> LegalCount {
        let journal = effects.indices.filter { effects[$0].journalBit != nil }
        var order: [Int: Int] = [:]
        // By write: the number of the journal's change that waits for it.
        var wanted: [Int: Int] = [:]
        for (number, place) in journal.enumerated() {
            order[place] = number
            for rested in effects[place].rest { wanted[rested] = number }
        }
        let runs = lengtheningRuns()
        // How many prefixes of a run are legal when `written` changes of the journal are on the disk.
        func prefixCount(_ run: LengtheningRun, _ written: Int) -> LegalCount {
            // The file does not exist yet, or the later explicit size hides the run.
            if let before = run.before.flatMap({ order[$0] }), before >= written { return .exactly(1) }
            if let behind = run.behind.flatMap({ order[$0] }), behind < written { return .exactly(1) }
            return .exactly(UInt64(run.effects.count { wanted[$0].map { $0 >= written } ?? true } + 1))
        }
        var concerned: [Int: [Int]] = [:]
        for (index, run) in runs.enumerated() {
            let ends = [run.before, run.behind].compactMap { $0.flatMap { order[$0] } }
            for number in Set(ends + run.effects.compactMap { wanted[$0] }) {
                concerned[number, default: []].append(index)
            }
        }
        var counts = runs.map { prefixCount($0, 0) }
        var total = counts.reduce(.exactly(1), *)
        for written in journal.indices.map({ $0 + 1 }) {
            for index in concerned[written - 1] ?? [] { counts[index] = prefixCount(runs[index], written) }
            total = total + counts.reduce(.exactly(1), *)
        }
        return total
    }

    /// How many states are legal, by independent units.
    func legal(_ units: [CrashUnit], _ rules: CrashRules) -> LegalCount {
        let product = units.reduce(LegalCount.exactly(1)) { $0 * .exactly(UInt64($1.choices.count)) }
        guard rules.profile == .ext4Ordered else { return product }
        let data = dataUnits(rules) { !$0.lengthens }
        return journalCount() * data.reduce(.exactly(1)) { $0 * .exactly(UInt64($1.choices.count)) }
    }

    private static func prefixes(of effects: [Effect], _ bits: (Effect) -> [Int]) -> CrashUnit {
        var choices: [[Int]] = [[]]
        for effect in effects { choices.append((choices.last ?? []) + bits(effect)) }
        return CrashUnit(choices: choices, size: effects.count)
    }

    /// Writes, by sector or by page.
    private func dataUnits(_ rules: CrashRules, _ isFree: (Effect) -> Bool) -> [CrashUnit] {
        var lastWrite: [Inode: Int] = [:]
        for (index, effect) in effects.enumerated() where !effect.dataBits.isEmpty {
            if let inode = effect.operation.inode { lastWrite[inode] = index }
        }
        var units: [CrashUnit] = []
        for (index, effect) in effects.enumerated() {
            guard let data = effect.operation.data, let inode = effect.operation.inode, !effect.isCertain,
                isFree(effect)
            else {
                continue
            }
            let isLast = lastWrite[inode] == index && data.sectorCount * FileImage.sectorSize <= FileImage.pageSize
            for piece in effect.pieces {
                let offset = (data.firstSector + piece.sectors.lowerBound) * FileImage.sectorSize
                let isHeader = effect.operation.role == .data && offset < rules.headerBytes
                let bits = piece.sectors.map { effect.dataBits.lowerBound + $0 }
                if isLast || isHeader || effect.operation.role == .log {
                    units += bits.map { CrashUnit(choices: [[], [$0]], size: 1) }
                } else {
                    units.append(CrashUnit(choices: [[], bits], size: 1))
                }
            }
        }
        return units
    }

    /// Size changes by file, and dependent changes of names.
    private func chainUnits() -> [CrashUnit] {
        var groups: [[Effect]] = []
        var groupOfBit: [Int: Int] = [:]
        for effect in effects {
            guard let bit = effect.sizeBit ?? effect.entryBit else { continue }
            let joined = Set(effect.forerunners.compactMap { groupOfBit[$0] }).sorted()
            let target = joined.first ?? groups.count
            if target == groups.count { groups.append([]) }
            for other in joined.dropFirst() {
                groups[target] += groups[other]
                groups[other] = []
            }
            groups[target].append(effect)
            groupOfBit[bit] = target
            for (known, group) in groupOfBit where joined.contains(group) { groupOfBit[known] = target }
        }
        return groups.filter { !$0.isEmpty }.map(Self.chain)
    }

    /// The sets of changes that contain every predecessor of each of their changes. Of more than 10 changes only the
    /// prefixes, so that the sets do not grow exponentially.
    private static func chain(_ group: [Effect]) -> CrashUnit {
        let sorted = group.sorted { $0.bits.lowerBound < $1.bits.lowerBound }
        let bits = sorted.compactMap { $0.sizeBit ?? $0.entryBit }
        let isOneLine = sorted.dropFirst().enumerated().allSatisfy { $1.forerunners == [bits[$0]] }
        if isOneLine || bits.count > 10 {
            return CrashUnit(choices: (0...bits.count).map { Array(bits[..<$0]) }, size: bits.count)
        }
        var choices: [[Int]] = []
        for subset in 0..<(1 << bits.count) {
            let chosen = bits.enumerated().filter { subset >> $0.offset & 1 == 1 }.map(\.element)
            let isClosed = sorted.allSatisfy { effect in
                guard let bit = effect.sizeBit ?? effect.entryBit, chosen.contains(bit) else { return true }
                return effect.forerunners.allSatisfy(chosen.contains)
            }
            if isClosed { choices.append(chosen) }
        }
        return CrashUnit(choices: choices, size: bits.count)
    }
}
