import JSONText
import RunRecords

/// A task for a worker process: one JSON document on the worker's standard input.
package struct WorkerRequest: Sendable, Equatable {
    /// Raised when an older worker would misread a request. `assay worker --describe` prints it.
    package static let protocolVersion = 2

    package enum Task: String, JSONForm {
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
}

extension WorkerRequest: JSONRecord {
    package static let blank = WorkerRequest(task: .runCase, test: .blank, directory: "", fixture: nil, deadline: 0)

    package static let fields: [JSONField<WorkerRequest>] = [
        .constant("protocol", protocolVersion), .member("task", \.task), .member("test", \.test),
        .member("directory", \.directory), .member("deadline", \.deadline), .member("fixture", \.fixture),
        .member("trial", \.onlyTrial), .member("keep", \.keepDirectory), .sparse("arguments", \.arguments),
        .member("engine_file", \.files.own.path),
        .companion("engine_digest", \.files.own.digest, of: \.files.own.path),
        .member("library_file", \.files.library.path),
        .companion("library_digest", \.files.library.digest, of: \.files.library.path),
    ]
}

/// The path and the digest of a file, as two members of a request. The runner writes both or neither. The worker
/// refuses a path without a digest, and ignores a digest without a path.
extension EngineFile? {
    fileprivate var path: String? {
        get { self?.path }
        set { self = newValue.map { EngineFile(path: $0, digest: "") } }
    }

    fileprivate var digest: String {
        get { self?.digest ?? "" }
        set { self?.digest = newValue }
    }
}

extension WorkerReport: JSONRecord {
    package static let blank = WorkerReport()

    /// Older workers reported no causes. The codes precede the details: reading compares the map with their number.
    package static let fields: [JSONField<WorkerReport>] = [
        .outcomes(\.findings.outcomes), .member("samples", \.findings.samples), .member("trials", \.findings.trials),
        .lenient("causes", \.findings.causes),
        JSONField("codes", write: { .string(hexadecimal($0.details.trialCodes)) }) {
            (json, report) throws(JSONShapeError) in
            guard let codes = bytes(hexadecimal: try String(json: json ?? .null)) else {
                throw JSONShapeError(expected: "pairs of hexadecimal digits")
            }
            report.details.trialCodes = codes
        },
        JSONField("details", write: { $0.details.json }) { (json, report) throws(JSONShapeError) in
            report.details = try CaseDetails(json: json ?? .null, onto: report.details)
        },
        .member("messages", \.messages), .member("broken", \.brokenTrials), .member("cut", \.findings.isCut),
        .member("inconclusive", \.isInconclusive), .member("replayed", \.replayed),
        .member("failure", \.harnessFailure),
    ]

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
