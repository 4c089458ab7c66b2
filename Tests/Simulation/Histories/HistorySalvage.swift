import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import StrataRepair
import StrataStorage

/// Seeded damage to a copy of the disk after a crash, and its salvage. The salvage's report is compared with the
/// written contents: rows, values, and the elements of lists, inline or in trees.
struct HistorySalvage {
    enum Damage: String, CaseIterable {
        case flips, zeroedPages, swappedPages, copiedPage, cut
        case flippedLog, zeroedLog, cutLog, noLog
    }

    private static let salvaged = "folder/salvaged"
    private static let pageBytes = 4096

    private(set) var damage: [Damage] = []
    private let disk: SimulatedDisk
    private let versions: VersionModels
    private let newest: HistoryModel?
    private let cipher: (any Cipher)?
    private var random: RandomStream

    /// - Parameters:
    ///   - versions: the contents of versions that the files may hold.
    ///   - newest: the contents of the undamaged files; nil if nothing was read from them.
    init(
        _ seed: Seed, _ image: DiskImage, _ versions: VersionModels, newest: HistoryModel?, cipher: (any Cipher)?
    ) {
        random = RandomStream(seed)
        disk = SimulatedDisk(SimulatedDisk.Settings(seed: seed.derived(part: "disk")), image: image)
        self.versions = versions
        self.newest = newest
        self.cipher = cipher
        for _ in 0...random.below(3) {
            let kind = Damage.allCases[random.below(Damage.allCases.count)]
            // A missing file cannot be damaged.
            do { try apply(kind) } catch { continue }
            damage.append(kind)
        }
    }

    // MARK: Damage

    private func bytes(_ path: String) -> Int { disk.contents(of: path)?.count ?? 0 }

    private mutating func apply(_ kind: Damage) throws {
        let path = HistorySimulation.path
        let pages = max(2, bytes(path) / Self.pageBytes)
        switch kind {
        case .flips:
            for _ in 0...random.below(12) { try disk.flipBit(random.below(8 * max(1, bytes(path))), in: path) }
        case .zeroedPages:
            for _ in 0...random.below(3) { try disk.zeroPage(random.below(pages), in: path) }
        case .swappedPages: try disk.swapPages(random.below(pages), random.below(pages), in: path)
        case .copiedPage: try disk.copyPage(random.below(pages), over: random.below(pages), in: path)
        case .cut: try disk.cut(path, to: Int64(2 + random.below(pages)) * Int64(Self.pageBytes))
        case .flippedLog, .zeroedLog, .cutLog, .noLog: try applyToLog(kind, path + ".log")
        }
    }

    private mutating func applyToLog(_ kind: Damage, _ log: String) throws {
        let count = bytes(log)
        if count == 0 { throw FileError(.open, path: log, errno: 0) }
        switch kind {
        case .flippedLog:
            // Most of a log is zeros.
            for _ in 0..<4 {
                let span = random.chance(1, in: 2) ? min(4608, count) : count
                try disk.flipBit(8 * random.below(span) + random.below(8), in: log)
            }
        case .zeroedLog: try disk.zeroPage(random.below(max(1, count / Self.pageBytes)), in: log)
        case .cutLog: try disk.cut(log, to: Int64(random.below(count)))
        default: try disk.remove(log)
        }
    }

    // MARK: Verdict

    /// The errors in the salvage's results, one sentence each. nil if it refuses the file rightly.
    func violations() throws -> [String]? {
        if damage.isEmpty { return [] }
        var settings = SalvageOptions()
        settings.limits = .tiny
        settings.rowsPerTransaction = 40
        settings.cipher = cipher
        let report: SalvageReport
        do throws(StorageError) {
            report = try Salvage.run(
                from: HistorySimulation.path, to: Self.salvaged, fileSystem: disk, options: settings)
        } catch {
            switch error {
            case .notAStore, .keyRequired, .wrongKey, .notEncrypted, .unsupportedFormat: return nil
            default: return ["it throws \(error)"]
            }
        }
        let store = try Store.open(path: Self.salvaged, options: options())
        try store.checkInvariants()
        let found = try HistoryModel(reading: store.snapshot().view)
        try store.close()
        var wrong = found.danglingLinks.map { "there is a link to nothing: \($0)" }
        for (table, definition) in found.schema.tables.enumerated() {
            guard let said = report.tables.first(where: { $0.id == definition.id }) else { continue }
            // The contents of the log are applied on top.
            if report.log == .none, said.rowsRecovered != found[table].count {
                wrong.append("\(found[table].count) rows are there: \(said)")
            }
        }
        return wrong + claims(report, found)
    }

    private func options() -> StoreOptions {
        var options = StoreOptions(fileSystem: disk)
        options.limits = .tiny
        options.mapReserve = 64 << 20
        options.cipher = cipher
        return options
    }

    private func claims(_ report: SalvageReport, _ found: HistoryModel) -> [String] {
        let version =
            switch report.log {
            case .none, .lost: report.checkpoint
            case .replayed(let version), .partly(let version): version
            }
        guard let truth = versions[version.rawValue] else { return [] }
        if found.schema.tables != truth.schema.tables {
            return report.isWhole ? ["it is called whole with another schema"] : []
        }
        var wrong: [String] = []
        if report.isWhole {
            if !found.hasRows(of: truth) { wrong.append("it is called whole and is not") }
            // A torn end of the log is fine if the engine itself takes it for one.
            if let newest, !found.hasRows(of: newest), openedAsIs().map({ found.hasRows(of: $0) }) != true {
                wrong.append("it is called whole without the last commits")
            }
        }
        for (table, definition) in truth.schema.tables.enumerated() {
            guard let said = report.tables.first(where: { $0.id == definition.id }) else { continue }
            let claims = SalvageClaims(said, definition, isBeforeLog: report.log == .none)
            wrong += claims.violations(found[table], truth[table])
        }
        return wrong
    }

