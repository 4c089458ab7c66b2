/// The log that commits go to, and how full the half is that they go to.
///
/// Guarded by the write gate.
struct LogUse {
    private(set) var file: LogFile?
    /// Bytes of that half that records will take at most.
    private var used = 0
    /// The disk had no space for a log; the commit to try again at.
    private var nextAttempt = 0
    /// What a record takes beside its bytes.
    private let sealBytes: Int

    init(isSealed: Bool) { sealBytes = isSealed ? Seal.size : 0 }

    /// Whether a log is to be made, before a commit that follows so many.
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

    /// Whether a record finds room in the half that commits go to.
    func hasRoom(for record: Int) -> Bool { file.map { used + batchBytes(record) <= $0.header.halfBytes } ?? false }

    /// A record goes to the log.
    /// - Returns: whether the half is more than half full.
    mutating func note(_ record: Int) -> Bool {
        used += batchBytes(record)
        return file.map { used >= $0.header.halfBytes / 2 } ?? false
    }

    /// Bytes that a record takes when it is a batch of its own, which is the most it can take.
    private func batchBytes(_ record: Int) -> Int { LogFormat.stride(payloadBytes: record + sealBytes) }

    /// Commits go on in a half that replay can start with, after this version.
    /// - Parameter releases: the other half's contents are not needed.
    /// - Returns: the half that they go to, and what the log has reached durably; nil without a log.
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
