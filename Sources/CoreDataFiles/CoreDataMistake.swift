#if Zoo
    import Platform

    /// A deliberate mistake of this module, which scenarios must find. Only the test build contains it.
    package enum CoreDataMistake: String, CaseIterable, Sendable {
        /// A dangling link or pair is dropped without a finding.
        case danglingUntold = "coredata-dangling-untold"
        /// A null of an integer is imported as 0.
        case nullIsZero = "coredata-null-is-zero"
        /// A later import misses a changed row.
        case changeMissed = "coredata-change-missed"
        /// A later import keeps deleted rows.
        case deletionKept = "coredata-deletion-kept"
        /// Lists lack their last element.
        case listShort = "coredata-list-short"
        /// A resumed import does not check whether rows that it had written have changed.
        case resumeForgets = "coredata-resume-forgets"
        /// A verification counts differing rows as equal.
        case verificationForgives = "coredata-verification-forgives"

        private static let chosen = getenv("ASSAY_ZOO_MISTAKE").flatMap {
            CoreDataMistake(rawValue: String(cString: $0))
        }

        package var isPlanted: Bool { self == Self.chosen }
    }
#endif
