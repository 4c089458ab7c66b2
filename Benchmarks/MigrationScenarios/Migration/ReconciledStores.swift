import Harness
import Measuring
import RunRecords
import StoreMigration

/// Makes some of the many rows of two stores differ, past the writer that keeps the stores equal. Does a reconciler
/// find exactly these rows, how does its time depend on their number, and does it repair them by its rule?
struct ReconciledStores: Scenario {
    let slug = "reconcile"
    let family = Family.migration
    let question = "Are the records found in which two stores differ, no more and no less, and how fast?"
    let requires: Set<Capability> = [.objects, .migrations, .persistent]
    let durability: DurabilityClass? = .full
    let parameters = [
        ScenarioParameter("rows", .size, default: 100_000, range: 200...100_000_000, summary: "records in each store"),
        ScenarioParameter(
            "divergences", .size, default: 1_000, range: 12...1_000_000,
            summary: "records that differ at the end; a tenth, a hundredth and so on before"),
    ]

    func objection(to test: Case) -> String? {
        test.integer("divergences") * 8 > test.integer("rows") ? "rows have to be eight times the divergences" : nil
    }

    func run(_ context: CaseContext) throws {
        try context.withMigrationErrors { try ReconcileCourse(context).run() }
    }
}

private struct ReconcileCourse {
    private let context: CaseContext
    private let report: CaseReport
    private let place: MigrationPlace
    private let count: Int

    init(_ context: CaseContext) throws {
        self.context = context
        report = context.report
        place = MigrationPlace(context.directory + "/stores")
        count = try context.integer("rows")
    }

    /// Some rows link to the row before them.
    private static func row(_ number: Int) -> ContactRow {
        ContactRow(number: number, friend: number % 6 == 0 ? number - 1 : nil)
    }

    func run() throws {
        report.note("the old store is \(OldStore.words)")
        try place.make((1...count).lazy.map(Self.row))
        let most = try context.integer("divergences")
        var random = context.random("rows")
        var numbers = PlantedDivergences.numbers(most * 4, upTo: count, &random)
        let planted = plantings(most, &numbers)
        // The first divergences exist before the reconciler reads the stores.
        try planted[0].plant(place)
        let writer = try place.writer()
        try writer.advance(to: .bothOldRead)
        let reconciler = try read(writer)
        checkStep(writer, is: MigrationError.Code.notReconciled.rawValue)
        try compare(reconciler, planted[0], "read whole")
        for divergences in planted.dropFirst() {
            if context.isOverBudget { return report.cut() }
            try divergences.plant(place)
            // The reconciler is told of as many rows that do not differ.
            let others = numbers.suffix(divergences.rows.count)
            try reconciler.refresh((divergences.ids + others).map { Contact.recordID($0) })
            try compare(reconciler, divergences, "\(divergences.rows.count) told of")
        }
        try keepCurrent(writer, reconciler)
        checkStep(writer, is: "done")
        try writer.close()
        try leaveSome()
        try end()
    }

    /// Plantings of `most` rows, then of sizes that grow tenfold up to `most`.
    private func plantings(_ most: Int, _ numbers: inout [Int]) -> [PlantedDivergences] {
        var sizes: [Int] = []
        var size = most
        while size >= 1 {
            sizes.insert(size, at: 0)
            size /= 10
        }
        var free = count + 1
        return ([most] + sizes).map { size in
            let some = Array(numbers.suffix(size))
            numbers.removeLast(min(size, numbers.count))
            defer { free += size }
            return PlantedDivergences(size, among: some, firstFree: free, Self.row)
        }
    }

    private func read(_ writer: DoubleWriter) throws -> Reconciler {
        let start = MonotonicClock.now()
        let reconciler = try Reconciler(writer)
        let seconds = Double(MonotonicClock.now() - start) / 1e9
        report.add(.rowsPerSecond, Double(2 * count) / seconds, count: count, label: "hashes of both stores")
        report.add(.reconcileMilliseconds, seconds * 1e3, count: count, label: "both stores read")
        return reconciler
    }

    /// The writer may refuse to read the new store, unless both stores were compared and are equal.
    private func checkStep(_ writer: DoubleWriter, is expected: String) {
        let got: String
        do {
            try writer.enter(.bothNewRead)
            got = "done"
        } catch let error as MigrationError { got = error.code.rawValue } catch { got = "\(error)" }
        report.check("the step to the new store, \(expected)", expected: expected, got: got)
    }

    // MARK: Found exactly, and mended

