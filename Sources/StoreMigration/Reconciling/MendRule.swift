/// A record in which the stores differ.
public struct Divergence: Sendable {
    public var id: RecordID
    /// Nil where the old store has none.
    public var old: Record?
    public var new: Record?
    /// Whether the writer deleted it since the stores were last equal. Else a record that one store alone has may have
    /// come there or gone from the other one.
    public var isKnownDeletion: Bool

    /// The fields with different values; none where one store has no record.
    public var fields: [String] {
        guard let old, let new else { return [] }
        return Set(old.values.keys).union(new.values.keys).filter { old[$0] != new[$0] }.sorted()
    }
}

/// What becomes of a divergence.
public enum Mending: Sendable {
    /// The other store gets what this one has, or loses what this one does not have.
    case take(StoreSide)
    case leave
}

/// Which store is right where they differ.
public enum MendRule: Sendable {
    case oldWins
    case newWins
    /// The record whose property is the higher one; null is the lowest. Of two equal ones the store in `tie`.
    ///
    /// Where one store has no record: what the writer is known to have deleted follows `deletion`; anything else is
    /// brought to the other store, and so never lost.
    case newerWins(by: String, tie: StoreSide, deletion: DeletionRule)
    case ask(@Sendable (Divergence) throws -> Mending)
}

/// What becomes of a record that was deleted in one store and is in the other, where it may have been changed since.
public enum DeletionRule: Sendable {
    case deletionWins
    case editWins
    case ask(@Sendable (Divergence) throws -> Mending)
}

extension MendRule {
    /// Whether it calls what an application gave, which may take its time and write itself.
    var asks: Bool {
        switch self {
        case .oldWins, .newWins, .newerWins(_, _, .deletionWins), .newerWins(_, _, .editWins): false
        case .ask, .newerWins(_, _, .ask): true
        }
    }

    func mending(_ divergence: Divergence) throws -> Mending {
        switch self {
        case .oldWins: return .take(.old)
        case .newWins: return .take(.new)
        case .ask(let ask):
            let answer = try ask(divergence)
            #if Zoo
                if MigrationMistake.leaveIgnored.isPlanted, case .leave = answer { return .take(.old) }
            #endif
            return answer
        case .newerWins(let property, let tie, let deletion):
            guard let old = divergence.old, let new = divergence.new else {
                let holder: StoreSide = divergence.old == nil ? .new : .old
                guard divergence.isKnownDeletion else { return .take(holder) }
                switch deletion {
                case .deletionWins: return .take(holder.other)
                case .editWins: return .take(holder)
                case .ask(let ask): return try ask(divergence)
                }
            }
            #if Zoo
                if MigrationMistake.olderWins.isPlanted {
                    return .take(Self.precedes(old[property], new[property]) ? .old : .new)
                }
            #endif
            if Self.precedes(old[property], new[property]) { return .take(.new) }
            return .take(Self.precedes(new[property], old[property]) ? .old : tie)
        }
    }

    private static func precedes(_ a: FieldValue, _ b: FieldValue) -> Bool {
        switch (a, b) {
        case (.null, .null): false
        case (.null, _): true
        case (.integer(let a), .integer(let b)): a < b
        case (.real(let a), .real(let b)), (.date(let a), .date(let b)): a < b
        case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
        default: false
        }
    }
}
