import Seeds

/// The number of calls of each kind that a fault can strike.
package protocol CallCounting {
    func count(_ kind: CallKind) -> Int
}

extension CallCounting {
    package func count(_ kinds: some Sequence<CallKind>) -> Int { kinds.reduce(0) { $0 + count($1) } }
}

/// Which of a program's calls are struck, and how.
package struct FaultChoice: Sendable {
    /// The maximum number of places for each fault, chosen by the seed, including the first and the last; nil for all.
    package var samples: Int?
    package var seed: Seed
    /// Whether a fault strikes one call, or that call and all later ones; each choice is a trial of its own.
    package var lasting: [Bool] = [false, true]

    package init(samples: Int?, seed: Seed) {
        self.samples = samples
        self.seed = seed
    }

    private func numbers(below count: Int, _ group: String) -> [Int] {
        guard let samples, samples < count else { return Array(0..<count) }
        guard samples > 2 else { return [0, count - 1].suffix(max(0, samples)) }
        var random = RandomStream(seed.derived(group))
        let inner = random.permutation(of: count - 2).prefix(samples - 2).map { $0 + 1 }
        return ([0, count - 1] + inner).sorted()
    }

    private func faults(
        _ kinds: String, count: Int, _ effect: CallFault.Effect, _ lasting: [Bool]
    ) -> [CallFault] {
        lasting.flatMap { isLasting in
            numbers(below: count, "\(kinds) \(effect) \(isLasting)").map {
                .fails(kinds: kinds, number: $0, effect: effect, isLasting: isLasting)
            }
        }
    }

    /// EIO at the calls of each kind, and writes that transfer half of their bytes.
    package func inputOutputErrors(_ kinds: [CallKind], _ state: some CallCounting) -> [CallFault] {
        kinds.flatMap { kind in
            let count = state.count(kind)
            let short = kind == .write && lasting.contains(false)
            return faults(kind.rawValue, count: count, .inputOutputError, lasting)
                + (short ? faults(kind.rawValue, count: count, .short, [false]) : [])
        }
    }

    /// A disk that is full at a call that may need space, once and for good; and one that runs full in the middle of a
    /// write.
    package func fullDisks(_ effect: CallFault.Effect, _ state: some CallCounting) -> [CallFault] {
        let count = state.count(CallKind.space)
        let middle = lasting.contains(true) ? faults("space", count: count, .short, [true]) : []
        return faults("space", count: count, effect, lasting) + middle
    }

    /// A kill right before and right after each call that changes the disk, and at random moments.
    package func kills(moments: Int, _ state: some CallCounting) -> [CallFault] {
        let count = state.count(CallKind.changing)
        let calls = CallFault.Side.allCases.flatMap { side in
            numbers(below: count, "kill \(side)").map { CallFault.kill(kinds: "change", number: $0, side: side) }
        }
        return calls + (0..<moments).map { .killAtMoment(number: $0) }
    }
}
