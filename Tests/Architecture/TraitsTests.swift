import Testing

@Suite struct TraitsTests {
    @Test("a build of assay reports exactly its traits")
    func everyTraitIsDescribed() throws {
        let manifest = try Checkout.text("Package.swift")
        let traits = manifest.matches(of: /\.trait\(name: "(\w+)"/).map { String($0.output.1) }
        let source = try Checkout.text("Sources/Harness/AssayTool/Comparing/ProgramBuild.swift")
        let described = source.matches(of: /#if (\w+)\n +traits\.append\("(\w+)"\)/)
        #expect(traits.count > 3)
        #expect(Set(described.map { String($0.output.1) }) == Set(traits))
        for match in described { #expect(match.output.1 == match.output.2) }
    }
}
