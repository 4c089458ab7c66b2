internal import StrataFiles

/// Tells a stopped process from a busy one.
///
/// An attendant counts each bell that it hears, also while a long transaction of its process holds the write gate. So a
/// busy process gives signs of life; one stopped by a signal, by a debugger or with its container does not. The waiting
/// thread owns this value and calls it at each check, ``ProcessTable/step`` apart.
struct SilenceWatch {
    private let slots: ProcessSlots
    private var slot: Int?
    private var signs: UInt32 = 0
    private var limit = Deadline.never

    init(_ slots: ProcessSlots) { self.slots = slots }

    /// Rings the process, and checks whether it has answered earlier bells.
    /// - Parameter slot: of the process that the thread now waits for; nil for none.
    /// - Returns: whether it has given no sign of life for ``ProcessTableFile/silenceLimit``, though it was rung at
    ///   each check.
    mutating func isSilent(_ slot: Int?) -> Bool {
        guard let slot else {
            self.slot = nil
            return false
        }
        let signs = slots.signs(of: slot)
        if slot != self.slot || signs != self.signs {
            (self.slot, self.signs) = (slot, signs)
            limit = slots.file.scheduling.deadline(after: slots.file.silenceLimit)
        } else if slots.file.scheduling.remaining(until: limit) == 0 {
            return true
        }
        slots.ring(slot)
        return false
    }

    /// The error for a silent process; it names the process ids that the system tells.
    func error(path: String) -> StorageError { .silent(path: path, slot.map(slots.processes(of:)) ?? []) }
}
