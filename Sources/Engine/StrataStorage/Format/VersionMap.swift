/// A map from versions to values, ascending.
///
/// There are few versions, so that a binary search in an array takes few comparisons.
struct VersionMap<Value> {
    private(set) var versions: [UInt64] = []
    var values: [Value] = []

    var count: Int { versions.count }

    /// Index of the first version that is not lower.
    func index(of version: UInt64) -> Int {
        var low = 0
        var count = versions.count
        while count > 0 {
            let half = count >> 1
            if versions[low + half] < version {
                low += half + 1
                count -= half + 1
            } else {
                count = half
            }
        }
        return low
    }

    /// Whether a version is present, at the index where it would be.
    func holds(_ version: UInt64, at index: Int) -> Bool { index < versions.count && versions[index] == version }

    mutating func insert(_ value: Value, for version: UInt64, at index: Int) {
        versions.insert(version, at: index)
        values.insert(value, at: index)
    }

    @discardableResult
    mutating func remove(at index: Int) -> Value {
        versions.remove(at: index)
        return values.remove(at: index)
    }

    mutating func removeValue(forKey version: UInt64) -> Value? {
        let index = index(of: version)
        return holds(version, at: index) ? remove(at: index) : nil
    }

    mutating func removeAll() {
        versions = []
        values = []
    }

    subscript(version: UInt64) -> Value? {
        get {
            let index = index(of: version)
            return holds(version, at: index) ? values[index] : nil
        }
        set {
            let index = index(of: version)
            switch (newValue, holds(version, at: index)) {
            case (let value?, true): values[index] = value
            case (let value?, false): insert(value, for: version, at: index)
            case (nil, true): remove(at: index)
            case (nil, false): return
            }
        }
    }
}

extension VersionMap: Sequence {
    func makeIterator() -> Zip2Sequence<[UInt64], [Value]>.Iterator { zip(versions, values).makeIterator() }
}

extension VersionMap: Sendable where Value: Sendable {}
