import Seeds

/// One possible disk after a crash.
package struct CrashState: Sendable {
    package var step: CrashAddress.Step
    package var image: DiskImage
    package var digest: UInt64

    package var address: CrashAddress { CrashAddress([step]) }
}

/// Visits the states after a crash at each operation of a trace.
package struct CrashSweep: Sendable {
    package let base: DiskImage
    package let trace: [IORecord]
    package let rules: CrashRules
    package let seed: Seed
    /// Digests of the states passed to the caller.
    private var seen: Set<UInt64> = []

    package init(base: DiskImage, trace: [IORecord], rules: CrashRules = CrashRules(), seed: Seed) {
        self.base = base
        self.trace = trace
        self.rules = rules
        self.seed = seed
    }

    /// Calls `body` with each distinct state until it returns false.
    ///
    /// - Parameters:
    ///   - points: crash points to visit: n means a power failure after n operations. All when nil.
    ///   - isVisited: excludes some of them.
    ///   - context: what, besides the bytes, decides whether a state is right; for example how much had been
    ///     acknowledged after n operations. States with equal bytes and equal context are passed once.
    /// - Complexity: O(trace) and, per state, O(pages written since the last syncs).
    package mutating func visit<Failure: Error>(
        points: Range<Int>? = nil, isVisited: (Int) -> Bool = { _ in true }, context: (Int) -> UInt64 = { _ in 0 },
        _ body: (CrashState) throws(Failure) -> Bool
    ) throws(Failure) -> CrashCoverage {
        var model = DiskModel(base, profile: rules.profile)
        var total = CrashCoverage()
        total.operations = trace.count
        let points = points ?? 0..<(trace.count + 1)
        for operation in 0...trace.count {
            if operation > 0 { model.apply(trace[operation - 1]) }
            if operation >= points.upperBound { break }
            if !points.contains(operation) || !isVisited(operation) { continue }
            // An operation that only starts write-back adds no state.
            if operation > points.lowerBound, case .writeBack = trace[operation - 1].action { continue }
            let (report, goesOn) = try visit(CrashPoint(model), context: context(operation), body)
            total += report
            if !goesOn { break }
        }
        return total
    }

    private mutating func visit<Failure: Error>(
        _ point: CrashPoint, context: UInt64, _ body: (CrashState) throws(Failure) -> Bool
    ) throws(Failure) -> (CrashCoverage, goesOn: Bool) {
        var report = CrashCoverage()
        report.points = 1
        let units = point.units(rules)
        report.units = units.reduce(0) { $0 + $1.size }
        report.legal = point.legal(units, rules)
        let everything = point.normalized(StateMask(allBelow: point.bitCount))
        var masks: Set<StateMask> = []
        var seen = self.seen
        self.seen = []
        defer { self.seen = seen }
        var goesOn = true
        let all = try point.forEachMask(of: units, rules, seed: seed) { (mask) throws(Failure) -> Bool in
            let mask = point.normalized(mask)
            guard masks.insert(mask).inserted else { return true }
            var image = point.image(of: mask)
            report.visited += 1
            if mask != everything { report.lacking += 1 }
            let digest = image.digest()
            guard seen.insert(digest ^ splitMix(context)).inserted else { return true }
            report.distinct += 1
            if mask != everything { report.distinctLacking += 1 }
            image.dropUnnamed()
            let step = CrashAddress.Step(operation: point.operation, state: mask)
            goesOn = try body(CrashState(step: step, image: image, digest: digest))
            return goesOn
        }
        if all { report.exhaustivePoints = 1 }
        return (report, goesOn)
    }

    /// Rebuilds the states of some addresses, which must be states of this sweep.
    /// Complexity: O(trace) and, per state, O(pages written since the last syncs).
    package func build<Failure: Error>(
        _ steps: [CrashAddress.Step], _ body: (CrashState) throws(Failure) -> Void
    ) throws(Failure) {
        let masks = Dictionary(grouping: steps, by: \.operation)
        var model = DiskModel(base, profile: rules.profile)
        for operation in 0...trace.count {
            if operation > 0 { model.apply(trace[operation - 1]) }
            guard let here = masks[operation] else { continue }
            let point = CrashPoint(model)
            for step in here {
                var image = point.image(of: step.state)
                let digest = image.digest()
                image.dropUnnamed()
                try body(CrashState(step: step, image: image, digest: digest))
            }
        }
    }

    /// Rebuilds the state of an address; nil when the trace has no such operation, or the mask is not the canonical one
    /// of a state.
    package func image(at step: CrashAddress.Step) -> DiskImage? {
        var rebuild = CrashRebuild(base: base, trace: trace, profile: rules.profile)
        return rebuild.image(at: step)
    }
}
