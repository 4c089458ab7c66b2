/// The log of the writing process, and how full its active half is.
///
/// Guarded by the write gate.
struct LogUse {
    private(set) var file: LogFile?
    /// Upper bound of the bytes that records take in that half.
    private var used = 0
    /// The disk had no space for a log; at this commit count its creation is tried again.
    private var nextAttempt = 0
    /// Bytes that a record takes besides its own.
    private let sealBytes: Int

    init(isSealed: Bool) { sealBytes = isSealed ? Seal.size : 0 }

    /// Whether the log is to be created before the commit that follows this many.
    func isDue(afterCommits commits: Int) -> Bool { file == nil && commits >= nextAttempt }

    mutating func putOff(afterCommits commits: Int) { nextAttempt = commits + 16 }

    mutating func begin(_ log: LogFile) {
        file = log
        used = 0
    }

    mutating func close() {
        file?.close()
        file = nil
    }

    /// Whether the log can hold a record.
    func fits(_ record: Int) -> Bool { file.map { record <= $0.maxPayloadBytes } ?? false }

    /// Whether a record fits into the rest of the active half.
    func hasRoom(for record: Int) -> Bool { file.map { used + batchBytes(record) <= $0.header.halfBytes } ?? false }

    /// Notes that a record goes to the log.
    /// - Returns: whether the active half is more than half full.
    mutating func note(_ record: Int) -> Bool {
        used += batchBytes(record)
        return file.map { used >= $0.header.halfBytes / 2 } ?? false
    }

    /// Bytes of a record that is a log batch of its own, which is the most it can take.
    private func batchBytes(_ record: Int) -> Int { LogFormat.stride(payloadBytes: record + sealBytes) }

    /// Continues after this version in a half that replay can start with.
    /// - Parameter releases: the other half's contents are not needed any more.
    /// - Returns: the half that is active now, and the LSN that the log has reached durably; nil without a log.
    /// - Throws: as ``LogFile/goOn(after:)``.
    mutating func goOn(
        after version: UInt64, releases: Bool
    ) throws(StorageError) -> (half: Int, reach: UInt64)? {
        guard let file else { return nil }
        if releases { file.releaseInactiveHalf() }
        try file.goOn(after: version)
        used = 0
        return (file.activeHalf, file.reached)
    }
}
