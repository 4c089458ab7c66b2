import Seeds

extension CrashPoint {
    /// How many states are legal, by independent units.
    package func legal(_ rules: CrashRules) -> LegalCount { legal(units(rules), rules) }

    /// Calls `body` with masks until it returns false: with all legal ones if they are at most 2 to the power of
    /// `rules.exhaustiveUnits`, or if the profile is `prefix`; else with the families of ``forEachChosen(_:_:)`` and a
    /// random sample. Different masks may mean the same state.
    /// - Returns: whether all legal states were visited.
    func forEachMask<Failure: Error>(
        of units: [CrashUnit], _ rules: CrashRules, seed: Seed, _ body: (StateMask) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        let all = units.reduce(LegalCount.exactly(1)) { $0 * .exactly(UInt64($1.choices.count)) }
        let isSmall = if case .exactly(let count) = all { count <= 1 << UInt64(rules.exhaustiveUnits) } else { false }
        func permitted(_ mask: StateMask) -> StateMask { self.permitted(mask, rules.profile) }
        if isSmall || rules.profile == .prefix {
            return try forEachCombination(of: units) { (mask) throws(Failure) -> Bool in try body(permitted(mask)) }
        }
        let goesOn = try forEachChosen(rules) { (mask) throws(Failure) -> Bool in try body(permitted(mask)) }
        if goesOn {
            try forEachSample(of: units, rules, seed) { (mask) throws(Failure) -> Bool in try body(permitted(mask)) }
        }
        return false
    }

    private func forEachCombination<Failure: Error>(
        of units: [CrashUnit], _ body: (StateMask) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        var places = [Int](repeating: 0, count: units.count)
        while true {
            var mask = StateMask()
            for (unit, place) in zip(units, places) {
                for bit in unit.choices[place] { mask[bit] = true }
            }
            if !(try body(mask)) { return false }
            var unit = 0
            while unit < units.count {
                places[unit] += 1
                if places[unit] < units[unit].choices.count { break }
                places[unit] = 0
                unit += 1
            }
            if unit == units.count { return true }
        }
    }

    /// Nothing and everything; every prefix of the operations in issue order; only sizes and names, only names;
    /// everything without sizes, everything without names; each operation lost, with and without its size; each
    /// operation alone; each pair lost; each write torn at every sector, as the end of a prefix and with everything
    /// else on disk. ``CrashRules`` limits how many operations are treated one by one, in pairs and by sector.
    private func forEachChosen<Failure: Error>(
        _ rules: CrashRules, _ body: (StateMask) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        let open = effects.filter { !$0.bits.isEmpty }
        let all = StateMask(allBelow: bitCount)
        let singles = open.suffix(rules.singleLimit)
        if !(try body(StateMask())) { return false }
        for effect in singles where !(try body(StateMask(allBelow: effect.bits.lowerBound))) { return false }
        if !(try body(all)) { return false }
        if !(try body(StateMask(bits: open.compactMap { $0.sizeBit ?? $0.entryBit }))) { return false }
        if !(try body(StateMask(bits: open.compactMap(\.entryBit)))) { return false }
        if !(try body(all.without(open.compactMap(\.sizeBit)))) { return false }
        if !(try body(all.without(open.compactMap(\.entryBit)))) { return false }
        for effect in singles {
            if !(try body(all.without(effect.dataBits))) { return false }
            if !(try body(all.without(effect.bits))) { return false }
            if !(try body(alone(effect))) { return false }
        }
        let paired = open.suffix(rules.pairLimit)
        for one in paired.indices {
            for other in paired.indices where other > one {
                if !(try body(all.without(paired[one].bits).without(paired[other].bits))) { return false }
            }
        }
        for effect in singles where effect.dataBits.count > 1 {
            for cut in Self.cuts(of: effect, rules) {
                let lost = (effect.dataBits.lowerBound + cut)..<effect.dataBits.upperBound
                if !(try body(StateMask(allBelow: effect.bits.upperBound).without(lost))) { return false }
                if !(try body(all.without(lost))) { return false }
            }
        }
        return true
    }

    /// One operation with the sizes and names that it depends on, and nothing else.
    private func alone(_ effect: Effect) -> StateMask {
        var mask = StateMask()
        mask.set(effect.bits, to: true)
        var wanted = Set(effect.forerunners)
        for earlier in effects.reversed() {
            if let bit = earlier.sizeBit ?? earlier.entryBit, wanted.contains(bit) {
                mask[bit] = true
                wanted.formUnion(earlier.forerunners)
            }
        }
        return mask
    }

    /// The numbers of leading sectors that are on disk when a write is torn.
    private static func cuts(of effect: Effect, _ rules: CrashRules) -> [Int] {
        let count = effect.dataBits.count
        let pieces = effect.pieces.map(\.sectors)
        guard count > rules.cutLimit, let first = pieces.first, let last = pieces.last else { return Array(1..<count) }
        let inner = pieces.dropFirst().map(\.lowerBound)
        let ends = Array(first.dropFirst()) + Array(last.dropFirst())
        return Set(inner + ends).sorted()
    }

    private func forEachSample<Failure: Error>(
        of units: [CrashUnit], _ rules: CrashRules, _ seed: Seed, _ body: (StateMask) throws(Failure) -> Bool
    ) throws(Failure) {
        var random = RandomStream(seed.derived(UInt64(operation)))
        let writes = effects.filter { $0.dataBits.count > 1 }
        for _ in 0..<rules.sampleCount {
            // Each state draws its own share of kept units: with one share of a half, nearly all states would keep half
            // of them.
            let share = 1 + random.below(7)
            var mask = StateMask()
            for unit in units {
                if unit.choices.count == 2 {
                    if random.chance(share, in: 8) { mask = mask.with(unit.choices[1]) }
                } else {
                    mask = mask.with(unit.choices[random.below(unit.choices.count)])
                }
            }
            if !writes.isEmpty, random.chance(1, in: 2) {
                let torn = writes[random.below(writes.count)]
                for bit in torn.dataBits { mask[bit] = random.chance(1, in: 2) }
            }
            if !(try body(mask)) { return }
        }
    }
}

extension StateMask {
    func with(_ bits: some Sequence<Int>) -> StateMask {
        var mask = self
        for bit in bits { mask[bit] = true }
        return mask
    }

    func without(_ bits: Range<Int>) -> StateMask {
        var mask = self
        mask.set(bits, to: false)
        return mask
    }

    func without(_ bits: [Int]) -> StateMask {
        var mask = self
        for bit in bits { mask[bit] = false }
        return mask
    }
}
