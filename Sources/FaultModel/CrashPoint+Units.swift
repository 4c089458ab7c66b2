/// Bits that are decided together, or that depend on each other: one factor of the number of legal states.
struct CrashUnit: Sendable {
    /// The sets of bits that may be on disk; the first is none of them.
    var choices: [[Int]]
    /// What it counts for in the report: a chain of n changes counts n.
    var size: Int
}

extension CrashPoint {
    /// The independent units by the rule: a write counts as its sectors when it is a log write, touches a header, or is
    /// the last of its file and at most a page long; otherwise page by page, lost or whole.
    func units(_ rules: CrashRules) -> [CrashUnit] {
        switch rules.profile {
        case .strict: dataUnits(rules) { _ in true } + chainUnits()
        case .ext4Ordered: dataUnits(rules) { !$0.lengthens } + orderedUnits()
        case .prefix: [Self.prefixes(of: effects.filter { !$0.bits.isEmpty }) { Array($0.bits) }]
        }
    }

    /// The legal state that is nearest to what a mask asks for.
    func permitted(_ mask: StateMask, _ profile: CrashProfile) -> StateMask {
        guard profile == .ext4Ordered else { return mask }
        var result = mask
        var isCut = false
        for effect in effects {
            if let bit = effect.entryBit {
                isCut = isCut || !result[bit]
                if isCut { result[bit] = false }
            }
        }
        result = normalized(result)
        for effect in effects where effect.lengthens {
            if let bit = effect.sizeBit { result.set(effect.dataBits, to: result[bit]) }
        }
        return result
    }

    /// Names in the order of one journal, and each file's sizes with the data that they wait for.
    private func orderedUnits() -> [CrashUnit] {
        let names = effects.filter { $0.entryBit != nil }
        var units = names.isEmpty ? [] : [Self.prefixes(of: names) { $0.entryBit.map { [$0] } ?? [] }]
        let files = Set(effects.compactMap { $0.sizeBit == nil ? nil : $0.operation.inode }).sorted()
        for inode in files {
            let sizes = effects.filter { $0.sizeBit != nil && $0.operation.inode == inode }
            units.append(
                Self.prefixes(of: sizes) { effect in
                    (effect.lengthens ? Array(effect.dataBits) : []) + (effect.sizeBit.map { [$0] } ?? [])
                })
        }
        return units
    }

    private static func prefixes(of effects: [Effect], _ bits: (Effect) -> [Int]) -> CrashUnit {
        var choices: [[Int]] = [[]]
        for effect in effects { choices.append((choices.last ?? []) + bits(effect)) }
        return CrashUnit(choices: choices, size: effects.count)
    }

    /// Writes, sector by sector or page by page.
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

    /// Size changes by file, and changes of names that are tied together.
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

    /// The sets of changes in which none stands without its forerunners.
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
