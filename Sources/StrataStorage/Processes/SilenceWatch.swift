internal import StrataFiles

/// Whether a process that others wait for gives signs of life.
///
/// Its attendant counts each time that it hears its bell, also while a long transaction of its process has the write
/// gate. So one that is busy is told from one that is stopped: by a signal, by a debugger, with its container.
/// A value of the thread that waits; it is asked at each look, ``ProcessTable/step`` apart.
struct SilenceWatch {
    private let slots: ProcessSlots
    private var slot: Int?
    private var signs: UInt32 = 0
    private var limit = Deadline.never

    init(_ slots: ProcessSlots) { self.slots = slots }

    /// Rings the process of a slot.
    /// - Parameter slot: of the process that is waited for now; nil for none.
    /// - Returns: whether it has given no sign of life for as long as ``ProcessTableFile/silenceLimit``, though it was
    ///   rung at each look.
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

    /// What is thrown then: the error names the process where its number can be told.
    func error(path: String) -> StorageError { .silent(path: path, slot.map(slots.processes(of:)) ?? []) }
}
