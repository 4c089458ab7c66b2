import Seeds

/// Chooses `count` elements of a list, equally many of each group, in the order of the list; all where `count` is 0.
struct FairChoice {
    var count: Int
    var seed: Seed

    func choose<Element>(from all: [Element], group: (Element) -> String) -> [Element] {
        guard count > 0, count < all.count else { return all }
        var groups: [[Int]] = []
        for (name, places) in Dictionary(grouping: all.indices, by: { group(all[$0]) }).sorted(by: { $0.key < $1.key })
        {
            var random = RandomStream(seed.derived(name))
            groups.append(random.permutation(of: places.count).map { places[$0] })
        }
        var chosen: [Int] = []
        for turn in 0..<all.count where chosen.count < count {
            chosen += groups.compactMap { $0.indices.contains(turn) ? $0[turn] : nil }.prefix(count - chosen.count)
        }
        return chosen.sorted().map { all[$0] }
    }
}
