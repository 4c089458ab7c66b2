import SimulatedDisk
import StrataFiles
import Synchronization

/// A mistake of storage, planted between it and the disk, which a simulation must find.
enum PlantedMistake: String, CaseIterable, Sendable {
    /// The log's syncs do nothing.
    case noLogSync
    /// The data file is not synced before a slot with new pages is written.
    case noDataSync
    /// A slot is not synced.
    case noSlotSync
    /// The directory is not synced when the log is made.
    case noLogNameSync
    /// The directory is not synced when the log is removed.
    case noLogRemoveSync
    /// A failed sync of the log is retried, and the second result is trusted.
    case retryLogSync
    /// A failed sync of the data file is retried.
    case retryDataSync
    /// After a recovery and at a close only one of the two slots is written.
    case settleOneSlot
    /// After a transaction too large for the log only one of the two slots is written.
    case oneSlotAfterLarge
    /// Errors of log writes are swallowed.
    case swallowLogWrite
}

/// Passes every operation to a simulated disk, except those that the mistake affects.
final class MistakenDisk: FileSystemLayer {
    let base: SimulatedDisk
    fileprivate let mistake: PlantedMistake
    /// Whether the log was removed and the directory has not been synced since.
    private let hasRemovedLog = Mutex(false)
    private let hasMadeLog = Mutex(false)

    init(_ disk: SimulatedDisk, _ mistake: PlantedMistake) {
        base = disk
        self.mistake = mistake
    }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        let file = try base.open(path, mode)
        if path.hasSuffix(".log") && mode.isNew { hasMadeLog.withLock { $0 = true } }
        return MistakenFile(file, mistake, isLog: path.hasSuffix(".log"))
    }

    func remove(_ path: String) throws(FileError) {
        try base.remove(path)
        if path.hasSuffix(".log") { hasRemovedLog.withLock { $0 = true } }
    }

    func syncDirectory(of path: String) throws(FileError) {
        let removed = Self.take(hasRemovedLog)
        let made = Self.take(hasMadeLog)
        if mistake == .noLogRemoveSync && removed && !made { return }
        if mistake == .noLogNameSync && made { return }
        try base.syncDirectory(of: path)
    }

    private static func take(_ flag: borrowing Mutex<Bool>) -> Bool {
        flag.withLock { flag in
            defer { flag = false }
            return flag
        }
    }

}

/// Slots are distinguished from nodes by size and place. A mistake that omits one swaps the places of all later ones,
/// as if storage had never written it.
private final class MistakenFile: FileLayer {
    private struct Slots {
        /// The number of slot writes and syncs since any other write: 2 after a written and synced slot.
        var step = 0
        var areSwapped = false
        /// Whether the next sync belongs to an omitted write.
        var skipsSync = false
    }

    let base: any File
    private let mistake: PlantedMistake
    private let isLog: Bool
    private let slots = Mutex(Slots())
    private static let slotBytes = 512
    private static let pageBytes: Int64 = 4096

    init(_ file: any File, _ mistake: PlantedMistake, isLog: Bool) {
        base = file
        self.mistake = mistake
        self.isLog = isLog
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        if isLog {
            do throws(FileError) { try base.write(bytes, at: offset) } catch {
                if mistake != .swallowLogWrite { throw error }
            }
            return
        }
        guard bytes.count == Self.slotBytes, offset == 0 || offset == Self.pageBytes else {
            slots.withLock { $0.step = 0 }
            try base.write(bytes, at: offset)
            return
        }
        let isLeftOut = slots.withLock { slots in
            let isSecond = slots.step == 2
            slots.step = 1
            guard isSecond, mistake == (Self.requiresLog(bytes) ? .oneSlotAfterLarge : .settleOneSlot) else {
                return false
            }
            slots.areSwapped.toggle()
            slots.skipsSync = true
            return true
        }
        if isLeftOut { return }
        let place = slots.withLock { $0.areSwapped } ? Self.pageBytes - offset : offset
        try base.write(bytes, at: place)
    }

    private static func requiresLog(_ slot: UnsafeRawBufferPointer) -> Bool { slot[12] == 1 }

    func syncData() throws(FileError) {
        let (isOfSlot, isSkipped) = slots.withLock { slots in
            defer { slots.skipsSync = false }
            let isOfSlot = slots.step == 1
            slots.step = isOfSlot ? 2 : 0
            return (isOfSlot, slots.skipsSync)
        }
        if isSkipped { return }
        switch (mistake, isLog) {
        case (.noLogSync, true): return
        case (.noDataSync, false) where !isOfSlot: return
        case (.noSlotSync, false) where isOfSlot: return
        case (.retryLogSync, true), (.retryDataSync, false):
            do throws(FileError) { try base.syncData() } catch _ { try base.syncData() }
        default: try base.syncData()
        }
    }

}
