/// Why an archive of runs cannot be read or added to, with the remedy.
package struct ArchiveError: Error, CustomStringConvertible {
    package enum Kind: Sendable {
        /// The path, run or name is not the intended one.
        case wrongInput
        /// The file, the disk or another process prevents the operation.
        case failure
    }

    package let kind: Kind
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
