import Platform

/// The environment variable that names the mistake which a process of a self-test makes.
package enum MistakeVariable {
    package static let name = "ASSAY_ZOO_MISTAKE"

    /// The name of the mistake; nil outside of a self-test.
    package static var value: String? { getenv(name).map { String(cString: $0) } }
}
