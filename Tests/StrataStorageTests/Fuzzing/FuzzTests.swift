import Foundation
import Testing

@testable import StrataStorage

/// The fuzzer's inputs in Tests/Corpus: each target's smallest set with the full coverage, and every input that once
/// found a bug. `make fuzz` continues from them.
@Suite struct FuzzTests {
    private static let corpus = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus")

    /// One process runs all inputs: it prints the current one, and dies with the first failing one.
    @Test("every input of the corpus returns", arguments: FuzzTarget.allCases)
    func corpus(target: FuzzTarget) async throws {
        let inputs = try Self.inputs(target)
        #expect(!inputs.isEmpty, "Tests/Corpus has nothing for \(target)")
        let name = target.rawValue
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [name = name as String] in
            let target = try #require(FuzzTarget(rawValue: name))
            for (file, bytes) in try Self.inputs(target) {
                TestSettings.say(file)
                // A hang ends the process.
                alarm(60)
                bytes.withUnsafeBytes { target.run($0) }
            }
            for bytes in try target.seeds() { bytes.withUnsafeBytes { target.run($0) } }
        }
        if let result, result.exitStatus != .exitCode(0) {
            let text = String(decoding: result.standardErrorContent, as: UTF8.self)
            Issue.record("the last input named here, in Tests/Corpus/\(target):\n\(text.suffix(400))")
        }
    }

    private static func inputs(_ target: FuzzTarget) throws -> [(String, [UInt8])] {
        let folder = corpus.appending(path: target.rawValue)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name, Array(try Data(contentsOf: folder.appending(path: name))))
        }
    }
}
