import RunRecords

/// A way in which a history differs from every serial execution.
///
/// Source: Adya, "Weak Consistency" (1999), for the phenomena; Berenson et al. (1995) for lost updates and skews;
/// Kingsbury and Alvaro, "Elle" (2020), for their detection in the observations of clients.
package enum Anomaly: String, Sendable, CaseIterable {
    case unwrittenValue = "unwritten-value"
    case duplicateElement = "duplicate-element"
    case lostElement = "lost-element"
    case incompatibleOrders = "incompatible-orders"
    case abortedRead = "aborted-read"
    case intermediateRead = "intermediate-read"
    case ownWriteUnseen = "own-write-unseen"
    case dirtyWrite = "dirty-write"
    case cyclicFlow = "cyclic-flow"
    case changingRead = "changing-read"
    case lostUpdate = "update-lost"
    case readSkew = "read-skew"
    case longFork = "long-fork"
    case writeSkew = "write-skew"
    case realTime = "real-time"

    /// The name in the literature, where there is one.
    package var formalName: String? {
        switch self {
        case .abortedRead: "G1a"
        case .intermediateRead: "G1b"
        case .cyclicFlow: "G1c"
        case .dirtyWrite: "G0"
        case .lostUpdate: "P4"
        case .readSkew: "G-single"
        case .longFork: "G-nonadjacent"
        case .writeSkew: "G2-item"
        default: nil
        }
    }

    package var sentence: String {
        switch self {
        case .unwrittenValue: "a read gave a value that no transaction had written"
        case .duplicateElement: "a list holds an element twice that was appended once"
        case .lostElement: "an acknowledged element is missing from a list that was read after all writes had ended"
        case .incompatibleOrders: "two reads of one list disagree: neither goes on where the other ends"
        case .abortedRead: "a value of a transaction that was rolled back was read"
        case .intermediateRead: "a value was read that its transaction wrote over before it ended"
        case .ownWriteUnseen: "a transaction does not see what it wrote itself"
        case .dirtyWrite: "the writes of transactions go through each other"
        case .cyclicFlow: "transactions read from each other in a circle"
        case .changingRead: "a transaction read one key twice, and its value changed between"
        case .lostUpdate: "two transactions changed the same value of a key, and one of the changes is lost"
        case .readSkew: "a transaction saw a part of another and not the rest"
        case .longFork: "readers saw writes happen in different orders"
        case .writeSkew: "transactions each wrote what would have changed what the other read"
        case .realTime: "a transaction that had begun after another ended came before it"
        }
    }

    /// The weakest level that forbids it.
    package var forbiddenFrom: IsolationLevel {
        switch self {
        case .unwrittenValue, .duplicateElement, .lostElement, .incompatibleOrders, .abortedRead, .intermediateRead,
            .ownWriteUnseen, .dirtyWrite, .cyclicFlow:
            .readCommitted
        case .changingRead, .lostUpdate, .readSkew, .longFork: .snapshot
        case .writeSkew: .serializable
        case .realTime: .strictSerializable
        }
    }

    package func isForbidden(at level: IsolationLevel) -> Bool { level >= forbiddenFrom }
}
