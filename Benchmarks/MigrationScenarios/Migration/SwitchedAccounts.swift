import Files
import Harness
import Measuring
import Platform
import RunRecords
import StoreMigration

/// Uses two accounts in turn, each with stores, an outbox and a writer of its own: closes and compacts one, then opens
/// the other. It does so in each phase; if the phase writes both stores, batches wait in the outbox.
struct SwitchedAccounts: Scenario {
    let slug = "account-switch-in-migration"
    let family = Family.migration
    let question = "Is a migration the same after its account was closed, compacted and opened again, in each phase?"
    let requires: Set<Capability> = [.objects, .migrations, .persistent]
    let durability: DurabilityClass? = .full
    let parameters = [
        ScenarioParameter("rows", .size, default: 20_000, range: 1_000...10_000_000, summary: "records of an account"),
        ScenarioParameter("switches", .size, default: 6, range: 2...1_000, summary: "switches in each phase"),
    ]

    func run(_ context: CaseContext) throws {
        try context.withMigrationErrors {
            for phase in MigrationPhase.allCases {
                if context.isOverBudget { return context.report.cut() }
                try AccountCourse(context, phase).run()
            }
        }
    }
}

/// The switches in one phase.
private final class AccountCourse {
    private final class Account {
        let place: MigrationPlace
        let writer: DoubleWriter
        /// Stands between the writer and the store that is written second.
        let second: FaultedStore
        /// The content that each store must have when no batch waits.
        var old: ContactBook
        var new: ContactBook
        /// The size of both compacted stores at the end of each visit, in bytes.
        var compacted: [Int] = []

        init(_ directory: String, rows: [ContactRow], phase: MigrationPhase) throws {
            place = MigrationPlace(directory)
            try place.make(rows)
            old = ContactBook(rows)
            new = old
            second = FaultedStore(try place.openNew(), .whileFailing)
            let second = second
            writer = try place.writer { side, store in side == .new ? second : store }
            try writer.advance(to: phase)
        }

        var bytes: Int { get throws { try place.old.bytes + FileBytes.below(place.newPath) } }
    }

    /// The rows of the store that the phase reads.
    private func reference(_ account: Account) -> [Int: ContactRow] {
        phase.readSide == .old ? account.old.rows : account.new.rows
    }

    private let context: CaseContext
    private let report: CaseReport
    private let phase: MigrationPhase
    private let count: Int
    private var leaving = Histogram()
    private var opening = Histogram()
    private var waited = 0

    init(_ context: CaseContext, _ phase: MigrationPhase) throws {
        self.context = context
        report = context.report
        self.phase = phase
        count = try context.integer("rows")
    }

    func run() throws {
        let rows = (1...count).map { id in
            var row = self.row(id, 0)
            if id % 6 == 0 { row.friend = id - 1 }
            return row
        }
        let accounts = try ["a", "b"].map { name in
            let account = try Account("\(context.directory)/\(phase.word)-\(name)", rows: rows, phase: phase)
            try account.writer.close()
            return account
        }
        for number in 0..<(try context.integer("switches")) { try visit(accounts[number % 2], number / 2) }
        report.add(opening, name: "opened in \(phase.word)")
        report.add(leaving, name: "closed and compacted in \(phase.word)")
        if phase.writesBoth, waited == 0 { report.inconclusive("no batch waited in \(phase.word)") }
        for (place, account) in accounts.enumerated() { try judge(account, "\(phase.word), account \(place)") }
    }

    /// Opens an account, compares it, writes, lets a batch wait if the phase writes two stores, and closes it.
    private func visit(_ account: Account, _ number: Int) throws {
        let name = "\(phase.word), visit \(number) of \(account.place.directory.split(separator: "-").last ?? "")"
        let start = MonotonicClock.now()
        try account.writer.reopen()
        opening.record(MonotonicClock.now() - start)
        report.check("\(name): phase", expected: phase.word, got: account.writer.phase.word)
        report.check("\(name): waiting", expected: 0, got: account.writer.waitingCount)
        try compare(account, name)
        // Inserts the rows that the previous visit deleted, and deletes a quarter of the rows.
        let there = reference(account)
        let missing = (1...count).filter { there[$0] == nil }
        try write(account, missing.map { .put(row($0, number)) })
        let first = 1 + number % 4 * (count / 4)
        let going = (first..<first + count / 4).filter { $0 % 6 != 5 && $0 > 10 }
        try write(account, going.map { .delete($0) })
        try write(account, [.rename(5, "visit \(number)"), .put(ContactRow(number: count + 1 + number, friend: 5))])
        account.second.isFailing = phase.writesBoth
        try write(account, [.rename(5, "visit \(number), again"), .delete(count + number)])
        try leave(account, name)
    }

