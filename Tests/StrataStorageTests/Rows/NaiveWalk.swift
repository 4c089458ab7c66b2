@testable import StrataStorage

/// The rows of a table, read slot by slot in the plainest way, as the reference for every other way.
///
/// It follows references and reads only single values, so that it shares no code with decoding, filters or lookups.
final class NaiveWalk {
    private(set) var rows: [(key: Int64, values: [Value])] = []
    private let view: ReadView
    private let table: Int

    init(_ view: ReadView, _ table: Int) throws {
        self.view = view
        self.table = table
        let root = view.state.tables[table].tree
        if !root.isNull { try walk(root) }
    }

    private func walk(_ reference: NodeReference) throws {
        if reference.is(.group) { return try walk(Group(try view.reader.node(reference, .group))) }
        let branch = Branch(try view.reader.node(reference, .branch))
        for index in 0..<branch.count { try walk(branch.reference(index)) }
    }

    private func walk(_ group: Group) throws {
        let deleted = Set((0..<group.deleted).map { group.deletedSlot($0) })
        var found: [(key: Int64, values: [Value])] = []
        for slot in 0..<group.rows where !deleted.contains(slot) {
            let key = group.isDense ? group.baseKey + Int64(slot) : try number(main(group, 0, slot))
            found.append((key, try values(group) { try main(group, $0, slot) }))
        }
        for place in 0..<group.inserted {
            let key = group.insertedSegment(0).integer(place)
            found.append((key, try values(group) { (group.insertedSegment($0), place) }))
        }
        rows += found.sorted { $0.key < $1.key }
    }

    private func number(_ place: (Segment, Int)) throws -> Int64 { place.0.integer(place.1) }

    /// The place of a slot's newest value.
    private func main(_ group: Group, _ position: Int, _ slot: Int) throws -> (Segment, Int) {
        for index in 0..<group.patched where group.patch(index).column == position {
            let patch = group.patch(index)
            for place in 0..<patch.count where patch.slot(place) == slot { return (patch.segment, place) }
        }
        for number in group.firstSegment(position)..<(group.firstSegment(position) + group.segmentCount(position)) {
            let descriptor = group.descriptor(number)
            if descriptor.firstSlot <= slot && slot < descriptor.firstSlot + descriptor.rows {
                return (try group.segment(number, view.reader), slot - descriptor.firstSlot)
            }
        }
        throw InvariantViolation("slot \(slot) is in no segment")
    }

    private func values(_ group: Group, _ place: (Int) throws -> (Segment, Int)) throws -> [Value] {
        try view.schema.tables[table].columns.map { definition in
            let position = (0..<group.columns).first { group.columnID($0) == Int(definition.id.rawValue) }
            guard let position else { return Self.value(definition.missingCell, definition.type) }
            let (segment, index) = try place(position)
            if segment.isNull(index) { return .null }
            switch definition.type {
            case .integer, .link: return .integer(segment.integer(index))
            case .double: return .double(segment.double(index).bitPattern)
            case .bytes, .links:
                let bytes = segment.bytes(index)
                return .bytes(Array(segment.isLong(index) ? try view.long(bytes) : bytes))
            }
        }
    }

    private static func value(_ cell: Cell, _ type: ColumnType) -> Value {
        if cell.isNull { return .null }
        switch type {
        case .integer, .link: return .integer(cell.integerValue)
        case .double: return .double(cell.doubleValue.bitPattern)
        case .bytes, .links: return .bytes(Array(cell.bytesValue))
        }
    }
}
