/// An operation that may not be on disk at a crash, and the part of it that a state has: for people.
package struct UndecidedPart: Sendable {
    package enum Kept: Sendable, Equatable {
        case all
        case none
        /// Sectors of a write; or its contents without the size of its file, or the reverse.
        case part(sectors: Int, of: Int, isSizeKept: Bool)
    }

    /// Its number in the trace.
    package var record: Int
    package var kept: Kept
}

extension CrashPoint {
    /// The undecided operations, oldest first, with their parts in the state.
    package func parts(of mask: StateMask) -> [UndecidedPart] {
        let mask = normalized(mask)
        return effects.compactMap { effect in
            if effect.bits.isEmpty { return nil }
            let sectors = effect.dataBits.count { mask[$0] }
            let change = (effect.sizeBit ?? effect.entryBit).map { mask[$0] }
            let kept: UndecidedPart.Kept =
                if sectors == effect.dataBits.count, change ?? true {
                    .all
                } else if sectors == 0, !(change ?? false) {
                    .none
                } else {
                    .part(sectors: sectors, of: effect.dataBits.count, isSizeKept: change ?? true)
                }
            return UndecidedPart(record: effect.operation.record, kept: kept)
        }
    }
}
