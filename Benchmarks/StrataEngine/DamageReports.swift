import Harness
import Platform
import RunRecords
import Strata
import StrataStorage
import Synchronization

/// What Realms reported about errors that no call could throw: by file, the first report.
///
/// A read that cannot throw (`count`, a loop, a property) leaves out what it cannot read, or returns a substitute, and
/// the Realm reports it. A session checks here before it returns results, so that no substitute is taken for data.
///
/// A Realm is opened as a program with default settings opens it: its reports are lines on standard error, which can be
/// read if standard error is a file, as in every trial. Otherwise, or if the case asks for it, the hook `report`
/// receives them.
final class DamageReports: Sendable {
    static let shared = DamageReports()
    /// Among the engine's settings: whether the hook is set in trials as well.
    static let hookSetting = "report"
    static let hook = "by its hook"
    private let reports = Mutex<[String: String]>([:])
    /// Whether there ever was a report: without one, a check takes no lock. Each timed pass ends with a check.
    private let hasReports = Atomic(false)
    /// The offset of the first unread line of standard error.
    private let heard = Atomic<Int64>(0)
    /// Held while standard error is read.
    private let reading = Mutex(())

    /// Prepares a configuration that is about to be opened.
    func listen(_ configuration: inout Realm.Configuration, _ path: String, settings: EngineSettings?) {
        reports.withLock { _ = $0.removeValue(forKey: path) }
        let isHooked = settings?.list.contains(EngineSetting(Self.hookSetting, Self.hook)) ?? false
        if !isHooked, let size = Self.fileSize(STDERR_FILENO) {
            heard.store(size, ordering: .releasing)
        } else {
            configuration.report = { DamageReports.shared.note(path, $0.description) }
        }
    }

    func note(_ path: String, _ message: String) {
        reports.withLock { reports in
            if reports[path] == nil { reports[path] = message }
        }
        hasReports.store(true, ordering: .releasing)
    }

    /// - Throws: `damaged` where the Realms of the file have reported something.
    func check(_ path: String) throws(EngineError) {
        readStandardError(path)
        guard hasReports.load(ordering: .acquiring) else { return }
        if let message = reports.withLock({ $0[path] }) { throw EngineError(.damaged, message) }
    }

    /// nil if the descriptor is no file.
    private static func fileSize(_ descriptor: Int32) -> Int64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    private func readStandardError(_ path: String) {
        guard let size = Self.fileSize(STDERR_FILENO), size > heard.load(ordering: .acquiring) else { return }
        reading.withLock { _ in
            let start = heard.load(ordering: .acquiring)
            if size <= start { return }
            // Standard error is open only for writing.
            let descriptor = open("/dev/fd/\(STDERR_FILENO)", O_RDONLY)
            if descriptor < 0 { return }
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: Int(size - start))
            let count = max(0, pread(descriptor, &bytes, bytes.count, off_t(start)))
            let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
            if let line = lines.first(where: { $0.hasPrefix("Strata: ") }) {
                note(path, String(line.dropFirst("Strata: ".count)))
            }
            // After the report is noted: another thread that sees this offset does not wait for the lock.
            heard.store(start + Int64(count), ordering: .releasing)
        }
    }
}

extension EngineError {
    /// From any error of Strata.
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
        case .invalidDatabase, .damaged, .unsupportedFileFormatVersion: .damaged
        case .outOfDiskSpace: .outOfSpace
        default: .refused
        }
    }

    private static func kind(_ error: StorageError) -> Kind {
        switch error {
        case .corrupt, .damaged, .notAStore, .logMissing, .logMismatch, .logCorrupt, .logOutdated, .unsupportedFormat:
            .damaged
        case .noSpace: .outOfSpace
        default: .refused
        }
    }
}
