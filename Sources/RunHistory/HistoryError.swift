/// What keeps a history of runs from being read or added to, and what helps.
package struct HistoryError: Error, CustomStringConvertible {
    package enum Kind: Sendable {
        /// Another file, run or name was meant.
        case wrongInput
        /// The file, the disk or another process stands in the way.
        case failure
    }

    package let kind: Kind
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
