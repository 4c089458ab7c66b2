import Testing

@testable import Strata

@Suite struct NamePlacesTests {
    private static func place(_ name: String, in places: NamePlaces) -> Int? {
        var name = name
        return name.withUTF8 { places.place(of: UnsafeRawBufferPointer($0)) }
    }

    @Test("each name has its place, and no other text has one", arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) {
        var dice = Dice(state: seed)
        for count in [0, 1, 2, 3, 17, 200] {
            // Names that differ in one place, at the ends and in the middle, and are prefixes of each other.
            var names: [String] = []
            while names.count < count {
                var letters = Array(repeating: Character("a"), count: dice.roll(24))
                for _ in 0..<2 where !letters.isEmpty {
                    letters[dice.roll(letters.count)] = dice.pick(["b", "é", "0"])
                }
                let name = String(letters)
                if !names.contains(name) { names.append(name) }
            }
            let places = NamePlaces(names)
            for (place, name) in names.enumerated() {
                #expect(Self.place(name, in: places) == place)
                for other in [name + "a", String(name.dropLast()), name + "\u{0}", "b" + name] {
                    #expect(Self.place(other, in: places) == names.firstIndex(of: other), "\(other)")
                }
            }
            #expect(places.isASCII == names.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
        }
    }
}
