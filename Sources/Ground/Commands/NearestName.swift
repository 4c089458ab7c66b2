/// Finds the name that a mistyped one stands for.
package enum NearestName {
    /// The candidate with the smallest edit distance, if that is at most a third of the longer name's length; one edit
    /// is always allowed, two if the longer name has five letters or more. Otherwise the first candidate that begins
    /// with `name`; nil if there is none.
    package static func find(_ name: String, among candidates: some Sequence<String>) -> String? {
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(name, candidate)
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        guard let best else { return nil }
        let length = max(name.utf8.count, best.name.utf8.count)
        let limit = max(length >= 5 ? 2 : 1, length / 3)
        if best.distance <= limit { return best.name }
        return candidates.first { !name.isEmpty && $0.hasPrefix(name) }
    }

    /// Lists up to this many names are shown whole.
    private static let shortList = 8

    /// The message for a name that does not exist. It proposes the most similar name; of up to `shortList` candidates
    /// it lists all, of more the three nearest.
    /// - Parameter list: the command that prints all names.
    package static func complaint(
        _ kind: String, _ name: String, among candidates: [String], list: String? = nil
    ) -> String {
        var text = "unknown \(kind) \(name)"
        let best = find(name, among: candidates)
        if let best { text += "; did you mean \(best)?" }
        if candidates.count <= shortList { return text + " (known: \(candidates.joined(separator: ", ")))" }
        let names = nearest(name, among: candidates, count: 3, first: best).joined(separator: ", ")
        let rest = list.map { "; \($0) prints all \(candidates.count)" } ?? ", of \(candidates.count)"
        return text + " (nearest: \(names)\(rest))"
    }

    /// The `count` nearest candidates: first `first`, then names that contain `name` or are contained in it, then by
    /// edit distance.
    static func nearest(
        _ name: String, among candidates: [String], count: Int, first: String? = nil
    ) -> [String] {
        var seen: Set<String> = []
        // A name may stand for two things, as a plan and a topic do.
        let names = candidates.filter { seen.insert($0).inserted }
        let ranked = names.enumerated().map { place, candidate in
            let isPart = !name.isEmpty && (candidate.contains(name) || name.contains(candidate))
            let rank = candidate == first ? 0 : isPart ? 1 : 2
            return (rank: rank, distance: distance(name, candidate), place: place, name: candidate)
        }
        return ranked.sorted { ($0.rank, $0.distance, $0.place) < ($1.rank, $1.distance, $1.place) }
            .prefix(count).map(\.name)
    }

    /// Edits (insert, delete, replace, swap neighbours) that turn one into the other. Complexity: O(n * m).
    static func distance(_ first: String, _ second: String) -> Int {
        let a = Array(first.utf8)
        let b = Array(second.utf8)
        if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
        var beforePrevious = [Int](repeating: 0, count: b.count + 1)
        var previous = Array(0...b.count)
        for i in 1...a.count {
            var row = [i] + [Int](repeating: 0, count: b.count)
            for j in 1...b.count {
                let replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
                row[j] = min(replaced, previous[j] + 1, row[j - 1] + 1)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    row[j] = min(row[j], beforePrevious[j - 2] + 1)
                }
            }
            beforePrevious = previous
            previous = row
        }
        return previous[b.count]
    }
}
