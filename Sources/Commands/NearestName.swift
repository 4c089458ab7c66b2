/// Finds what somebody may have meant.
package enum NearestName {
    /// The candidate with the smallest edit distance, when it is at most a third of the longer name's length (at least
    /// 1, or 2 from five letters on), or a candidate that begins with the name.
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

    /// A sentence that names what was wrong, the nearest right name, and all that there are.
    package static func complaint(_ kind: String, _ name: String, among candidates: [String]) -> String {
        var text = "unknown \(kind) \(name)"
        if let nearest = find(name, among: candidates) { text += "; did you mean \(nearest)?" }
        return text + " (known: \(candidates.joined(separator: ", ")))"
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
