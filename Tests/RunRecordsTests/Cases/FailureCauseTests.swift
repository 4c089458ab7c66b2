import JSONText
import Testing

@testable import RunRecords

@Suite struct FailureCauseTests {
    @Test(
        "numbers, quoted data, directories and compared values are not part of a cause",
        arguments: [
            (
                "DamagePerson row 90 age: expected integer(34), got integer(2)",
                "DamagePerson row # age: expected .., got .."
            ),
            (
                "file data, page 7, offset 12: DamagePerson: row 54 and those after it are missing",
                "file data, page #, offset #: DamagePerson: row # and those after it are missing"
            ),
            ("damaged: node 0x1fe2 at page 12", "damaged: node # at page #"),
            ("no file \"a \\\"b\\\" c\" here", "no file \"..\" here"),
            ("cannot open /dev/shm/assay-scratch-9f3c/files/trial-0/data.log", "cannot open data.log"),
            ("-5.25 is below 1.5", "# is below #"), ("pages 1, 2, 3 and 77", "pages # and #"),
            ("digest 0f3ab2c9d4 differs", "digest # differs"), ("no answer for 5.0 s", "no answer for # s"),
            ("first line 1\nsecond", "first line #"),
            ("database disk image is malformed", "database disk image is malformed"),
            ("a/b and \u{e9}t\u{e9} 3", "a/b and \u{e9}t\u{e9} #"), ("an open \"quote", "an open \"..\""),
        ])
    func text(detail: String, expected: String) {
        #expect(FailureCause.text(of: detail) == expected)
    }

    @Test("other words are another cause, and so is another outcome")
    func different() {
        var causes: [FailureCause] = []
        for row in 0..<4_000 {
            causes.add(
                Trial(
                    address: FaultAddress(.flip, row), outcome: row % 2 == 0 ? .silentlyWrong : .crashed,
                    detail: "Person row \(row) \(row % 3 == 0 ? "name" : "age"): expected \(row), got \(row * 7)"))
        }
        #expect(causes.count == 4)
        #expect(causes.reduce(0) { $0 + $1.count } == 4_000)
        let first = causes.gravestFirst.first
        #expect(first?.outcome == .silentlyWrong && first?.text == "Person row # age: expected .., got ..")
        #expect(first?.example == FaultAddress(.flip, 2) && first?.detail == "Person row 2 age: expected 2, got 14")
    }

    @Test("a check is a cause by its name, a fault at any place")
    func names() {
        func text(_ address: String) -> String {
            FailureCause.text(of: Trial(address: FaultAddress(text: address), outcome: .silentlyWrong, detail: "gone"))
        }
        #expect(text("rows") == "rows: gone")
        #expect(text("thread 7") == "thread #: gone")
        #expect(text("bit:17") == "gone")
        #expect(text("case") == "gone")
    }

    @Test("causes beyond a line's limit are counted together")
    func bounded() {
        var causes: [FailureCause] = []
        for index in 0..<500 {
            let word = String(UnicodeScalar(UInt8(97 + index % 26))) + String(UnicodeScalar(UInt8(97 + index / 26)))
            causes.add(Trial(address: FaultAddress(.flip, index), outcome: .crashed, detail: word))
        }
        #expect(causes.count == FailureCause.most + 1)
        #expect(causes.reduce(0) { $0 + $1.count } == 500)
        #expect(causes.last?.text == "others")
    }
}

@Suite struct FaultAddressTests {
    @Test("an address names a typed fault with its place, or a check")
    func kinds() {
        for kind in FaultKind.allCases where kind != .check {
            let address = FaultAddress(kind, 12)
            #expect(address.fault == kind && address.position == 12)
            #expect(address.faultWord == kind.rawValue)
        }
        #expect(FaultAddress(.flip, 3).text == "bit:3")
        #expect(FaultAddress(.swap, 0, 8_192).places == [0, 8_192] && FaultAddress(.age, 4).places == [4])
        for text in ["swap:1", "swap:1,2,3", "misdirect:a,2", "bit:1,2", "cut:", "kill:3", "rows"] {
            #expect(FaultAddress(text: text).places == nil, "\(text)")
        }
        #expect(FaultAddress(text: "crash:op=17,state=0x3fa2").fault == .crash)
        for text in ["rows", "thread 0", "after: the close", "", ":3"] {
            let address = FaultAddress(text: text)
            #expect(address.fault == .check && address.position == nil && address.faultWord.isEmpty, "\(text)")
        }
    }
}

