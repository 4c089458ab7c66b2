import StrataFiles

@testable import StrataRepair
@testable import StrataStorage
@testable import StrataStorageTests

/// A small store, seeded damage to it, and the rules for its salvage.
struct SalvageTrial {
    enum Damage: String, CaseIterable {
        case flips, zeroedPages, swappedPages, copiedPage, cut, foreignPage, crafted
        case flippedLog, cutLog, zeroedLog, noLog, foreignLog, olderLog
    }

    /// Stores of every shape, two of each kind, so that one can get pages of the other.
    struct Stores {
        fileprivate let images: [FileImages.Image]

        init() throws {
            var made: [FileImages.Image] = []
            for cipher in [nil, TestCipher(key: 3)] as [TestCipher?] {
                for seed in [7, 8] as [UInt64] {
                    made.append(try FileImages.clean(seed: seed, steps: 160, cipher))
                    made.append(try FileImages.withLog(seed: seed, steps: 60, commits: 9, cipher))
                    made.append(try FileImages.midCheckpoint(seed: seed, steps: 90, cipher))
                }
            }
            images = made
        }
    }

    let damage: [Damage]
    private var random: SplitMix64
    private let sound: FileImages.Image
    private let other: FileImages.Image
    private var damaged: FileImages.Image

    init(seed: UInt64, _ stores: Stores) {
        random = SplitMix64(seed: seed)
        let number = Int(random.below(UInt64(stores.images.count)))
        sound = stores.images[number]
        // The same shape and key, made from the other seed.
        other = stores.images[number / 6 * 6 + (number + 3) % 6]
        damaged = sound
        var chosen: [Damage] = []
        for _ in 0...random.below(3) {
            chosen.append(Damage.allCases[Int(random.below(UInt64(Damage.allCases.count)))])
        }
        damage = chosen
        for kind in chosen { apply(kind) }
    }

    // MARK: Damage

    private var stride: Int { sound.cipher == nil ? Format.pageSize : SealedGeometry.stride }
    private var pages: Int { max(2, (damaged.data.count - 8192) / stride + 2) }

    private func range(_ page: Int, of bytes: [UInt8]) -> Range<Int> {
        let start = page < 2 ? page * Format.pageSize : 8192 + (page - 2) * stride
        return min(start, bytes.count)..<min(start + (page < 2 ? Format.pageSize : stride), bytes.count)
    }

    private mutating func page() -> Int { Int(random.below(UInt64(pages))) }

    private mutating func put(_ bytes: [UInt8], at page: Int) {
        let place = range(page, of: damaged.data)
        if bytes.count == place.count { damaged.data.replaceSubrange(place, with: bytes) }
    }

    private mutating func apply(_ kind: Damage) {
        switch kind {
        case .flips:
            for _ in 0...random.below(12) where !damaged.data.isEmpty {
                damaged.data[Int(random.below(UInt64(damaged.data.count)))] ^= 1 << UInt8(random.below(8))
            }
        case .zeroedPages:
            for _ in 0...random.below(3) {
                let page = page()
                put([UInt8](repeating: 0, count: range(page, of: damaged.data).count), at: page)
            }
        case .swappedPages:
            let (a, b) = (page(), page())
            let (first, second) = (damaged.data[range(a, of: damaged.data)], damaged.data[range(b, of: damaged.data)])
            put(Array(first), at: b)
            put(Array(second), at: a)
        case .copiedPage:
            let from = page()
            put(Array(damaged.data[range(from, of: damaged.data)]), at: page())
        case .foreignPage:
            let from = page()
            put(Array(other.data[range(from, of: other.data)]), at: random.below(2) == 0 ? from : page())
        case .cut: damaged.data.removeLast(Int(random.below(UInt64(max(1, damaged.data.count - 8192)))))
        case .crafted: craft()
        case .flippedLog, .cutLog, .zeroedLog, .noLog, .foreignLog, .olderLog: applyToLog(kind)
        }
    }

    /// Changes a node and recomputes all checksums above it.
    private mutating func craft() {
        guard sound.cipher == nil, damaged.data == sound.data else { return }
        var file = CraftedFile(damaged.data)
        if file.nodes.isEmpty { return }
        let node = Int(random.below(UInt64(file.nodes.count)))
        var mutation = Mutation(random: SplitMix64(seed: random.next()))
        file.change(node) { mutation.apply(to: $0) }
        damaged.data = file.bytes
    }

    private mutating func applyToLog(_ kind: Damage) {
        guard var log = damaged.log, !log.isEmpty else {
            if kind == .foreignLog { damaged.log = other.log }
            return
        }
        let place = Int(random.below(UInt64(log.count)))
        switch kind {
        case .flippedLog:
            // Most of a log is zeros.
            for _ in 0..<4 {
                let span = random.below(2) == 0 ? min(4608, log.count) : log.count
                log[Int(random.below(UInt64(span)))] ^= 0x10
            }
        case .cutLog: log.removeLast(log.count - place)
        case .zeroedLog:
            for byte in place..<min(place + 512, log.count) { log[byte] = 0 }
        case .foreignLog: log = other.log ?? []
        case .olderLog: log = sound.olderLog ?? []
        default: log = []
        }
        damaged.log = kind == .noLog ? nil : log
    }

