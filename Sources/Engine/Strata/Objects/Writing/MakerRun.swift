/// State of one call of `create`: the copies of objects, and the assignments that wait because of their depth.
///
/// Values that are nested down to ``deepest`` levels are assigned recursively. A deeper one waits until the outermost
/// call is about to return, and is assigned from there, so that a chain of any length needs a bounded stack.
final class MakerRun {
    private(set) lazy var copies = DetachRun(into: write.instance)
    private let write: RunningWrite
    private var depth = 0
    private var isDoingWhatWaits = false
    private var waiting: [() -> Void] = []
    /// Deepest nesting of objects and properties.
    private static let deepest = 32

    init(_ write: RunningWrite) { self.write = write }

    /// Whether assignments of links to other objects have to wait.
    var isTooDeep: Bool { depth >= Self.deepest }

    func enter() { depth += 1 }

    /// Leaves a level. At the outermost one, makes the assignments that wait.
    func leave() {
        depth -= 1
        if depth == 0, !waiting.isEmpty, !isDoingWhatWaits { doWhatWaits() }
    }

    /// Postpones an assignment until the outermost call of ``leave()``, which makes it.
    func postpone(_ assign: @escaping () -> Void) { waiting.append(assign) }

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
