/// State of one call of `create`: the copies of objects, and assignments postponed because of their depth.
///
/// Nested values take stack for each level up to ``deepest``; deeper ones are assigned after the rest, from the
/// outermost level again, so that a chain of any length needs a bounded stack.
final class MakerRun {
    private(set) lazy var copies = DetachRun(into: write.instance)
    private let write: RunningWrite
    private var depth = 0
    private var isDoingWhatWaits = false
    private var waiting: [() -> Void] = []
    /// Deepest nesting of objects and properties.
    private static let deepest = 32

    init(_ write: RunningWrite) { self.write = write }

    /// Whether links to other objects are postponed.
    var isTooDeep: Bool { depth >= Self.deepest }

    func enter() { depth += 1 }

    /// The outermost call runs postponed assignments.
    func leave() {
        depth -= 1
        if depth == 0, !waiting.isEmpty, !isDoingWhatWaits { doWhatWaits() }
    }

    /// Postpones an assignment.
    func postpone(_ assign: @escaping () -> Void) {
        let (write, skips) = (write, write.skipsEqual)
        waiting.append { write.skippingEqual(skips, assign) }
    }

    private func doWhatWaits() {
        isDoingWhatWaits = true
        while !waiting.isEmpty, write.failure == nil {
            let next = waiting
            waiting.removeAll()
            for assign in next where write.failure == nil { assign() }
        }
        waiting.removeAll()
        isDoingWhatWaits = false
    }
}
