/// A report line of the process that plays a script.
enum ScriptEvent: Equatable {
    /// Step N begins: 0 makes the table, N is operation N - 1, and the last closes.
    case began(Int)
    /// The step returned without an error. `isSynced`: whether its writes were durable by then; nil where unknown.
    case acknowledged(Int, isSynced: Bool?)
    case failed(Int, String)
    /// The rows that the open session returns.
    case saw(ScriptContent)
    /// The rows could not be read, for this reason.
    case sawNothing(String)
    /// The rows that were read were never written.
    case sawWrong(String)
    /// How many calls of that kind were made.
    case counted(String, Int)
    /// After the fault was lifted no transaction succeeded, for this reason.
    case stuck(String)
    /// The harness itself failed.
    case broke(String)

    var line: String {
        switch self {
        case .began(let step): "began \(step)"
        case .acknowledged(let step, nil): "acknowledged \(step)"
        case .acknowledged(let step, let isSynced?): "acknowledged \(step) \(isSynced ? "synced" : "unsynced")"
        case .failed(let step, let text): "failed \(step) \(Self.oneLine(text))"
        case .saw(let content): "saw \(Self.text(content))"
        case .sawNothing(let text): "saw-nothing \(Self.oneLine(text))"
        case .sawWrong(let text): "saw-wrong \(Self.oneLine(text))"
        case .counted(let kind, let count): "counted \(kind) \(count)"
        case .stuck(let text): "stuck \(Self.oneLine(text))"
        case .broke(let text): "broke \(Self.oneLine(text))"
        }
    }

    /// nil for an incomplete or unknown line.
    init?(_ line: some StringProtocol) {
        let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = words.count > 1 ? String(words[1]) : ""
        let parts = rest.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let number = parts.first.flatMap { Int($0) }
        switch (words.first ?? "", number) {
        case ("began", let step?): self = .began(step)
        case ("acknowledged", let step?):
            self = .acknowledged(step, isSynced: parts.count > 1 ? parts[1] == "synced" : nil)
        case ("failed", let step?): self = .failed(step, parts.count > 1 ? parts[1] : "")
        case ("saw", _):
            guard let content = Self.content(rest) else { return nil }
            self = .saw(content)
        case ("saw-nothing", _): self = .sawNothing(rest)
        case ("saw-wrong", _): self = .sawWrong(rest)
        case ("counted", _):
            guard parts.count == 2, let count = Int(parts[1]) else { return nil }
            self = .counted(parts[0], count)
        case ("stuck", _): self = .stuck(rest)
        case ("broke", _): self = .broke(rest)
        default: return nil
        }
    }

    /// The complete lines of a process's output; a truncated last line is dropped.
    static func list(_ bytes: [UInt8]) -> [ScriptEvent] {
        guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        return String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n").compactMap { ScriptEvent($0) }
    }

    // MARK: Words

    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 }.prefix(400))
    }

    /// `KEY.NUMBER.LENGTH`, separated by commas.
    private static func text(_ content: ScriptContent) -> String {
        content.rows.sorted { $0.key < $1.key }.map { "\($0.key).\($0.value.number).\($0.value.length)" }
            .joined(separator: ",")
    }

    private static func content(_ text: String) -> ScriptContent? {
        var content = ScriptContent()
        for row in text.split(separator: ",") {
            let numbers = row.split(separator: ".").compactMap { Int64($0) }
            guard numbers.count == 3, let length = Int(exactly: numbers[2]) else { return nil }
            content.rows[numbers[0]] = ScriptRow(number: numbers[1], length: length)
        }
        return content
    }
}
