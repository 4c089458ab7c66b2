/// Why a migration refused or failed, with the remedy.
public struct MigrationError: Error, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// A model does not fit a store.
        case invalidModel
        /// A change with a value that one of the stores cannot hold; nothing was written.
        case invalidChange
        /// The outbox cannot be written, or is full; nothing was written.
        case outboxFailed
        /// The store that is written first refused the batch; nothing was written.
        case writeRefused
        /// The store that is written first failed, and cannot tell whether it has the batch. In a phase that writes
        /// both stores the batch stays in the outbox and reaches both later; in a phase with one store the caller must
        /// write it again.
        case writeUnknown
        /// There is no such step between the two phases.
        case wrongPhase
        /// The stores differ, or were not compared.
        case notReconciled
        /// The way back was given up by ``DoubleWriter/retire()``.
        case retired
        /// The adapter does not support the store's tables; the store is unchanged.
        case unknownShape
        /// The store's file failed.
        case storeFailed
        case closed
    }

    public var code: Code
    public var message: String
    public var cause: (any Error)?

    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { cause.map { "\(message): \($0)" } ?? message }
}
