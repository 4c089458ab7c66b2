/// Why a store of Core Data was not read or written, with the remedy.
package struct CoreDataError: Error, CustomStringConvertible, Sendable {
    package enum Kind: String, Sendable {
        /// The command line or the mapping names something that does not exist.
        case wrongInput
        /// The file is not an SQLite database of Core Data.
        case notAStore
        /// Encrypted as a whole, by SQLCipher or the like.
        case encrypted
        /// Another program has the store open, or writes it.
        case inUse
        /// Pages, or the write-ahead log, contradict themselves.
        case damaged
        /// The write-ahead log lacks commits that its index lists.
        case logLost
        /// Tables or rows that do not follow the rules of Core Data.
        case unknownShape
        /// A model with columns that the tables lack.
        case otherModel
        /// A value that its property cannot hold.
        case unfitValue
        case noSpace
        /// The user stopped the import; its progress is kept, and the same command resumes it.
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
