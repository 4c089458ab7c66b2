/// The latencies of commits before, in and after a time in which the disk was slow.
struct SpellCourse: Equatable {
    /// Commits whose median decides: a single one that is slow is no spell.
    static let window = 9

    /// Nanoseconds, in the order of the commits.
    var before: [UInt64] = []
    var during: [UInt64] = []
    var after: [UInt64] = []
    /// When each of those after was acknowledged, in nanoseconds since the disk was fast again.
    var ends: [UInt64] = []

    static func median(_ values: some Sequence<UInt64>) -> UInt64 {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    /// What counts as back.
    var limit: UInt64 { 2 * Self.median(before) }

    /// Whether the last commits are back.
    var isBack: Bool {
        after.count >= Self.window && Self.median(after.suffix(Self.window)) <= limit
    }

    /// Whether the spell is seen in the commits that were made in it.
    var shows: Bool { !before.isEmpty && !during.isEmpty && Self.median(during) > limit }

    /// Nanoseconds until the commits were back for good; nil where they were not by the end.
    var recovery: UInt64? {
        guard isBack else { return nil }
        var place = after.count - Self.window
        while place >= 0, Self.median(after[place..<(place + Self.window)]) <= limit { place -= 1 }
        // The last commits that were not yet back end with this one; those that wait for the first window are back.
        return place < 0 ? 0 : ends[place + Self.window - 1]
    }

    // MARK: As text

    /// Lines of numbers.
    var text: String {
        [before, during, after, ends].map { $0.map(String.init).joined(separator: " ") + "\n" }.joined()
    }

    init() {}

    /// nil for what is no whole text.
    init?(_ text: some StringProtocol) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 5 else { return nil }
        let numbers = lines.prefix(4).map { $0.split(separator: " ").compactMap { UInt64($0) } }
        (before, during, after, ends) = (numbers[0], numbers[1], numbers[2], numbers[3])
        guard after.count == ends.count else { return nil }
    }
}
