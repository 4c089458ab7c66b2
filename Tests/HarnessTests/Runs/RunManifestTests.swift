import Files
import JSONText
import RunRecords
import Testing

@testable import Harness

@Suite("RunManifest")
struct RunManifestTests {
    @Test("the manifest decodes the file of a stored run, and encodes it byte for byte")
    func stored() throws {
        let fixtures = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Fixtures"
        let manifest = try RunManifest.read(from: RunDirectory(path: fixtures + "/run-2"))
        #expect(manifest.cases.map(\.test.scenario) == ["commit", "delete-refill", "bit-flip", "bit-flip"])
        #expect(manifest.cases.map(\.verdict) == [nil, nil, nil, .notApplicable])
        #expect(manifest.json.text + "\n" == (try FileTree.readText(fixtures + "/run-2/cases.json")))
    }
}
