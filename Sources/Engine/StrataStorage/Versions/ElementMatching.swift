/// Finds the unchanged elements of two runs of a list, by value.
///
/// 1. Equal elements at the start are skipped. At a mismatch, up to 32 deleted, inserted or replaced elements are taken
///    for the change if the 16 elements after them agree. So single changes take time linear in the run.
/// 2. Otherwise elements that are unique on each side are found, and the longest ascending chain of them is kept; the
///    parts between them are matched in the same way.
/// 3. Between short runs, and without unique elements, the shortest edit script is searched, up to a bound of the work;
///    beyond it the rest counts as replaced.
struct ElementMatching {
    /// Indices of deleted elements, and of inserted ones, unordered.
    private(set) var gone: [Range<Int>] = []
    private(set) var come: [Range<Int>] = []
    private let old: ElementStretch
    private let new: ElementStretch
    /// Steps left for searches that are not linear.
    private var budget: Int

    private static let mostSkipped = 32
    private static let agreement = 16
    /// Shorter runs are not searched for unique elements.
    private static let short = 64
    private static let mostChanges = 1023

    /// - Throws: `corrupt`.
    init(_ old: ElementStretch, _ new: ElementStretch, budget: Int = 1 << 24) throws(StorageError) {
        self.old = old
        self.new = new
        self.budget = budget
        try run()
    }

    /// A part of both runs.
    private struct Part {
        var old: Range<Int>
        var new: Range<Int>
        /// Number of searches for unique elements that led to this part.
        var depth = 0

        var isOneSided: Bool { old.isEmpty || new.isEmpty }
        var size: Int { old.count + new.count }
    }

    @inline(__always)
    private func same(_ a: Int, _ b: Int) throws(StorageError) -> Bool { try old.hasSameValue(a, as: new, b) }

    private mutating func run() throws(StorageError) {
        var rest = Part(old: 0..<old.count, new: 0..<new.count)
        while true {
            try trimStart(&rest)
            if rest.isOneSided { return replace(rest) }
            let (a, b) = (rest.old.lowerBound, rest.new.lowerBound)
            guard let (skipped, added) = try change(at: a, b) else { break }
            try matchShortest(Part(old: a..<(a + skipped), new: b..<(b + added)))
            rest.old = (a + skipped)..<rest.old.upperBound
            rest.new = (b + added)..<rest.new.upperBound
        }
        var open = [rest]
        while var part = open.popLast() {
            try trimStart(&part)
            try trimEnd(&part)
            if part.isOneSided {
                replace(part)
            } else if max(part.old.count, part.new.count) < Self.short {
                try matchShortest(part)
            } else if let pairs = try unique(part) {
                open += Self.between(pairs, part)
            } else {
                try matchShortest(part)
            }
        }
    }

    private mutating func replace(_ part: Part) {
        if !part.old.isEmpty { gone.append(part.old) }
        if !part.new.isEmpty { come.append(part.new) }
    }

    private func trimStart(_ part: inout Part) throws(StorageError) {
        var (a, b) = (part.old.lowerBound, part.new.lowerBound)
        while a < part.old.upperBound, b < part.new.upperBound, try same(a, b) {
            a += 1
            b += 1
        }
        part.old = a..<part.old.upperBound
        part.new = b..<part.new.upperBound
    }

    private func trimEnd(_ part: inout Part) throws(StorageError) {
        var (a, b) = (part.old.upperBound, part.new.upperBound)
        while a > part.old.lowerBound, b > part.new.lowerBound, try same(a - 1, b - 1) {
            a -= 1
            b -= 1
        }
        part.old = part.old.lowerBound..<a
        part.new = part.new.lowerBound..<b
    }

    // MARK: Single changes

    /// The number of deleted and inserted elements at a mismatch, if it is a single change.
    private func change(at a: Int, _ b: Int) throws(StorageError) -> (gone: Int, come: Int)? {
        for count in 1...Self.mostSkipped {
            if try agree(a + count, b) { return (count, 0) }
            if try agree(a, b + count) { return (0, count) }
            if try agree(a + count, b + count) { return (count, count) }
        }
        return nil
    }

    /// Whether the next elements on both sides agree, or all that are left.
    private func agree(_ a: Int, _ b: Int) throws(StorageError) -> Bool {
        let left = min(old.count - a, new.count - b)
        if left < Self.agreement && (left < 0 || old.count - a != new.count - b) { return false }
        for step in 0..<min(left, Self.agreement) where try !same(a + step, b + step) { return false }
        return true
    }