    /// The contents that the engine reads from the damaged files; nil if it reports damage.
    private func openedAsIs() -> HistoryModel? {
        var options = options()
        options.readOnly = true
        do {
            let store = try Store.open(path: HistorySimulation.path, options: options)
            let model = try HistoryModel(reading: store.snapshot().view)
            try store.close()
            return model
        } catch { return nil }
    }
}

/// Compares a salvage's report of one table with its rows.
struct SalvageClaims {
    private let said: SalvageReport.Table
    private let definition: TableDefinition
    /// Whether no log was replayed, so that reported places are those of the salvaged data.
    private let isBeforeLog: Bool

    init(_ said: SalvageReport.Table, _ definition: TableDefinition, isBeforeLog: Bool) {
        self.said = said
        self.definition = definition
        self.isBeforeLog = isBeforeLog
    }

    /// - Parameters:
    ///   - found: the salvaged rows.
    ///   - truth: the rows of the version that the salvage claims.
    func violations(_ found: [Int64: [ModelValue]], _ truth: [Int64: [ModelValue]]) -> [String] {
        var wrong: [String] = []
        let missing = truth.keys.filter { found[$0] == nil }
        if said.isLossExact && said.rowsLost != missing.count {
            wrong.append("\(missing.count) rows are lost: \(said)")
        }
        if said.rowsUncertain == 0 && said.rowsLost > missing.count {
            wrong.append("only \(missing.count) rows are lost: \(said)")
        }
        if said.isLossExact {
            for key in missing where !said.lostKeys.contains(where: { $0.low <= key && key <= $0.high }) {
                wrong.append("the lost row \(key) is not named: \(said)")
            }
        }
        var unlike: [Int64] = []
        var lost = [Int](repeating: 0, count: definition.columns.count)
        for (key, values) in found {
            guard let real = truth[key] else {
                unlike.append(key)
                continue
            }
            for column in values.indices where !isLike(values[column], real[column], column, key) {
                if isNamed(key, column), Self.isNothing(values[column], definition.columns[column]) {
                    lost[column] += 1
                } else if unlike.last != key {
                    unlike.append(key)
                }
            }
        }
        if unlike.count > said.rowsUncertain {
            wrong.append("\(unlike.count) rows are not what they were, \(unlike.prefix(3)) for instance: \(said)")
        }
        for (column, count) in lost.enumerated() {
            let losses = (said.lostColumns + said.lostValues).filter { $0.id == definition.columns[column].id }
            if count > losses.reduce(0, { $0 + $1.rows }) {
                wrong.append("\(count) values of column \(column) are lost: \(said)")
            }
        }
        return wrong
    }

    private func isNamed(_ key: Int64, _ column: Int) -> Bool {
        (said.lostColumns + said.lostValues).contains { lost in
            lost.id == definition.columns[column].id && lost.keys.contains { $0.low <= key && key <= $0.high }
        }
    }

    /// Whether a lost cell may read as this value.
    private static func isNothing(_ value: ModelValue, _ column: ColumnDefinition) -> Bool {
        value == HistoryModel.fill(column) || [.null, .bytes([]), .links([]), .numbers([])].contains(value)
    }

    private func isLike(_ value: ModelValue, _ real: ModelValue, _ column: Int, _ key: Int64) -> Bool {
        if value == real { return true }
        let id = definition.columns[column].id
        if definition.columns[column].collection != nil, let list = value.elements, let all = real.elements {
            let losses = said.lostElements.filter { $0.id == id && $0.key == key }
            return isLike(list, all, losses, isOfLinks: definition.columns[column].target != nil)
        }
        guard said.linksRemoved > 0, definition.columns[column].target != nil else { return false }
        switch (value, real) {
        case (.null, .integer): return true
        case (.links(let left), .links(let all)):
            return left.allSatisfy {
                all.contains($0) || ($0 == LinkPayload.null && definition.columns[column].keepsPlaces)
            }
        default: return false
        }
    }

    /// Lost elements are reported by place. Uncertain elements may have any value, but there may not be more of them
    /// than reported.
    private func isLike(
        _ list: [Int64], _ all: [Int64], _ losses: [SalvageReport.LostElements], isOfLinks: Bool
    ) -> Bool {
        let lacksLinks = isOfLinks && said.linksRemoved > 0
        let lost = losses.reduce(0) { $0 + $1.lost }
        let uncertain = losses.reduce(0) { $0 + $1.uncertain }
        if uncertain > 0 {
            var counts: [Int64: Int] = [:]
            for element in all { counts[element, default: 0] += 1 }
            for element in list { counts[element, default: 0] -= 1 }
            return counts.values.reduce(0) { $0 - min($1, 0) } <= uncertain
        }
        if isBeforeLog && !lacksLinks {
            let places = losses.flatMap(\.places)
            return list == all.enumerated().filter { place, _ in !places.contains { $0.contains(place) } }.map(\.1)
        }
        if list.count + lost < all.count && !lacksLinks { return false }
        // The remaining elements have to be in their old order.
        var rest = all[...]
        for element in list {
            guard let place = rest.firstIndex(of: element) else { return false }
            rest = rest[(place + 1)...]
        }
        return true
    }
}
