/// What a process that plays a history says of it, a line each.
enum HistoryEvent: Equatable {
    /// Step N begins: 0 makes the table, N is operation N - 1, and the last closes.
    case began(Int)
    /// It returned without an error. `isSynced`: whether what it wrote was durable by then; nil where nobody looked.
    case acknowledged(Int, isSynced: Bool?)
    case failed(Int, String)
    /// The rows that the open session shows.
    case saw(HistoryContent)
    /// It could not be read: why.
    case sawNothing(String)
    /// What was read was never written.
    case sawWrong(String)
    /// How many calls of that kind were made.
    case counted(String, Int)
    /// The trouble was over, and no transaction went through: why.
    case stuck(String)
    /// The harness itself went wrong.
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

    /// nil for what is no whole line of these.
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

    /// The whole lines of what a process has said: one that was cut off was never said.
    static func list(_ bytes: [UInt8]) -> [HistoryEvent] {
        guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        return String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n").compactMap { HistoryEvent($0) }
    }

    // MARK: Words

    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 }.prefix(400))
    }

    /// `KEY.NUMBER.LENGTH`, parted by commas.
    private static func text(_ content: HistoryContent) -> String {
        content.rows.sorted { $0.key < $1.key }.map { "\($0.key).\($0.value.number).\($0.value.length)" }
            .joined(separator: ",")
    }

    private static func content(_ text: String) -> HistoryContent? {
        var content = HistoryContent()
        for row in text.split(separator: ",") {
            let numbers = row.split(separator: ".").compactMap { Int64($0) }
            guard numbers.count == 3, let length = Int(exactly: numbers[2]) else { return nil }
            content.rows[numbers[0]] = HistoryRow(number: numbers[1], length: length)
        }
        return content
    }
}
