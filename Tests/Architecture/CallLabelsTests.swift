import Testing

@Suite struct CallLabelsTests {
    private static func found(_ text: String) -> [Int] {
        CallLabels.functions(in: "Sources/Engine/A/A.swift", SwiftSource(text + "\n")).map(\.unlabelled)
    }

    @Test("no function has more unlabelled parameters than its room may")
    func sources() {
        let functions = Checkout.swiftFiles.filter { CallLabels.isChecked($0.file.path) }.flatMap {
            CallLabels.functions(in: $0.file.path, $0.source)
        }
        #expect(Checkout.swiftFiles.count > 50, "the checkout was not found")
        for violation in CallLabels.violations(of: functions) { Issue.record("\(violation)") }
    }

    @Test(
        "a function with four unlabelled parameters is found",
        arguments: [
            "func a(_ b: B, _ c: C, _ d: D, _ e: E) {}",
            "    private static func a<B: C>(\n        _ b: B, _ c: [D: E],\n"
                + "        _ d: (F, G) -> H, i: I, _ j: inout J\n    ) {}",
            "    init?(_ b: B, _ c: C, _ d: D = D(1, 2), _ e: E) {}",
            "@discardableResult\npackage func a(_ b: B, _ c: C<D, E>, _ d: D, _ e: E, f: F) -> G {}",
        ])
    func four(text: String) {
        #expect(Self.found(text) == [4])
    }

    @Test(
        "labels, calls, closures and comments do not count",
        arguments: [
            "func a(_ b: B, _ c: C, d: D, e: E) {}", "a(_b, _c, _d, _e)", "let a = { (_ b: B, _ c: C) in }",
            "// func a(_ b: B, _ c: C, _ d: D, _ e: E)", "func a() { b { _ in _ = (_c, _d, _e, _f) } }",
            "func a(b: (_ c: C, _ d: D, _ e: E, _ f: F) -> Void) {}",
        ])
    func fewer(text: String) {
        #expect(Self.found(text) == [])
    }

    @Test("a function with three unlabelled parameters is found")
    func three() {
        #expect(Self.found("func a(_ b: B, _ c: C, _ d: D, e: E) {}") == [3])
    }

    @Test("four unlabelled parameters are a violation in every room, three only beyond the number of the room")
    func rooms() {
        let four = CallLabels.functions(
            in: "Sources/Engine/A/A.swift", SwiftSource("func a(_ b: B, _ c: C, _ d: D, _ e: E) {}\n"))
        #expect(CallLabels.violations(of: four).map(\.line) == [1])
        #expect(!CallLabels.standing.isEmpty)
        for (room, allowed) in CallLabels.standing {
            let path = room + "/A.swift"
            let some = (0..<allowed).map { CallLabels.Function(path: path, line: $0, name: "a", unlabelled: 3) }
            #expect(CallLabels.violations(of: some) == [])
            let more = some + [CallLabels.Function(path: path, line: allowed, name: "a", unlabelled: 3)]
            #expect(CallLabels.violations(of: more).map(\.path) == [room])
        }
        let another = CallLabels.Function(path: "Sources/Engine/Z/Z.swift", line: 1, name: "a", unlabelled: 3)
        #expect(CallLabels.violations(of: [another]).map(\.path) == ["Sources/Engine/Z"])
    }
}
