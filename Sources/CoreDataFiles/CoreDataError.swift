/// Why a store of Core Data was not read or written, and what helps.
package struct CoreDataError: Error, CustomStringConvertible, Sendable {
    package enum Kind: String, Sendable {
        /// The command line or the mapping asks for what is not there.
        case wrongInput
        /// The file is no SQLite database, or none of Core Data's.
        case notAStore
        /// Encrypted as a whole, by SQLCipher or the like.
        case encrypted
        /// Another program has it open, or writes it.
        case inUse
        /// Pages, or the write-ahead log, contradict themselves.
        case damaged
        /// The write-ahead log lacks commits that its index says were there.
        case logLost
        /// Tables or rows that no rule of Core Data's tables explains.
        case unknownShape
        /// A model that names columns which the tables do not have.
        case otherModel
        /// A value that its property cannot hold.
        case unfitValue
        case noSpace
        /// The user stopped it; what is done stays, and the same command goes on.
        case stopped
        case failure
    }

    package let kind: Kind
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
