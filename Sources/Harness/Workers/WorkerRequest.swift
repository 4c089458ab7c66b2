import JSONText
import RunRecords

/// A task for a worker process: one JSON document on the worker's standard input.
package struct WorkerRequest: Sendable, Equatable {
    /// Raised when an older worker would misread a request. `assay worker --describe` prints it.
    package static let protocolVersion = 2

    package enum Task: String, Sendable {
        case runCase = "case"
        /// Build the case's fixture into `fixture`, and verify it.
        case buildFixture = "fixture"
        /// Run one step of the case's scenario, in a fresh process.
        case runStep = "step"
    }

    package var task: Task
    package var test: Case
    package var directory: String
    package var fixture: String?
    /// On the monotonic clock, which all processes of a machine share.
    package var deadline: UInt64
    package var onlyTrial: FaultAddress?
    /// Where a replayed trial leaves its damaged database.
    package var keepDirectory: String?
    /// The arguments that the scenario gave to its step.
    package var arguments: [String] = []
    /// The files from which the engine and its library are loaded.
    package var files = EngineFiles()

    package init(
        task: Task, test: Case, directory: String, fixture: String?, deadline: UInt64, onlyTrial: FaultAddress? = nil
    ) {
        self.task = task
        self.test = test
        self.directory = directory
        self.fixture = fixture
        self.deadline = deadline
        self.onlyTrial = onlyTrial
    }

    package var json: JSONValue {
        var members = [
            JSONMember("protocol", .integer(Self.protocolVersion)), JSONMember("task", .string(task.rawValue)),
            JSONMember("test", test.json), JSONMember("directory", .string(directory)),
            JSONMember("deadline", .unsigned(deadline)),
        ]
        if let fixture { members.append(JSONMember("fixture", .string(fixture))) }
        if let onlyTrial { members.append(JSONMember("trial", .string(onlyTrial.text))) }
        if let keepDirectory { members.append(JSONMember("keep", .string(keepDirectory))) }
        if !arguments.isEmpty { members.append(JSONMember("arguments", .strings(arguments))) }
        for (word, file) in [("engine", files.own), ("library", files.library)] {
            guard let file else { continue }
            members += [
                JSONMember("\(word)_file", .string(file.path)), JSONMember("\(word)_digest", .string(file.digest)),
            ]
        }
        return .object(members)
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        guard try json.integer("protocol") == Self.protocolVersion else {
            throw JSONShapeError(path: json.path + ".protocol", expected: String(Self.protocolVersion))
        }
        self.init(
            task: try json.choice("task", of: Task.self), test: try Case(json: try json.object("test")),
            directory: try json.string("directory"),
            fixture: json.has("fixture") ? try json.string("fixture") : nil,
            deadline: try json.unsigned("deadline"),
            onlyTrial: json.has("trial") ? FaultAddress(text: try json.string("trial")) : nil)
        keepDirectory = json.has("keep") ? try json.string("keep") : nil
        if json.has("arguments") { arguments = try WorkerReport.strings(json, "arguments") }
        files = EngineFiles(own: try Self.file("engine", json), library: try Self.file("library", json))
    }

    private static func file(_ word: String, _ json: JSONObjectReader) throws(JSONShapeError) -> EngineFile? {
        guard json.has("\(word)_file") else { return nil }
        return EngineFile(path: try json.string("\(word)_file"), digest: try json.string("\(word)_digest"))
    }
}

extension WorkerReport {
    package var json: JSONValue {
        var members = [
            JSONMember("outcomes", findings.outcomeCounts), JSONMember("samples", .array(findings.samples.map(\.json))),
            JSONMember("trials", .array(findings.trials.map(\.json))),
            JSONMember("causes", .array(findings.causes.map(\.json))), JSONMember("details", details.json),
            JSONMember("codes", .string(Self.hexadecimal(details.trialCodes))),
            JSONMember("messages", .strings(messages)), JSONMember("broken", .strings(brokenTrials)),
            JSONMember("cut", .bool(findings.isCut)), JSONMember("inconclusive", .bool(isInconclusive)),
        ]
        if let replayed { members.append(JSONMember("replayed", replayed.json)) }
        if let harnessFailure { members.append(JSONMember("failure", .string(harnessFailure))) }
        return .object(members)
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init()
        findings = try CaseFindings(json: json)
        guard let codes = Self.bytes(hexadecimal: try json.string("codes")) else {
            throw JSONShapeError(path: json.path + ".codes", expected: "pairs of hexadecimal digits")
        }
        details = try CaseDetails(json: try json.object("details"), trialCodes: codes)
        messages = try Self.strings(json, "messages")
        brokenTrials = try Self.strings(json, "broken")
        isInconclusive = try json.bool("inconclusive")
        replayed = json.has("replayed") ? try ReplayedTrial(json: try json.object("replayed")) : nil
        harnessFailure = json.has("failure") ? try json.string("failure") : nil
    }

    fileprivate static func strings(_ json: JSONObjectReader, _ name: String) throws(JSONShapeError) -> [String] {
        var list: [String] = []
        for element in try json.array(name) {
            guard case .string(let text) = element else {
                throw JSONShapeError(path: "\(json.path).\(name)", expected: "strings")
            }
            list.append(text)
        }
        return list
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Character(Unicode.Scalar(digits[index])).hexDigitValue,
                let low = Character(Unicode.Scalar(digits[index + 1])).hexDigitValue
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