    // MARK: Unique elements

    /// Pairs of equal elements that are unique on each side: a longest chain that ascends on both. Nil if there are
    /// none, or the steps left do not suffice for a part that was divided before.
    private mutating func unique(_ part: Part) throws(StorageError) -> [(old: Int, new: Int)]? {
        if part.depth > 0 {
            guard budget >= part.size else { return nil }
            budget -= part.size
        }
        /// Index of an element on each side; negative if it is missing or repeated.
        struct Places {
            var old = -1
            var new = -1
        }
        let several = -2
        var known: [UInt64: Places] = [:]
        known.reserveCapacity(part.old.count)
        for place in part.old {
            let token = try old.token(place)
            if known[token] == nil {
                known[token] = Places(old: place)
            } else {
                known[token]?.old = several
            }
        }
        for place in part.new {
            let token = try new.token(place)
            guard let found = known[token], found.old >= 0 else { continue }
            known[token]?.new = found.new == -1 ? place : several
        }
        var pairs: [(old: Int, new: Int)] = []
        for place in part.old {
            guard let found = known[try old.token(place)], found.old == place, found.new >= 0 else { continue }
            if try same(place, found.new) { pairs.append((place, found.new)) }
        }
        if pairs.isEmpty { return nil }
        return AscendingChain.longest(pairs.map(\.new)).map { pairs[$0] }
    }

    /// The parts between pairs of unchanged elements.
    private static func between(_ pairs: [(old: Int, new: Int)], _ part: Part) -> [Part] {
        var parts: [Part] = []
        var (a, b) = (part.old.lowerBound, part.new.lowerBound)
        for (old, new) in pairs + [(part.old.upperBound, part.new.upperBound)] {
            if a < old || b < new { parts.append(Part(old: a..<old, new: b..<new, depth: part.depth + 1)) }
            (a, b) = (old + 1, new + 1)
        }
        return parts
    }

    // MARK: Shortest edit script

    /// Finds a shortest edit script: for d changes, how far each diagonal (deletions minus insertions) reaches.
    private mutating func matchShortest(_ part: Part) throws(StorageError) {
        if part.isOneSided || part.old.count == 1 && part.new.count == 1 { return replace(part) }
        let (a, b) = (part.old.lowerBound, part.new.lowerBound)
        let (n, m) = (part.old.count, part.new.count)
        let most = min(n + m, Self.mostChanges)
        var reach = [Int](repeating: 0, count: 2 * most + 3)
        let middle = most + 1
        var history: [[Int]] = []
        for changes in 0...most {
            for diagonal in stride(from: -changes, through: changes, by: 2) {
                let left = reach[middle + diagonal - 1]
                let right = reach[middle + diagonal + 1]
                var x = diagonal == -changes || diagonal != changes && left < right ? right : left + 1
                let begin = x
                while x < n, x - diagonal < m, try same(a + x, b + x - diagonal) { x += 1 }
                reach[middle + diagonal] = x
                budget -= 1 + x - begin
                if x >= n && x - diagonal >= m {
                    return walkBack(history, part)
                }
            }
            if budget < 0 { break }
            history.append(Array(reach[(middle - changes)...(middle + changes)]))
        }
        replace(part)
    }

    /// Follows the shortest script back; `history` holds how far each diagonal reached with fewer changes.
    private mutating func walkBack(_ history: [[Int]], _ part: Part) {
        var (x, y) = (part.old.count, part.new.count)
        let (a, b) = (part.old.lowerBound, part.new.lowerBound)
        for changes in stride(from: history.count, to: 0, by: -1) {
            let diagonal = x - y
            let before = history[changes - 1]
            func reach(_ diagonal: Int) -> Int {
                let index = diagonal + changes - 1
                return before.indices.contains(index) ? before[index] : -1
            }
            let comes = diagonal == -changes || diagonal != changes && reach(diagonal - 1) < reach(diagonal + 1)
            if comes {
                x = reach(diagonal + 1)
                y = x - diagonal - 1
                come.append((b + y)..<(b + y + 1))
            } else {
                x = reach(diagonal - 1)
                y = x - diagonal + 1
                gone.append((a + x)..<(a + x + 1))
            }
        }
    }
}
