import RunRecords

/// What the child does that a program forks while it has a database open. The address of a trial is `fork:WAY,N`.
enum ForkWay: String, CaseIterable {
    /// Ends at once by `_exit`.
    case leave
    /// Ends by `exit`, which calls registered handlers.
    case exit
    /// Opens the database by its path, and commits concurrently with its parent.
    case beside

    /// nil for an address that is not a fork.
    static func of(_ address: FaultAddress) -> ForkWay? {
        guard address.fault == .fork else { return nil }
        let parts = address.text.dropFirst(5).split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int(parts[1]), number >= 0, let way = ForkWay(rawValue: String(parts[0])),
            way.address(number) == address
        else { return nil }
        return way
    }

    func address(_ number: Int) -> FaultAddress { FaultAddress(text: "fork:\(rawValue),\(number)") }
}
