/// An I/O operation that is made to fail.
///
/// The canonical form is `io:PLACE,EFFECT[,for-good]`, where PLACE is a ``FaultIdentity``, `#N` for the N-th recorded
/// operation of the disk or `read#N` for the N-th of the others, reads and maps, and EFFECT is `EIO`, `ENOSPC` or
/// `short:BYTES`: `io:commit-12/main/log/sync/0,EIO,for-good`.
package struct Fault: Hashable, Sendable, CustomStringConvertible {
    package enum Place: Hashable, Sendable {
        case identity(FaultIdentity)
        /// The N-th recorded operation, 0-based. It shifts when the script changes: for sweeps, not for case files.
        case operation(Int)
        /// The N-th operation that is not recorded, 0-based: a read or a map.
        case read(Int)
    }

    package enum Effect: Hashable, Sendable {
        /// The operation fails and changes nothing. A failed sync leaves the data that it should have made durable
        /// uncertain for ever: the system marks such pages clean, so no later sync writes them again.
        case inputOutputError
        /// The operation fails for lack of space and changes nothing.
        case noSpace
        /// A write writes only its first bytes, then fails.
        case shortWrite(bytes: Int)

        /// Whether this can happen to an operation of that kind.
        package func applies(to kind: IOKind) -> Bool {
            switch self {
            case .inputOutputError: true
            // A sync can find the disk full, because space may be allocated as late as that.
            case .noSpace: kind.takesSpace || kind == .sync || kind == .syncDirectory
            case .shortWrite: kind == .write
            }
        }
    }

    package var place: Place
    package var effect: Effect
    /// Whether later operations fail too: with EIO those of the same role and kind, with ENOSPC all that need space.
    package var isLasting: Bool

    package init(_ effect: Effect, at place: Place, isLasting: Bool = false) {
        self.place = place
        self.effect = effect
        self.isLasting = isLasting
    }

    package var description: String {
        let placeText =
            switch place {
            case .identity(let identity): identity.description
            case .operation(let number): "#\(number)"
            case .read(let number): "read#\(number)"
            }
        let effectText =
            switch effect {
            case .inputOutputError: "EIO"
            case .noSpace: "ENOSPC"
            case .shortWrite(let bytes): "short:\(bytes)"
            }
        return "io:\(placeText),\(effectText)\(isLasting ? ",for-good" : "")"
    }

    /// Parses the canonical form; nil for any other text.
    package init?(_ text: String) {
        guard text.hasPrefix("io:") else { return nil }
        let parts = text.dropFirst(3).split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2 || (parts.count == 3 && parts[2] == "for-good") else { return nil }
        if parts[0].hasPrefix("#") || parts[0].hasPrefix("read#") {
            let isRead = parts[0].hasPrefix("read#")
            guard let number = Int(parts[0].dropFirst(isRead ? 5 : 1)), number >= 0 else { return nil }
            place = isRead ? .read(number) : .operation(number)
        } else {
            guard let identity = FaultIdentity(parts[0]) else { return nil }
            place = .identity(identity)
        }
        switch parts[1] {
        case "EIO": effect = .inputOutputError
        case "ENOSPC": effect = .noSpace
        default:
            guard parts[1].hasPrefix("short:"), let bytes = Int(parts[1].dropFirst(6)), bytes >= 0 else { return nil }
            effect = .shortWrite(bytes: bytes)
        }
        isLasting = parts.count == 3
        guard description == text else { return nil }
    }
}