@Suite struct SweepMapTests {
    private static let files = [
        SweepMap.File(name: "data", byteCount: 8_192, owners: [SweepMap.PageRange(name: "Dog", pages: 1..<2)]),
        SweepMap.File(name: "data.log", byteCount: 100),
    ]

    @Test("a trial's place is its file and the byte in it", arguments: [FaultKind.flip, .cut, .zero])
    func places(kind: FaultKind) {
        let scale = kind == .flip ? 8 : 1
        let positions = [0, 4_096 * scale, 8_191 * scale + (scale - 1), 8_192 * scale, 8_291 * scale, 8_292 * scale]
        let map = SweepMap(fault: kind, positions: positions, files: Self.files)
        let places = positions.indices.map { map.place(ofTrial: $0).map { "\($0.file) \($0.offset)" } }
        #expect(places == ["0 0", "0 4096", "0 8191", "1 0", "1 99", nil])
        #expect(map.address(ofTrial: 1) == FaultAddress(kind, positions[1]))
        #expect(map.files[0].owner(ofPage: 1) == "Dog" && map.files[0].owner(ofPage: 0) == nil)
    }

    @Test("a fault of two pages is located where it changed bytes, and keeps both places in its file")
    func pairs() throws {
        let misdirected = SweepMap(fault: .misdirect, positions: [4_096, 0], others: [0, 4_096], files: Self.files)
        #expect(misdirected.address(ofTrial: 0).text == "misdirect:4096,0")
        #expect(misdirected.place(ofTrial: 0)?.offset == 0 && misdirected.place(ofTrial: 1)?.offset == 4_096)
        let swapped = SweepMap(fault: .swap, positions: [0, 4_096], others: [4_096, 0], files: Self.files)
        #expect(swapped.place(ofTrial: 0)?.offset == 0 && swapped.place(ofTrial: 1)?.offset == 0)
        let value = try JSONReader.read(swapped.json.text)
        #expect(try SweepMap(json: try JSONObjectReader(value, path: "map"), limit: 2) == swapped)
        for text in [
            "{\"fault\":\"swap\",\"positions\":[[0,1,2]],\"files\":[]}",
            "{\"fault\":\"swap\",\"positions\":[[0,1,2]],\"others\":[[0,1,1]],\"files\":[]}",
            "{\"fault\":\"bit\",\"positions\":[[0,1,2]],\"others\":[[0,1,2]],\"files\":[]}",
        ] {
            let reader = try JSONObjectReader(try JSONReader.read(text), path: "map")
            #expect(throws: JSONShapeError.self) { try SweepMap(json: reader, limit: 2) }
        }
    }

    @Test(
        "a wrong map in a file is an error, and neither a trap nor a memory blow-up",
        arguments: [
            "[[9223372036854775807,1,2]]", "[[0,1,9223372036854775807]]", "[[5,-3,3]]", "[[-1,0,1]]", "[[0,1,4]]",
        ])
    func damaged(positions: String) throws {
        let text = "{\"fault\":\"bit\",\"positions\":\(positions),\"files\":[]}"
        let reader = try JSONObjectReader(try JSONReader.read(text), path: "map")
        #expect(throws: JSONShapeError.self) { try SweepMap(json: reader, limit: 3) }
        let owner =
            "{\"fault\":\"bit\",\"positions\":[],\"files\":[{\"name\":\"a\",\"bytes\":1,"
            + "\"owners\":[[\"x\",9223372036854775807,5]]}]}"
        let second = try JSONObjectReader(try JSONReader.read(owner), path: "map")
        #expect(throws: JSONShapeError.self) { try SweepMap(json: second, limit: 3) }
    }

    @Test(
        "a sweep's map round-trips, with runs of positions abbreviated",
        arguments: [
            [], [5], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 10, 17, 24, 25, 26, 90, 12], [7, 7, 7],
        ])
    func roundTrip(positions: [Int]) throws {
        let map = SweepMap(fault: .flip, positions: positions, files: Self.files)
        let value = try JSONReader.read(map.json.text)
        #expect(try SweepMap(json: try JSONObjectReader(value, path: "map"), limit: positions.count) == map)
        let all = SweepMap(fault: .flip, positions: Array(0..<100_000), files: Self.files)
        #expect(all.json.text.utf8.count < 300)
    }
}
