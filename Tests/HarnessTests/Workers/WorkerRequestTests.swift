import JSONText
import RunRecords
import Testing

@testable import Harness

@Suite struct WorkerRequestTests {
    private static func request(_ files: EngineFiles) -> WorkerRequest {
        var request = WorkerRequest.blank
        request.files = files
        return request
    }

    @Test("files travel with their digests")
    func roundTrip() throws {
        let own = EngineFile(path: "/own.so", digest: "0a1b2c3d4e5f")
        let library = EngineFile(path: "/library.so", digest: "5f4e3d2c1b0a")
        for files in [EngineFiles(), EngineFiles(own: own), EngineFiles(library: library)] {
            let request = Self.request(files)
            #expect(try WorkerRequest(document: request.json.bytes, named: "request") == request)
        }
    }

    @Test("a file without its digest is refused", arguments: ["engine", "library"])
    func missingDigest(word: String) throws {
        let file = EngineFile(path: "/file.so", digest: "0a1b2c3d4e5f")
        let request = Self.request(EngineFiles(own: file, library: file))
        var members = try [String: JSONValue](json: request.json)
        members["\(word)_digest"] = nil
        let error = try #require(throws: JSONShapeError.self) {
            try WorkerRequest(document: members.json.bytes, named: "request")
        }
        #expect(error.description == "request.\(word)_digest: expected a string")
    }
}
