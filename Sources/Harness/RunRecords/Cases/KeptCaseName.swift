import Seeds

/// The names of the case files of a run: `cases/CASE-HASH.case.json`. The case and its trial alone determine the name,
/// so that a report finds the file of a failure without reading any file.
package enum KeptCaseName {
    package static let directory = "cases"
    package static let ending = ".case.json"

    package static func of(_ id: String, _ outcome: Outcome, _ address: FaultAddress) -> String {
        "\(id)-\(StableHash.identifier(of: "\(outcome.rawValue) \(address.text)").prefix(6))\(ending)"
    }
}
