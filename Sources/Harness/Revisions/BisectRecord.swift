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
        let value = JSONValue.object([
            JSONMember("format", .string(Self.format)), JSONMember("good", good.json),
            JSONMember("revisions", .array(revisions.map(\.json))), JSONMember("pairs", .integer(pairs)),
            JSONMember("threshold", .real(threshold)), JSONMember("seed", .string(seed.description)),
            JSONMember("repository", .string(repository)), JSONMember("builds", .string(builds)),
            JSONMember("conclusion", .string(conclusion)),
        ])
        try FileTree.replaceText(directory + "/" + Self.file, value.text + "\n")
    }

    /// Throws: also if the file has another format version.
    package static func read(from directory: String) throws -> BisectRecord {
        let json = try JSONObjectReader(
            try JSONReader.read(try FileTree.readBytes(directory + "/" + file)), path: file)
        guard try json.string("format") == format, let seed = UInt64(try json.string("seed")) else {
            throw JSONShapeError(path: file, expected: format)
        }
        var revisions: [Revision] = []
        for revision in try json.objects("revisions") { revisions.append(try Revision(json: revision)) }
        let pairs = try json.integer("pairs")
        let threshold = try json.real("threshold")
        guard !revisions.isEmpty, pairs > 0, threshold > 0, threshold.isFinite else {
            throw JSONShapeError(path: file, expected: "revisions, pairs and a threshold")
        }
        var record = BisectRecord(
            good: try Revision(json: try json.object("good")), revisions: revisions, pairs: pairs,
            threshold: threshold, seed: Seed(seed), repository: try json.string("repository"),
            builds: try json.string("builds"))
        record.conclusion = try json.string("conclusion")
        return record
    }
}

extension Revision {
    package var json: JSONValue {
        .object([
            JSONMember("name", .string(name)), JSONMember("commit", .string(commit)),
            JSONMember("subject", .string(subject)),
        ])
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(
            name: try json.string("name"), commit: try json.string("commit"), subject: try json.string("subject"))
    }
}

/// What was found out about one revision: a line of `bisect.jsonl`. The first line compares the bad end with the good
/// one.
package struct BisectStep: Sendable, Equatable {
    package static let file = "bisect.jsonl"

    /// One session of paired measurements.
    package struct Measured: Sendable, Equatable {
        package enum End: String, Sendable {
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

    package var json: JSONValue {
        .object([
            JSONMember("commit", .string(commit)), JSONMember("mark", .string(mark.rawValue)),
            JSONMember("reason", .string(reason)), JSONMember("measured", .array(measured.map(\.json))),
        ])
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        commit = try json.string("commit")
        mark = try json.choice("mark", of: RevisionMark.self)
        reason = try json.string("reason")
        measured = []
        for element in try json.objects("measured") { measured.append(try Measured(json: element)) }
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
            let json = try JSONObjectReader(try JSONReader.read(Array(line)), path: "\(file) line \(steps.count + 1)")
            steps.append(try BisectStep(json: json))
        }
        return steps
    }
}

extension BisectStep.Measured {
    fileprivate var json: JSONValue {
        var members = [
            JSONMember("beside", .string(beside.rawValue)), JSONMember("finding", .string(finding.rawValue)),
            JSONMember("raw", .string(raw)),
        ]
        if let comparison {
            members += [
                JSONMember("ratio", .real(comparison.ratio)), JSONMember("low", .real(comparison.low)),
                JSONMember("high", .real(comparison.high)), JSONMember("pairs", .integer(comparison.pairCount)),
                JSONMember("threshold", .real(comparison.threshold)),
            ]
        }
        return .object(members)
    }

    fileprivate init(json: JSONObjectReader) throws(JSONShapeError) {
        beside = try json.choice("beside", of: End.self)
        finding = try json.choice("finding", of: SideComparison.Finding.self)
        raw = try json.string("raw")
        guard json.has("ratio") else { return }
        comparison = SideComparison(
            ratio: try json.real("ratio"), low: try json.real("low"), high: try json.real("high"),
            pairCount: try json.integer("pairs"), threshold: try json.real("threshold"))
    }
}
