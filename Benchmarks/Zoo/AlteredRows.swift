import Harness
import RunRecords

/// Passes on the rows of a full read with one mistake: in the last row of the first table where it is possible, or for
/// links in the first row that has some.
///
/// Delays each row until the next one shows that it was not the last of its table.
final class AlteredRows: RowSink {
    private struct Held {
        var table: String
        var row: Int
        var values: [Value]
    }

    private let target: any RowSink
    private let mistake: EngineMistake
    private var held: Held?
    private var isMade = false
    private var goesOn = true

    init(_ target: any RowSink, _ mistake: EngineMistake) {
        self.target = target
        self.mistake = mistake
    }

    func receive(table: String, row: Int, values: [Value]) -> Bool {
        if let held {
            if held.table == table { hand(held) } else { handLast(held) }
        }
        var values = values
        if mistake == .linkSwapped && !isMade { isMade = alter(&values) { Self.otherLink($0) } }
        held = Held(table: table, row: row, values: values)
        return goesOn
    }

    /// Call it after a read that reached the end.
    func finish() {
        if let held { handLast(held) }
        held = nil
    }

    private func hand(_ row: Held) {
        if goesOn { goesOn = target.receive(table: row.table, row: row.row, values: row.values) }
    }

    private func handLast(_ row: Held) {
        guard !isMade else { return hand(row) }
        var row = row
        switch mistake {
        case .rowDropped:
            isMade = true
        case .rowTwice:
            isMade = true
            hand(row)
            hand(row)
        case .lastByte:
            isMade = alter(&row.values) { Self.otherText($0) }
            hand(row)
        default:
            hand(row)
        }
    }

    /// Changes the last value that can be changed; returns whether there is one.
    private func alter(_ values: inout [Value], _ change: (Value) -> Value?) -> Bool {
        for index in values.indices.reversed() {
            guard let altered = change(values[index]) else { continue }
            values[index] = altered
            return true
        }
        return false
    }

    static func otherText(_ value: Value) -> Value? {
        guard case .text(let text) = value, let last = text.utf8.last, last < 0x7F else { return nil }
        var bytes = Array(text.utf8)
        bytes[bytes.count - 1] = last == UInt8(ascii: "!") ? last + 1 : UInt8(ascii: "!")
        return .text(String(decoding: bytes, as: UTF8.self))
    }

    static func otherLink(_ value: Value) -> Value? {
        switch value {
        case .link(let row): return .link(row == 0 ? 1 : row - 1)
        case .links(var rows):
            guard let other = rows.indices.dropFirst().first(where: { rows[$0] != rows[0] }) else { return nil }
            rows.swapAt(0, other)
            return .links(rows)
        default: return nil
        }
    }
}
