import Foundation
import Strata

/// Rows as the data set `people` of the harness defines them: each value is derived from the id alone.
struct People {
    let ids: Range<Int>
    let names: [String]
    let ages: [Int]
    let scores: [Double]

    init(_ ids: Range<Int>) {
        self.ids = ids
        names = ids.map { id in
            let digits = String(id)
            return "person-" + String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
        }
        ages = ids.map(Self.age)
        scores = ids.map { Double(Self.mix(UInt64($0) ^ 0x5555) % 100_000) / 1_000 }
    }

    static func age(_ id: Int) -> Int { Int(mix(UInt64(id)) % 100) }

    /// The finalizer of splitmix64.
    static func mix(_ value: UInt64) -> UInt64 {
        var x = value &+ 0x9E37_79B9_7F4A_7C15
        x = (x ^ x >> 30) &* 0xBF58_476D_1CE4_E5B9
        x = (x ^ x >> 27) &* 0x94D0_49BB_1331_11EB
        return x ^ x >> 31
    }

    func person(_ row: Int) -> Person {
        let person = Person()
        person.id = ids.lowerBound + row
        person.name = names[row]
        person.age = ages[row]
        person.score = scores[row]
        return person
    }
}

/// Random choices from a seed.
struct Choices {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x2545_F491_4F6C_DD1D }

    mutating func below(_ bound: Int) -> Int {
        let value = People.mix(state)
        state &+= 0x9E37_79B9_7F4A_7C15
        return Int(value.multipliedFullWidth(by: UInt64(bound)).high)
    }
}
