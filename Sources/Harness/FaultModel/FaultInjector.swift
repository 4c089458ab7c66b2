/// Names every I/O operation and decides which of them fail.
package struct FaultInjector: Sendable {
    /// The decision of ``FaultInjector/next(label:actor:role:kind:)``.
    package struct Decision: Sendable {
        package var identity: FaultIdentity
        package var effect: Fault.Effect?
        /// Whether the fault lasts from here on.
        package var isLasting = false
    }

    private struct Counter: Hashable {
        var label: String
        var actor: String
        var role: FileRole
        var kind: IOKind
    }

    private struct Lasting: Sendable {
        var role: FileRole
        var kind: IOKind
        var effect: Fault.Effect
    }

    private var counts: [Counter: Int] = [:]
    private var waiting: [Fault]
    private var lasting: [Lasting] = []
    /// The faults that occurred, in order.
    package private(set) var struck: [Fault] = []
    /// Recorded operations so far.
    package private(set) var operations = 0
    /// Operations that are not recorded, so far.
    package private(set) var reads = 0

    package init(_ faults: [Fault] = []) { waiting = faults }

    /// Continues the numbers of the operations behind `count` operations that were recorded before.
    package mutating func skip(_ count: Int) { operations += count }

    /// Adds a fault, which occurs at its operation.
    package mutating func add(_ fault: Fault) { waiting.append(fault) }

    /// Removes all faults; names and numbers continue.
    package mutating func forgetFaults() {
        waiting = []
        lasting = []
    }

    /// Names the next operation. A fault that does not apply to this kind is dropped without occurring.
    package mutating func next(label: String, actor: String, role: FileRole, kind: IOKind) -> Decision {
        let counter = Counter(label: label, actor: actor, role: role, kind: kind)
        let index = counts[counter, default: 0]
        counts[counter] = index + 1
        let identity = FaultIdentity(label: label, actor: actor, role: role, kind: kind, index: index)
        var decision = Decision(identity: identity)
        let number = kind.isRecorded ? operations : reads
        if kind.isRecorded { operations += 1 } else { reads += 1 }
        if let found = lasting.first(where: { $0.role == role && $0.kind == kind }) { decision.effect = found.effect }
        if waiting.isEmpty { return decision }
        let match = waiting.firstIndex { fault in
            switch fault.place {
            case .identity(let wanted): wanted == identity
            case .operation(let wanted): kind.isRecorded && wanted == number
            case .read(let wanted): !kind.isRecorded && wanted == number
            }
        }
        guard let match else { return decision }
        let fault = waiting.remove(at: match)
        guard fault.effect.applies(to: kind) else { return decision }
        struck.append(fault)
        decision.effect = fault.effect
        decision.isLasting = fault.isLasting
        if fault.isLasting, fault.effect != .noSpace {
            lasting.append(Lasting(role: role, kind: kind, effect: fault.effect))
        }
        return decision
    }
}
