import Files
import JSONText
import Seeds

/// A baseline cannot be made, read or written; the message has the remedy.
package struct BaselineError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// The counts of runs that a user accepted as good. A gate compares later runs with them.
///
/// The file is JSON with a figure per line, so that a change to it can be reviewed. Its last member is a digest of all
/// other members: a file that was truncated, edited or merged line by line is refused.
package struct Baseline: Sendable, Equatable {
    /// Version of this format.
    package static let format = "assay-baseline/1"

    package var name: String
    package var plan: String
    /// The runs that it was made from.
    package var runs: [String]
    package var fingerprint: Fingerprint
    package var cases: [CountedCase]

    package init(name: String, plan: String, runs: [String], fingerprint: Fingerprint, cases: [CountedCase]) {
        (self.name, self.plan, self.runs) = (name, plan, runs)
        (self.fingerprint, self.cases) = (fingerprint, cases)
    }

    package func figures(of id: String) -> CountedCase? { cases.first { $0.test.id == id } }

    /// - Parameter runs: finished runs of one plan and one build. The machine of the first one becomes the fingerprint.
    /// - Returns: the baseline, and a sentence for each case that was left out, with the reason.
    package static func make(name: String, of runs: [Run]) throws(BaselineError) -> (Baseline, leftOut: [String]) {
        guard let first = runs.first else { throw BaselineError("a baseline needs a run") }
        for run in runs {
            try require(run, like: first)
        }
        var cases: [CountedCase] = []
        var leftOut: [String] = []
        for id in first.header.cases {
            let measurements = runs.flatMap { $0.measurements(of: id) }
            guard let test = measurements.first?.test else { continue }
            if let counted = CountedCase(measurements) {
                if !counted.figures.isEmpty { cases.append(counted) }
            } else {
                let reason = measurements.lazy.compactMap(CountedCase.objection).first ?? ""
                leftOut.append("\(test.title): \(reason)")
            }
        }
        guard !cases.isEmpty else {
            let reasons = leftOut.isEmpty ? "" : ":\n  " + leftOut.prefix(5).joined(separator: "\n  ")
            throw BaselineError("nothing in \(first.directory) was counted that could be kept\(reasons)")
        }
        let baseline = Baseline(
            name: name, plan: first.header.plan, runs: runs.map(\.header.id), fingerprint: Fingerprint(first.header),
            cases: cases)
        return (baseline, leftOut)
    }

    private static func require(_ run: Run, like first: Run) throws(BaselineError) {
        try run.requireFinished()
        guard run.header.plan == first.header.plan, run.header.cases == first.header.cases else {
            throw BaselineError(
                "\(run.directory) has other cases than \(first.directory): a baseline is made of runs of one plan with "
                    + "the same options")
        }
        guard run.header.buildDigest == first.header.buildDigest else {
            throw BaselineError(
                "\(run.directory) was made by build \(run.header.buildDigest), \(first.directory) by "
                    + "\(first.header.buildDigest): a baseline is made of runs of one build")
        }
    }

    // MARK: File

    private var members: [JSONMember] {
        [
            JSONMember("format", .string(Self.format)), JSONMember("name", .string(name)),
            JSONMember("plan", .string(plan)), JSONMember("runs", .strings(runs)),
            JSONMember("fingerprint", fingerprint.json), JSONMember("cases", .array(cases.map(\.json))),
        ]
    }

    private static func digest(_ members: [JSONMember]) -> String {
        StableHash.identifier(of: JSONValue.object(members).text)
    }

    /// The contents of the file.
    package var text: String {
        var lines: [String] = []
        for member in self.members where member.name != "cases" {
            lines.append("\(JSONValue.string(member.name).text): \(member.value.text),")
        }
        lines.append("\"cases\": [")
        for (index, counted) in cases.enumerated() {
            lines.append("{\"test\": \(counted.test.json.text), \"figures\": [")
            lines.append(counted.figureMembers.map(\.text).joined(separator: ",\n"))
            lines.append(index + 1 < cases.count ? "]}," : "]}")
        }
        lines += ["],", "\"digest\": \"\(Self.digest(members))\""]
        return "{\n" + lines.joined(separator: "\n") + "\n}\n"
    }

    /// - Parameter path: the path of the file, for messages.
    package init(_ bytes: [UInt8], path: String) throws(BaselineError) {
        let remedy = "take the file from the version control again, or save the baseline anew with --replace"
        let reader: JSONObjectReader
        do {
            reader = try JSONObjectReader(try JSONReader.read(bytes), path: path)
        } catch {
            throw BaselineError("\(path) is damaged or cut (\(error)): \(remedy)")
        }
        guard case .string(let format)? = reader.value["format"], format.hasPrefix("assay-baseline/") else {
            throw BaselineError("\(path) is no baseline: it has no format assay-baseline. Name another file")
        }
        guard format == Self.format else {
            throw BaselineError(
                "\(path) has the format \(format), this build reads \(Self.format): use the build that wrote it, or "
                    + "save the baseline anew with --replace")
        }
        guard case .object(let all) = reader.value, case .string(let digest)? = reader.value["digest"],
            digest == Self.digest(all.filter { $0.name != "digest" })
        else {
            throw BaselineError("\(path) is not as it was written (its digest does not match): \(remedy)")
        }
        do {
            try self.init(json: reader)
        } catch {
            throw BaselineError("\(path) is damaged (\(error)): \(remedy)")
        }
    }

    private init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(
            name: try json.string("name"), plan: try json.string("plan"), runs: try json.strings("runs"),
            fingerprint: try json.member("fingerprint"), cases: try json.member("cases"))
    }
}

