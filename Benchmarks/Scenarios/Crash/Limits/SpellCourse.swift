/// The latencies of commits before, during and after a period in which the disk was slow.
struct SpellCourse: Equatable {
    /// The least number of commits in a window whose median decides, and its least duration in nanoseconds: a few slow
    /// commits are no slow period.
    static let window = 9
    static let windowNanoseconds: UInt64 = 100_000_000

    /// Nanoseconds, in the order of the commits.
    var before: [UInt64] = []
    var during: [UInt64] = []
    var after: [UInt64] = []
    /// When each commit after the period was acknowledged, in nanoseconds since its end.
    var ends: [UInt64] = []

    static func median(_ values: some Sequence<UInt64>) -> UInt64 {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    /// The largest median that counts as recovered.
    var limit: UInt64 { 2 * Self.median(before) }

    /// The windows of commits after the period, in order of time: each as the index after its last commit. A window is
    /// complete with enough commits and enough time; commits at the end that do not complete one belong to none.
    private var windowEnds: [Int] {
        var found: [Int] = []
        var (first, start) = (0, UInt64(0))
        for place in after.indices where place + 1 - first >= Self.window {
            guard ends[place] - start >= Self.windowNanoseconds else { continue }
            found.append(place + 1)
            (first, start) = (place + 1, ends[place])
        }
        return found
    }

    /// Whether the last commits have recovered.
    var isBack: Bool { recovery != nil }

    /// Whether the slow period shows in its commits.
    var shows: Bool { !before.isEmpty && !during.isEmpty && Self.median(during) > limit }

    /// Nanoseconds from the end of the period to the end of the last window that was still slow; 0 if none was. nil if
    /// the very last window was slow, or if there is no window.
    var recovery: UInt64? {
        let places = windowEnds
        var slow: UInt64 = 0
        for (number, end) in places.enumerated() {
            let start = number == 0 ? 0 : places[number - 1]
            guard Self.median(after[start..<end]) > limit else { continue }
            if number == places.count - 1 { return nil }
            slow = ends[end - 1]
        }
        return places.isEmpty ? nil : slow
    }

    // MARK: As text

    /// Lines of numbers.
    var text: String {
        [before, during, after, ends].map { $0.map(String.init).joined(separator: " ") + "\n" }.joined()
    }

    init() {}

    /// nil for an incomplete text.
    init?(_ text: some StringProtocol) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 5 else { return nil }
        let numbers = lines.prefix(4).map { $0.split(separator: " ").compactMap { UInt64($0) } }
        (before, during, after, ends) = (numbers[0], numbers[1], numbers[2], numbers[3])
        guard after.count == ends.count else { return nil }
    }
}