    private func leave(_ account: Account, _ name: String) throws {
        let start = MonotonicClock.now()
        try account.writer.close()
        try account.writer.compact()
        leaving.record(MonotonicClock.now() - start)
        account.second.isFailing = false
        account.compacted.append(try account.bytes)
        if account.compacted.count > 1 { return }
        // The compacted stores must be about as large as new stores with the same records.
        let fresh = MigrationPlace(account.place.directory + "-fresh")
        try FileTree.createDirectory(fresh.directory)
        try fresh.old.make(account.old.rows.values.sorted { $0.id < $1.id })
        try fresh.new.put(account.new.rows.values.sorted { $0.id < $1.id })
        let (size, expected) = (account.compacted[0], try fresh.old.bytes + FileBytes.below(fresh.newPath))
        try FileTree.remove(fresh.directory)
        report.add(.fileBytes, Double(expected), label: "\(name), fresh")
        let isSmall = size <= expected + expected / 10
        report.add(
            Trial(
                address: FaultAddress(text: "\(name): compacted"), outcome: isSmall ? .correct : .overSize,
                detail: isSmall ? "" : "\(size) bytes, and fresh ones of the same records \(expected)"))
    }

    /// Rows have the same size in each visit, because sizes of files are compared.
    private func row(_ id: Int, _ visit: Int) -> ContactRow {
        var row = ContactRow(number: id)
        row.name += ", visit \(visit)"
        return row
    }

    private func write(_ account: Account, _ changes: [ContactBook.Change]) throws {
        if changes.isEmpty { return }
        if try !account.writer.write(changes).isDone { waited += 1 }
        if phase != .new { account.old.apply(changes) }
        if phase != .old { account.new.apply(changes) }
    }

    private func compare(_ account: Account, _ name: String) throws {
        let (old, new) = try account.place.contents()
        report.check("\(name): old store", expected: nil, got: old.difference(from: account.old))
        report.check("\(name): new store", expected: nil, got: new.difference(from: account.new))
    }

    private func judge(_ account: Account, _ name: String) throws {
        try account.writer.reopen()
        try compare(account, "\(name), at the end")
        // From each phase the stores can be made equal.
        switch phase {
        case .old:
            try account.writer.enter(.bothOldRead)
            let mended = try Reconciler(account.writer).mend(.oldWins)
            report.add(.divergences, Double(mended.mended), label: "\(name), mended")
            account.new = account.old
        case .new:
            try account.writer.enter(.bothNewRead)
            account.old = account.new
        case .bothOldRead, .bothNewRead:
            report.check("\(name): differ", expected: 0, got: try Reconciler(account.writer).divergences().count)
        }
        try compare(account, "\(name), both")
        try account.writer.close()
        report.check("\(name): files left open", expected: [], got: Self.openFiles(below: account.place.directory))
        if let first = account.compacted.first, let last = account.compacted.last {
            report.add(.fileBytes, Double(last), label: "\(name), compacted")
            // Each visit ends with the same number of records.
            report.check("\(name): does not grow", expected: true, got: last <= first + first / 10)
        }
    }

    /// Files below a directory that this process has open; none if the system does not tell. Waits up to five seconds,
    /// since an ending thread of the engine may still close some.
    private static func openFiles(below directory: String) -> [String] {
        for _ in 0..<500 {
            if openNow(below: directory).isEmpty { return [] }
            usleep(10_000)
        }
        return openNow(below: directory)
    }

    private static func openNow(below directory: String) -> [String] {
        #if canImport(Glibc)
            guard let absolute = FileTree.absolute(directory) else { return [] }
            var names: [String] = []
            do { names = try FileTree.names(in: "/proc/self/fd") } catch { return [] }
            var bytes = [CChar](repeating: 0, count: 4_096)
            return names.compactMap { name in
                let length = readlink("/proc/self/fd/" + name, &bytes, bytes.count)
                guard length > 0 else { return nil }
                let path = String(decoding: bytes[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
                return path.hasPrefix(absolute + "/") ? String(path.dropFirst(absolute.utf8.count + 1)) : nil
            }
        #else
            return []
        #endif
    }
}
