/// A record that differs between the stores.
public struct Divergence: Sendable {
    public var id: RecordID
    /// nil if the old store lacks the record.
    public var old: Record?
    public var new: Record?
    /// Whether the writer deleted the record since the stores were last equal. If not, a record in only one store may
    /// have been inserted there or deleted from the other.
    public var isKnownDeletion: Bool

    /// The fields with different values; empty if one store lacks the record.
    public var fields: [String] {
        guard let old, let new else { return [] }
        return Set(old.values.keys).union(new.values.keys).filter { old[$0] != new[$0] }.sorted()
    }
}

/// The resolution of a divergence.
public enum Mending: Sendable {
    /// The other store gets this one's record, or deletes its own if this one has none.
    case take(StoreSide)
    case leave
}

/// The rule that decides which store is right.
public enum MendRule: Sendable {
    case oldWins
    case newWins
    /// The record with the higher value of the property `by` wins; null is the lowest. If both are equal, the store in
    /// `tie` wins.
    ///
    /// If one store lacks the record, `deletion` decides about a record that the writer is known to have deleted. Any
    /// other record is copied to the other store, so that none is lost.
    case newerWins(by: String, tie: StoreSide, deletion: DeletionRule)
    case ask(@Sendable (Divergence) throws -> Mending)
}

/// The resolution of a record that was deleted in one store and exists, perhaps changed, in the other.
public enum DeletionRule: Sendable {
    case deletionWins
    case editWins
    case ask(@Sendable (Divergence) throws -> Mending)
}

extension MendRule {
    /// Whether the rule calls a closure of the application, which may be slow and may write.
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
                if PlantedMistake.leaveIgnored.isMade, case .leave = answer { return .take(.old) }
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
                if PlantedMistake.olderWins.isMade {
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