extension CountedCase: JSONForm {
    fileprivate var figureMembers: [JSONValue] {
        figures.sorted { $0.key < $1.key }.map { name, range in
            var members = [
                JSONMember("metric", .string(name.metric)), JSONMember("statistic", .string(name.statistic)),
            ]
            if !name.label.isEmpty { members.append(JSONMember("label", .string(name.label))) }
            members += [
                JSONMember("low", .real(range.low)), JSONMember("high", .real(range.high)),
                JSONMember("median", .real(range.median)), JSONMember("n", .integer(range.count)),
            ]
            return .object(members)
        }
    }

    package var json: JSONValue {
        .object([JSONMember("test", test.json), JSONMember("figures", .array(figureMembers))])
    }

    /// Figures that this build does not count any more are left out.
    package init(json value: JSONValue) throws(JSONShapeError) {
        let json = try JSONObjectReader(value, path: "")
        var figures: [CountedName: ObservedRange] = [:]
        for reader in try json.objects("figures") {
            let name = CountedName(
                metric: try reader.string("metric"), statistic: try reader.string("statistic"),
                label: reader.has("label") ? try reader.string("label") : "")
            let range = ObservedRange(
                low: try reader.real("low"), high: try reader.real("high"), median: try reader.real("median"),
                count: try reader.integer("n"))
            if let name { figures[name] = range }
        }
        self.init(test: try json.member("test"), figures: figures)
    }
}

extension Run {
    /// Throws: if the run is incomplete, since its missing part could change any conclusion.
    package func requireFinished() throws(BaselineError) {
        if let line = unreadable.first {
            throw BaselineError("a part of the run in \(directory) cannot be read (\(line)): run the plan again")
        }
        guard isFinished else {
            let done = header.cases.reduce(0) { $0 + measurements(of: $1).count }
            let total = header.cases.reduce(0) { $0 + header.measurementCount(of: $1) }
            throw BaselineError(
                "the run in \(directory) is not finished, \(done) of \(total) measurements are done: "
                    + "finish it with  assay run --resume \(ShellWord.quoted(directory))")
        }
    }
}
