import Harness
import Strata
import StrataStorage
import Synchronization

/// What Realms reported to their `invalidAccessHandler`, by file: the first report of each.
///
/// Reads that cannot throw (`count`, a loop, a property) hand out a substitute and report. A session looks here before
/// it gives anything away, so that no substitute is taken for data.
final class DamageReports: Sendable {
    static let shared = DamageReports()
    private let reports = Mutex<[String: String]>([:])

    func note(_ path: String, _ message: String) {
        reports.withLock { reports in
            if reports[path] == nil { reports[path] = message }
        }
    }

    func forget(_ path: String) {
        reports.withLock { _ = $0.removeValue(forKey: path) }
    }

    func check(_ path: String) throws(EngineError) {
        if let message = reports.withLock({ $0[path] }) { throw EngineError(.damaged, message) }
    }
}

extension EngineError {
    /// From whatever Strata throws.
    init(_ error: any Error) {
        switch error {
        case let error as EngineError: self = error
        case let error as Realm.Error: self.init(Self.kind(error.code), error.description)
        case let error as StorageError: self.init(Self.kind(error), "\(error)")
        default: self.init(.refused, "\(error)")
        }
    }

    private static func kind(_ code: Realm.Error.Code) -> Kind {
        switch code {
        case .invalidDatabase, .unsupportedFileFormatVersion: .damaged
        case .outOfDiskSpace: .outOfSpace
        default: .refused
        }
    }

    private static func kind(_ error: StorageError) -> Kind {
        switch error {
        case .corrupt, .notAStore, .logMissing, .logMismatch, .logCorrupt, .logOutdated, .unsupportedFormat: .damaged
        case .noSpace: .outOfSpace
        default: .refused
        }
    }
}
