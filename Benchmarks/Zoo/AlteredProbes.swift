import Harness

/// The rows of a query's answer with a planted mistake.
enum AlteredProbes {
    static func rows(_ answered: [ProbeRow], by mistake: EngineMistake) -> [ProbeRow] {
        var rows = answered
        guard let last = rows.last else { return rows }
        switch mistake {
        case .rowDropped: rows.removeLast()
        case .rowTwice: rows.append(last)
        case .lastByte:
            // The last row with a text: a row without one cannot be altered.
            guard let place = rows.lastIndex(where: { !($0.text ?? "").isEmpty }) else { break }
            if case .text(let text)? = rows[place].text.flatMap({ AlteredRows.otherText(.text($0)) }) {
                rows[place].text = text
            }
        case .linkSwapped:
            guard let place = rows.lastIndex(where: { $0.friend != nil }) else { break }
            if case .link(let other)? = rows[place].friend.flatMap({ AlteredRows.otherLink(.link(Int($0))) }) {
                rows[place].friend = Int64(other)
            }
        default: break
        }
        return rows
    }
}
