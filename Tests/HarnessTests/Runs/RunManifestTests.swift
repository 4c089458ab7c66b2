import Files
import JSONText
import RunRecords
import Testing

@testable import Harness

@Suite struct RunManifestTests {
    @Test("the manifest decodes the file of a stored run, and encodes it byte for byte")
    func stored() throws {
        let fixtures = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Fixtures"
        let manifest = try RunManifest.read(from: RunDirectory(path: fixtures + "/run-2"))
        #expect(manifest.cases.map(\.test.scenario) == ["commit", "delete-refill", "bit-flip", "bit-flip"])
        #expect(manifest.cases.map(\.verdict) == [nil, nil, nil, .notApplicable])
        #expect(manifest.json.text + "\n" == (try FileTree.readText(fixtures + "/run-2/cases.json")))
    }

    @Test(
        "numbers that would end the process are refused with their path",
        arguments: [
            ("hang_seconds", #""nan""#), ("hang_seconds", #""inf""#), ("hang_seconds", "-1"),
            ("hang_seconds", "1e300"),
            ("memory_megabytes", "-1"), ("memory_megabytes", "9223372036854775807"), ("rounds", "0"),
            ("rounds", "-1"),
            ("budget_seconds", #""nan""#), ("budget_seconds", "1e300"),
        ])
    func bounds(name: String, number: String) throws {
        var manifest = RunManifest(cases: [], hangSeconds: 2, memoryMegabytes: 256, budgetSeconds: 3)
        manifest.rounds = 1
        var members = try [String: JSONValue](json: manifest.json)
        members[name] = try JSONReader.read(number)
        let document = members.json.bytes
        let error = try #require(throws: JSONShapeError.self) {
            try RunManifest(document: document, named: "cases.json")
        }
        #expect(error.description.hasPrefix("cases.json.\(name): expected a number from "))
    }
}
