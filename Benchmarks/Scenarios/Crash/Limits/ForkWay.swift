import RunRecords

/// What the child does that a program forks while it has a database open. Its address is `fork:WAY,N`.
enum ForkWay: String, CaseIterable {
    /// Ends at once.
    case leave
    /// Ends as programs do: what was registered for the end is called.
    case exit
    /// Opens the database by its path, and commits beside its parent.
    case beside

    /// nil for what is no address of a fork.
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