    /// Repairs by the rule that the newer row wins; the old store's if both are equally new.
    private func compare(_ reconciler: Reconciler, _ planted: PlantedDivergences, _ name: String) throws {
        let start = MonotonicClock.now()
        let found = try reconciler.divergences()
        let time = MonotonicClock.now() - start
        let size = planted.rows.count
        report.add(.reconcileMilliseconds, Double(time) / 1e6, count: size, label: "\(name), compared")
        check("\(name): records that differ", expected: planted.ids, got: found.compactMap(Self.number))
        let before = MonotonicClock.now()
        let mended = try reconciler.mend(.newerWins(by: "changed", tie: .old, deletion: .deletionWins))
        report.add(
            .reconcileMilliseconds, Double(MonotonicClock.now() - before) / 1e6, count: size, label: "\(name), mended")
        report.add(.comparedSteps, Double(mended.steps), count: size, label: name)
        report.add(.divergences, Double(mended.found), label: "\(name), found")
        report.add(.divergences, Double(mended.mended), label: "\(name), mended")
        report.check("\(name): counted as found", expected: size, got: mended.found)
        report.check("\(name): left", expected: 0, got: mended.left)
        report.check("\(name): differ afterwards", expected: 0, got: try reconciler.divergences().count)
        let ids = planted.rows.map(\.id)
        let right = planted.newest(tie: .old)
        check("\(name): old store, mended", expected: right, got: try place.old.rows(ids))
        check("\(name): new store, mended", expected: right, got: try place.new.rows(ids))
    }

    private static func number(_ divergence: Divergence) -> Int? {
        if case .integer(let key) = divergence.id.key { Int(key) } else { nil }
    }

    /// Compares lists, and names the first place where they differ.
    private func check<Value: Equatable>(_ name: String, expected: [Value], got: [Value]) {
        let place = zip(expected, got).enumerated().first { $1.0 != $1.1 }?.offset ?? min(expected.count, got.count)
        let isSame = expected == got
        func words(_ list: [Value]) -> String {
            "\(list.count)" + (list.indices.contains(place) ? ", number \(place) \(list[place])" : "")
        }
        report.check(name, expected: isSame ? "" : words(expected), got: isSame ? "" : words(got))
    }

    // MARK: Kept current

    /// Batches through the writer leave no divergence. If a store acknowledges a batch but does not keep all of it, the
    /// reconciler finds that without being told.
    private func keepCurrent(_ writer: DoubleWriter, _ reconciler: Reconciler) throws {
        let free = 3 * count
        for number in 0..<20 {
            let outcome = try writer.write([
                .put(ContactRow(number: free + number)), .rename(number + 1, "by the writer"),
            ])
            report.check("batch \(number) is in both", expected: true, got: outcome.isDone)
        }
        report.check("the writer keeps hashes current", expected: 0, got: try reconciler.divergences().count)
        let forgetful = MigrationPlace(context.directory + "/forgetful")
        try forgetful.make((1...100).map(Self.row))
        let lossy = try forgetful.writer { side, store in
            side == .new ? FaultedStore(store, .forgets(1)) : store
        }
        try lossy.advance(to: .bothOldRead)
        let watching = try Reconciler(lossy)
        for number in 0..<3 { _ = try lossy.write([.rename(7, "a \(number)"), .rename(8 + number, "b \(number)")]) }
        check(
            "what a store did not keep of a batch", expected: [9],
            got: try watching.divergences().compactMap(Self.number))
        try lossy.close()
    }

    // MARK: Asked, and left

    /// Repairs two records by a closure. The closure leaves the one that differs in its name. The writer has deleted
    /// the other one, which the new store still has: the closure repairs it by the old store.
    private func leaveSome() throws {
        let place = MigrationPlace(context.directory + "/asked")
        try place.make((1...60).map(Self.row))
        // The new store acknowledges the deletion and does not do it; another record is changed in it.
        let writer = try place.writer { side, store in side == .new ? FaultedStore(store, .forgets(0)) : store }
        try writer.advance(to: .bothOldRead)
        let reconciler = try Reconciler(writer)
        _ = try writer.write([.delete(50)])
        var kept = Self.row(51)
        kept.name += ", changed"
        try place.new.put([kept])
        try reconciler.refresh([Contact.recordID(51)])
        let left = Contact.recordID(51)
        let asked = try reconciler.mend(.ask { $0.id == left ? .leave : .take($0.isKnownDeletion ? .old : .new) })
        report.check("asked: found", expected: 2, got: asked.found)
        report.check("asked: left", expected: 1, got: asked.left)
        check("asked: new store", expected: [nil, kept], got: try place.new.rows([50, 51]))
        check("asked: old store", expected: [nil, Self.row(51)], got: try place.old.rows([50, 51]))
        let mended = try reconciler.mend(.newWins)
        report.check("new wins: mended", expected: 1, got: mended.mended)
        check("new wins: old store", expected: [kept], got: try place.old.rows([51]))
        try writer.close()
    }

    /// A new writer, which has seen none of the changes, reads both stores completely and must find them equal.
    private func end() throws {
        let writer = try place.writer()
        let differing = try Reconciler(writer).divergences()
        report.check("all records, read anew", expected: [], got: differing.prefix(3).map(\.id.description))
        report.check("phase", expected: MigrationPhase.bothNewRead.word, got: writer.phase.word)
        try writer.close()
        report.add(.rows, Double(count), statistic: "count")
        if count > 50_000 { return }
        let (old, new) = try place.contents()
        report.check("all records, compared one by one", expected: nil, got: new.difference(from: old))
    }
}
