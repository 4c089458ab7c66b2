/// What one call of `create` makes: the copies of objects, and what waits because it stands too deep inside the rest.
///
/// Values inside one another take stack for each level as far as ``deepest``; what stands deeper is assigned after the
/// rest, from the outside again, so that a chain of any length is made on a stack of any size.
final class MakerRun {
    let copies: DetachRun
    private let write: RunningWrite
    private var depth = 0
    private var isDoingWhatWaits = false
    private var waiting: [() -> Void] = []
    /// Objects and properties inside one another.
    private static let deepest = 32

    init(_ write: RunningWrite) {
        self.write = write
        copies = DetachRun(into: write.instance)
    }

    /// Whether what leads to other objects is to wait.
    var isTooDeep: Bool { depth >= Self.deepest }

    func enter() { depth += 1 }

    /// The outermost call does what waits.
    func leave() {
        depth -= 1
        if depth == 0, !waiting.isEmpty, !isDoingWhatWaits { doWhatWaits() }
    }

    /// Lets an assignment wait.
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
