import StrataRepair

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RealmConfiguration {
    /// What an open does with a damaged file.
    ///
    /// All but ``fail`` keep the damaged file beside the new one, as `NAME.damaged-1` or with the next free number, and
    /// report the losses to ``RealmConfiguration/recoveryHandler``.
    public enum DamagePolicy: Sendable, CaseIterable {
        /// Throws, and leaves the file unchanged.
        case fail
        /// Goes back to the newest version that verifies completely.
        case lastGoodVersion
        /// Keeps every object that verifies.
        case salvage
        /// Starts with an empty file.
        case startAfresh
    }

    /// When the pages of a file are verified.
    public enum Verification: Sendable {
        /// Each page when it is first read.
        case whenRead
        /// All pages when the file is opened: before the open returns, which throws `invalidDatabase` for damage; or,
        /// for a file above ``RealmConfiguration/verificationLimit``, in the background, which reports damage.
        case atOpen
    }

    /// How many bytes of a file that is in the page cache were verified in 100 ms on a slow machine:
    /// docs/decisions/0049.
    public static let standardVerificationLimit = 24 << 20

    /// What an open did with a damaged file, and what is lost.
    public struct DamageReport: Sendable {
        public enum Outcome: Sendable {
            /// Everything after `version` is lost, up to `newest` as far as that is readable.
            case wentBack(version: UInt64, newest: UInt64)
            case salvaged([ClassReport])
            /// Everything is lost; `newest` is the last version that is readable from the files, or 0.
            case startedAfresh(newest: UInt64)
        }

        /// What the salvage kept and lost of one class.
        public struct ClassReport: Sendable {
            public let className: String
            public let objectsRecovered: Int
            public let objectsLost: Int
            /// Whether ``objectsLost`` is the whole loss; if not, more objects may be lost.
            public let isLossExact: Bool
            /// Ranges of keys with lost rows.
            public let lostKeys: [ClosedRange<Int64>]
            /// Properties whose value some recovered objects lost, with the number of objects.
            public let lostProperties: [String: Int]
            /// Recovered objects without a verified page above them: they may be older than the last commit, or from
            /// another file.
            public let objectsUncertain: Int
            /// Properties whose long value (text, data, a collection) is lost in some recovered objects, where it reads
            /// as empty or nil, or whose value the property does not allow, where it reads as the value of a property
            /// without one. The ranges hold the keys of these objects and of no others, as of the last checkpoint:
            /// the log may have set a value again, or added an object in between. Very long lists of ranges are
            /// truncated.
            public let emptiedProperties: [String: [ClosedRange<Int64>]]
            /// Elements that lists, sets and maps of recovered objects lost, by property; their other elements are
            /// kept.
            public let elementsLost: [String: Int]
            /// Elements recovered without their collection's upper nodes: they may be older than the last commit, and
            /// in a list be in another order.
            public let elementsUncertain: Int
            /// The number of links to lost objects, which were removed.
            public let linksRemoved: Int
        }

        /// The error with which the damaged file could not be opened.
        public let reason: String
        public let outcome: Outcome
        /// The copy of the damaged file that was kept: `NAME.damaged-1`, or with the next free number.
        public let keptFileURL: URL
        /// The copy of its log; nil if there was none.
        public let keptLogURL: URL?
        /// The number of bytes of the damaged file that could not be read; in the copy they are zero.
        public let unreadableBytes: Int
    }
}

extension RealmConfiguration.DamagePolicy {
    var repair: StrataRepair.DamagePolicy {
        switch self {
        case .fail: .fail
        case .lastGoodVersion: .lastGoodVersion
        case .salvage: .salvage
        case .startAfresh: .startAfresh
        }
    }
}

extension RealmConfiguration.DamageReport {
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

extension RealmConfiguration.DamageReport.ClassReport {
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
