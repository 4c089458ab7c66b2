import Files
import JSONText
import Seeds
import Statistics

/// `bisect.json` of a search for a slower revision: the options of the search, so that the user can resume it without
/// giving them again. The case is in `cases.json`, the results are in `bisect.jsonl`.
package struct BisectRecord: Sendable, Equatable {
    package static let format = "assay-bisect/1"
    package static let file = "bisect.json"

    package var good: Revision
    /// The revisions after `good`, oldest first; the last is the bad end.
    package var revisions: [Revision]
    package var pairs: Int
    package var threshold: Double
    package var seed: Seed
    package var repository: String
    package var builds: String
    /// The result, for people; empty while the search runs.
    package var conclusion = ""

    package init(
        good: Revision, revisions: [Revision], pairs: Int, threshold: Double, seed: Seed, repository: String,
        builds: String
    ) {
        precondition(!revisions.isEmpty)
        (self.good, self.revisions) = (good, revisions)
        (self.pairs, self.threshold, self.seed) = (pairs, threshold, seed)
        (self.repository, self.builds) = (repository, builds)
    }

    package var bad: Revision { revisions[revisions.count - 1] }

    package func write(to directory: String) throws {
        try FileTree.replaceText(directory + "/" + Self.file, json.text + "\n")
    }

    /// Throws: also if the file has another format version.
    package static func read(from directory: String) throws -> BisectRecord {
        let record = try BisectRecord(document: try FileTree.readBytes(directory + "/" + file), named: file)
        guard !record.revisions.isEmpty, record.pairs > 0, record.threshold > 0, record.threshold.isFinite else {
            throw JSONShapeError(path: file, expected: "revisions, pairs and a threshold")
        }
        return record
    }
}

extension BisectRecord: JSONRecord {
    package static let blank = BisectRecord(
        good: .blank, revisions: [.blank], pairs: 0, threshold: 0, seed: Seed(0), repository: "", builds: "")

    package static let fields: [JSONField<BisectRecord>] = [
        .constant("format", format), .member("good", \.good), .member("revisions", \.revisions),
        .member("pairs", \.pairs), .member("threshold", \.threshold),
        JSONField("seed", write: { .string($0.seed.description) }) { (json, record) throws(JSONShapeError) in
            record.seed = Seed(try UInt64(json: json ?? .null))
        },
        .member("repository", \.repository), .member("builds", \.builds), .member("conclusion", \.conclusion),
    ]
}

extension Revision: JSONRecord {
    package static let blank = Revision(name: "", commit: "", subject: "")
    package static let fields: [JSONField<Revision>] = [
        .member("name", \.name), .member("commit", \.commit), .member("subject", \.subject),
    ]
}

/// What was found out about one revision: a line of `bisect.jsonl`. The first line compares the bad end with the good
/// one.
package struct BisectStep: Sendable, Equatable {
    package static let file = "bisect.jsonl"

    /// One session of paired measurements.
    package struct Measured: Sendable, Equatable {
        package enum End: String, JSONForm {
            case good, bad
        }

        package var beside: End
        package var finding: SideComparison.Finding
        /// The first batch of the later revision against the earlier one; nil if there were too few pairs.
        package var comparison: SideComparison?
        /// The name of the file of its raw measurements.
        package var raw: String

        package init(beside: End, finding: SideComparison.Finding, comparison: SideComparison?, raw: String) {
            (self.beside, self.finding, self.comparison, self.raw) = (beside, finding, comparison, raw)
        }
    }

    package var commit: String
    package var mark: RevisionMark
    /// The reason, in a sentence; empty if the measurements are the reason.
    package var reason: String
    package var measured: [Measured]

    package init(commit: String, mark: RevisionMark, reason: String = "", measured: [Measured] = []) {
        (self.commit, self.mark, self.reason, self.measured) = (commit, mark, reason, measured)
    }

    /// Appends the step by one write: a search that is killed leaves complete lines, and at most one incomplete last
    /// line.
    package func append(to directory: String) throws {
        try FileTree.append(directory + "/" + Self.file, json.bytes + [UInt8(ascii: "\n")])
    }

    /// Reads all steps. An incomplete last line counts as not written, and is cut off.
    package static func read(from directory: String) throws -> [BisectStep] {
        let path = directory + "/" + file
        guard FileTree.exists(path) else { return [] }
        let bytes = try FileTree.readBytes(path)
        let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if whole < bytes.count { try FileTree.truncate(path, to: whole) }
        var steps: [BisectStep] = []
        for line in bytes[..<whole].split(separator: UInt8(ascii: "\n")) {
            steps.append(try BisectStep(document: Array(line), named: "\(file) line \(steps.count + 1)"))
        }
        return steps
    }
}

extension BisectStep: JSONRecord {
    package static let blank = BisectStep(commit: "", mark: .skipped)
    package static let fields: [JSONField<BisectStep>] = [
        .member("commit", \.commit), .member("mark", \.mark), .member("reason", \.reason),
        .member("measured", \.measured),
    ]
}

extension RevisionMark: JSONForm {}
extension SideComparison.Finding: JSONForm {}

extension BisectStep.Measured: JSONForm {
    package var json: JSONValue {
        var members = [("beside", beside.json), ("finding", finding.json), ("raw", raw.json)]
        if let comparison {
            members += [
                ("ratio", comparison.ratio.json), ("low", comparison.low.json), ("high", comparison.high.json),
                ("pairs", comparison.pairCount.json), ("threshold", comparison.threshold.json),
            ]
        }
        return .members(members)
    }

    package init(json value: JSONValue) throws(JSONShapeError) {
        let json = try JSONObjectReader(value, path: "")
        (beside, finding, raw) = (try json.member("beside"), try json.member("finding"), try json.member("raw"))
        guard json.has("ratio") else { return }
        comparison = SideComparison(
            ratio: try json.real("ratio"), low: try json.real("low"), high: try json.real("high"),
            pairCount: try json.integer("pairs"), threshold: try json.real("threshold"))
    }
}
