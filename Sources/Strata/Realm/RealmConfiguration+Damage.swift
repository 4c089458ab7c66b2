import StrataRepair

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Realm.Configuration {
    /// What opening a damaged file does.
    ///
    /// All but ``fail`` keep the damaged file beside the new one, as `NAME.damaged-1` or with the next number that is
    /// free, and tell ``Realm/Configuration/recoveryHandler`` what was lost.
    public enum DamagePolicy: Sendable, CaseIterable {
        /// Throws, and leaves the file as it is.
        case fail
        /// Goes back to the newest version that verifies in full.
        case lastGoodVersion
        /// Takes over every object that verifies.
        case salvage
        /// Starts with an empty file.
        case startAfresh
    }

    /// When the pages of a file are verified.
    public enum Verification: Sendable {
        /// Each when it is first read.
        case whenRead
        /// All of them when the file is opened: before the open returns, which throws `invalidDatabase` for damage, or,
        /// above ``Realm/Configuration/verificationLimit``, in the background, which reports it.
        case atOpen
    }

    /// What 100 ms verify where the system has the file in memory, measured on a slow machine: docs/decisions/0049.
    public static let standardVerificationLimit = 24 << 20

    /// What became of a damaged file, and what was lost.
    public struct DamageReport: Sendable {
        public enum Outcome: Sendable {
            /// Everything after `version` is lost, up to `newest` as far as that can be read.
            case wentBack(version: UInt64, newest: UInt64)
            case salvaged([ClassReport])
            /// Everything is lost; `newest` is the last version that can be read of, or 0.
            case startedAfresh(newest: UInt64)
        }

        /// What was salvaged of one class.
        public struct ClassReport: Sendable {
            public let className: String
            public let objectsRecovered: Int
            public let objectsLost: Int
            /// False when more may be lost than is counted.
            public let isLossExact: Bool
            /// Keys of rows that are lost lie in these ranges.
            public let lostKeys: [ClosedRange<Int64>]
            /// Properties that some recovered objects lost the value of, and of how many.
            public let lostProperties: [String: Int]
            /// Of the recovered objects, those that may be older than the last commit, or not of this file: nothing
            /// that led to them can be read.
            public let objectsUncertain: Int
            /// Properties whose long value (text, data, a collection) is lost in some recovered objects, which read it
            /// as empty or nil. The keys of these objects lie in the ranges, and no other object's, as the last
            /// checkpoint had them: what the log holds may have filled a value again, or added an object in between.
            /// Very long lists of ranges are cut.
            public let emptiedProperties: [String: [ClosedRange<Int64>]]
            /// Elements that lists, sets and maps of recovered objects lost, by property; the rest of each is there.
            public let elementsLost: [String: Int]
            /// Of their elements, those that were found by themselves: they may be older than the last commit, and in a
            /// list stand in another order.
            public let elementsUncertain: Int
            /// Links to objects that are lost, taken out.
            public let linksRemoved: Int
        }

        /// What is wrong with the file.
        public let reason: String
        public let outcome: Outcome
        public let keptFileURL: URL
        /// The log beside it, if there was one.
        public let keptLogURL: URL?
        /// Bytes of the damaged file that could not be read.
        public let unreadableBytes: Int
    }
}

extension Realm.Configuration.DamagePolicy {
    var repair: StrataRepair.DamagePolicy {
        switch self {
        case .fail: .fail
        case .lastGoodVersion: .lastGoodVersion
        case .salvage: .salvage
        case .startAfresh: .startAfresh
        }
    }
}

extension Realm.Configuration.DamageReport {
    init(_ report: StrataRepair.DamageReport) {
        reason = "\(report.error)"
        keptFileURL = URL(fileURLWithPath: report.keptPath)
        keptLogURL = report.keptLogPath.map { URL(fileURLWithPath: $0) }
        unreadableBytes = report.unreadableBytes
        outcome =
            switch report.outcome {
            case .wentBack(let version, let newest): .wentBack(version: version.rawValue, newest: newest.rawValue)
            case .salvaged(let salvage): .salvaged(salvage.tables.map(ClassReport.init))
            case .startedAfresh(let newest): .startedAfresh(newest: newest.rawValue)
            }
    }
}

extension Realm.Configuration.DamageReport.ClassReport {
    init(_ table: SalvageReport.Table) {
        className = table.name
        objectsRecovered = table.rowsRecovered
        objectsLost = table.rowsLost
        isLossExact = table.isLossExact
        lostKeys = table.lostKeys.map { $0.low...max($0.low, $0.high) }
        lostProperties = Dictionary(table.lostColumns.map { ($0.name, $0.rows) }) { $0 + $1 }
        objectsUncertain = table.rowsUncertain
        emptiedProperties = Dictionary(
            table.lostValues.map { ($0.name, $0.keys.map { $0.low...max($0.low, $0.high) }) }
        ) { $0 + $1 }
        elementsLost = table.lostElements.reduce(into: [:]) { counts, collection in
            let lost = collection.places.reduce(0) { $0 + $1.count }
            if lost > 0 { counts[collection.name, default: 0] += lost }
        }
        elementsUncertain = table.elementsUncertain
        linksRemoved = table.linksRemoved
    }
}
