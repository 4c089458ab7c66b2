import Harness

/// The rows of a question's answer as a mistaken engine gives them.
enum AlteredProbes {
    static func rows(_ answered: [ProbeRow], by mistake: EngineMistake) -> [ProbeRow] {
        var rows = answered
        guard var last = rows.last else { return rows }
        switch mistake {
        case .rowDropped: rows.removeLast()
        case .rowTwice: rows.append(last)
        case .lastByte:
            if case .text(let text)? = last.text.flatMap({ AlteredRows.otherText(.text($0)) }) { last.text = text }
            rows[rows.count - 1] = last
        case .linkSwapped:
            if case .link(let other)? = last.friend.flatMap({ AlteredRows.otherLink(.link(Int($0))) }) {
                last.friend = Int64(other)
            }
            rows[rows.count - 1] = last
        default: break
        }
        return rows
    }
}
