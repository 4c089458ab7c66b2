import CAssayEngine
import Harness
import PackedRows
import Platform
import RunRecords

extension EngineLibrary {
    /// Throws for every status except success.
    @inline(__always)
    func judge(_ status: Int32, _ store: OpaquePointer?, _ call: StaticString) throws(EngineError) {
        if status != 0 { throw error(status, store, call) }
    }

    /// An error with the library's own message.
    func error(_ status: Int32, _ store: OpaquePointer?, _ call: StaticString) -> EngineError {
        let (kind, word): (EngineError.Kind, String) =
            switch UInt32(bitPattern: status) {
            case ASSAY_NOT_FOUND.rawValue: (.refused, "not found")
            case ASSAY_BUSY.rawValue: (.refused, "busy")
            case ASSAY_CORRUPT.rawValue: (.damaged, "corrupt")
            case ASSAY_FULL.rawValue: (.outOfSpace, "full")
            case ASSAY_IO.rawValue: (.refused, "I/O error")
            case ASSAY_OTHER.rawValue: (.refused, "error")
            default: (.refused, "answer \(status), which is none of enum assay_status")
            }
        let text = lastError(store).map { String(cString: $0) } ?? ""
        return EngineError(kind, "\(description.name) \(call): \(word)\(text.isEmpty ? "" : ", \(text)")")
    }
}

/// An open store, shared by all sessions of this process on its directory.
///
/// `@unchecked Sendable`: threads begin transactions concurrently only where the library allows it.
final class LibraryStore: @unchecked Sendable {
    static let open = OpenStores<LibraryStore>()

    let library: EngineLibrary
    let handle: OpaquePointer

    /// How long a transaction that conflicts with others is retried.
    static let patienceSeconds = 30.0

    init(_ library: EngineLibrary, directory: String, _ durability: DurabilityClass) throws(EngineError) {
        self.library = library
        let number = DurabilityClass.allCases.firstIndex(of: durability) ?? 0
        var raw: OpaquePointer?
        try library.judge(library.open(directory, UInt32(number), &raw), nil, "open")
        guard let raw else { throw EngineError(.refused, "\(library.description.name) open: it gave no store") }
        handle = raw
    }

    func close() throws(EngineError) {
        let status = library.close(handle)
        // The handle is invalid now, so the library cannot be asked for a reason.
        try library.judge(status, nil, "close")
    }

    /// nil if the library does not tell.
    func liveBytes() throws(EngineError) -> Int? {
        guard let liveBytes = library.liveBytes else { return nil }
        var bytes: UInt64 = 0
        try library.judge(liveBytes(handle, &bytes), handle, "live_bytes")
        return Int(clamping: bytes)
    }

    func compact() throws(EngineError) {
        guard let compact = library.compact else {
            throw EngineError(.unsupported, "\(library.description.name) has no compaction")
        }
        try library.judge(compact(handle), handle, "compact")
    }

    /// A transaction that the caller ends.
    func begin(_ how: TransactionKind) throws(EngineError) -> LibraryTransaction {
        let limit = Backoff()
        while true {
            var raw: OpaquePointer?
            let status = library.begin(handle, how.rawValue, &raw)
            if status == TransactionKind.busy, limit.goesOn() { continue }
            try library.judge(status, handle, "begin")
            guard let raw else { throw EngineError(.refused, "\(library.description.name) begin: no transaction") }
            return LibraryTransaction(self, raw)
        }
    }

    /// Runs the body in a write transaction and commits it; aborts it if the body throws. After a conflict it repeats
    /// the body, which then sees no effects of the earlier attempt.
    func write<Output>(_ body: (LibraryTransaction) throws(EngineError) -> Output) throws(EngineError) -> Output {
        let limit = Backoff()
        while true {
            let transaction = try begin(.write)
            do throws(EngineError) {
                let output = try body(transaction)
                try transaction.commit()
                return output
            } catch {
                transaction.abort()
                guard transaction.wasBusy, limit.goesOn() else { throw error }
            }
        }
    }

    /// Runs the body in a snapshot, or in a read transaction if the library has no snapshots.
    func read<Output>(_ body: (LibraryTransaction) throws(EngineError) -> Output) throws(EngineError) -> Output {
        let limit = Backoff()
        while true {
            let transaction = try begin(snapshotKind)
            defer { transaction.abort() }
            do throws(EngineError) {
                return try body(transaction)
            } catch {
                guard transaction.wasBusy, limit.goesOn() else { throw error }
            }
        }
    }

    var snapshotKind: TransactionKind { library.description.claims.contains(.snapshots) ? .snapshot : .read }
}

/// With the values of `enum assay_begin`.
enum TransactionKind: UInt32 {
    case read = 0
    case write = 1
    case snapshot = 2

    static let busy = Int32(bitPattern: ASSAY_BUSY.rawValue)
    static let notFound = Int32(bitPattern: ASSAY_NOT_FOUND.rawValue)
}

/// Waits for increasing times, up to a limit.
private final class Backoff {
    private var waits = 0
    private var waited: UInt32 = 0

    /// Whether to retry, after a pause.
    func goesOn() -> Bool {
        let pause = min(UInt32(5_000), UInt32(50) << UInt32(min(waits, 7)))
        guard Double(waited) < LibraryStore.patienceSeconds * 1e6 else { return false }
        usleep(pause)
        waited += pause
        waits += 1
        return true
    }
}