    // MARK: Verdict

    /// The errors of the salvage, one sentence each. nil if it refuses the file rightly.
    func violations() throws -> [String]? {
        let disk = try FileImages.Disk(damaged)
        var settings = SalvageOptions()
        settings.limits = .tiny
        settings.rowsPerTransaction = 40
        settings.cipher = sound.cipher
        let report: SalvageReport
        do throws(StorageError) {
            report = try Salvage.run(from: FileImages.path, to: "new", fileSystem: disk, options: settings)
        } catch {
            switch error {
            case .notAStore, .keyRequired, .wrongKey, .notEncrypted, .unsupportedFormat: return nil
            default: return ["it throws \(error)"]
            }
        }
        let options = FileImages.options(on: disk, sound.cipher)
        let store = try Store.open(path: "new", options: options)
        try store.checkInvariants()
        let view = try store.snapshot().view
        if view.schema.tables.map(\.columns) != StoreHistory.schema.tables.map(\.columns) {
            try store.close()
            return report.isWhole ? ["it is called whole with another schema"] : []
        }
        let found = try StoreHistory.contents(view)
        try store.close()
        var wrong: [String] = []
        if found != SalvageOracle.withoutDanglingLinks(found) { wrong.append("there are links to nothing") }
        for (table, rows) in found.tables.enumerated() where report.tables[table].rowsRecovered != rows.count {
            wrong.append("\(rows.count) rows are there: \(report.tables[table])")
        }
        // Values under valid checksums cannot be distinguished from written ones.
        if damage.contains(.crafted) { return wrong }
        return try wrong + claims(report, found, options)
    }

    private func claims(
        _ report: SalvageReport, _ found: StoreModel, _ options: StoreOptions
    ) throws -> [String] {
        let version =
            switch report.log {
            case .none, .lost: report.checkpoint
            case .replayed(let version), .partly(let version): version
            }
        guard version.rawValue < UInt64(sound.states.count) else { return ["there is no version \(version)"] }
        let truth = sound.states[Int(version.rawValue)]
        var wrong: [String] = []
        if report.isWhole {
            if found != truth { wrong.append("it is called whole and is not") }
            if found != sound.model {
                // A torn end of the log is fine if the engine itself takes it for one. An older copy of the log, made
                // after the last checkpoint, looks like a log without later commits.
                let store = try? Store.open(path: FileImages.path, options: options)
                let contents = try store.map { try StoreHistory.contents($0.snapshot().view) }
                try store?.close()
                if contents != found && !damage.contains(.olderLog) {
                    wrong.append("it is called whole without the last commits")
                }
            }
        }
        for table in truth.tables.indices {
            wrong += claims(report.tables[table], table, found.tables[table], truth.tables[table])
        }
        return wrong
    }

    /// Compares a table's report with its rows; removed links are checked elsewhere.
    private func claims(
        _ report: SalvageReport.Table, _ table: Int, _ found: [Int64: [Value]], _ truth: [Int64: [Value]]
    ) -> [String] {
        var wrong: [String] = []
        let missing = truth.keys.filter { found[$0] == nil }
        if report.isLossExact && report.rowsLost != missing.count {
            wrong.append("\(missing.count) rows are lost: \(report)")
        }
        if report.rowsUncertain == 0 && report.rowsLost > missing.count {
            wrong.append("only \(missing.count) rows are lost: \(report)")
        }
        if report.isLossExact {
            for key in missing where !report.lostKeys.contains(where: { $0.low <= key && key <= $0.high }) {
                wrong.append("the lost row \(key) is not named: \(report)")
            }
        }
        var unlike = 0
        var lost = [Int](repeating: 0, count: StoreHistory.schema.tables[table].columns.count)
        for (key, values) in found {
            guard let real = truth[key] else {
                unlike += 1
                continue
            }
            var isUnlike = false
            for column in values.indices where !isLike(values[column], real[column], report) {
                let id = StoreHistory.schema.tables[table].columns[column].id
                let named = (report.lostColumns + report.lostValues).filter { $0.id == id }.flatMap(\.keys)
                let isNamed = named.contains { $0.low <= key && key <= $0.high }
                if isNamed && values[column] == SalvageOracle.missingInHistory[table][column] {
                    lost[column] += 1
                } else {
                    isUnlike = true
                }
            }
            if isUnlike { unlike += 1 }
        }
        if unlike > report.rowsUncertain { wrong.append("\(unlike) rows are not what they were: \(report)") }
        for (column, count) in lost.enumerated() {
            let id = StoreHistory.schema.tables[table].columns[column].id
            let said = (report.lostColumns + report.lostValues).filter { $0.id == id }.reduce(0) { $0 + $1.rows }
            if count > said { wrong.append("\(count) values of column \(column) are lost: \(report)") }
        }
        return wrong
    }

    private func isLike(_ value: Value, _ real: Value, _ report: SalvageReport.Table) -> Bool {
        if value == real { return true }
        guard report.linksRemoved > 0 else { return false }
        switch (value, real) {
        case (.null, .integer): return true
        case (.links(let left), .links(let all)): return left.allSatisfy { all.contains($0) }
        default: return false
        }
    }
}
