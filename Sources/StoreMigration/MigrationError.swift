/// Why a migration refused or failed, with the remedy.
public struct MigrationError: Error, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// A model does not fit a store.
        case invalidModel
        /// A change that one of the stores could not hold; nothing was written.
        case invalidChange
        /// The outbox cannot be written, or is full; nothing was written.
        case outboxFailed
        /// The store that is written first refused; nothing was written.
        case writeRefused
        /// The store that is written first failed, and cannot say whether it has the batch. Where both are written the
        /// batch stays in the outbox, and will be in both; where one is, it is to be written again.
        case writeUnknown
        /// No such step leads from one phase to the other.
        case wrongPhase
        /// The stores differ, or were not compared.
        case notReconciled
        /// There is no way back.
        case retired
        /// The store has a shape that the adapter does not know; it was not touched.
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
