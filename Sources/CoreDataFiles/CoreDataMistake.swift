#if Zoo
    #if canImport(Glibc)
        import Glibc
    #else
        import Darwin
    #endif

    /// Something that this module does wrong on purpose, so that scenarios see whether they find it. The build for
    /// tests alone has it.
    package enum CoreDataMistake: String, CaseIterable, Sendable {
        /// A link or a pair that leads nowhere is dropped, and not told of.
        case danglingUntold = "coredata-dangling-untold"
        /// A null of an integer is imported as 0.
        case nullIsZero = "coredata-null-is-zero"
        /// A later import takes a row for unchanged that the store has changed.
        case changeMissed = "coredata-change-missed"
        /// A later import leaves rows that the store has deleted.
        case deletionKept = "coredata-deletion-kept"
        /// Lists lack their last element.
        case listShort = "coredata-list-short"
        /// An import that goes on does not look whether the rows that it had written have changed.
        case resumeForgets = "coredata-resume-forgets"
        /// A verification counts rows that differ as equal.
        case verificationForgives = "coredata-verification-forgives"

        private static let chosen = getenv("ASSAY_ZOO_MISTAKE").flatMap {
            CoreDataMistake(rawValue: String(cString: $0))
        }

        package var isPlanted: Bool { self == Self.chosen }
    }
#endif
