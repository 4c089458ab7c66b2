import Harness
import RunRecords

/// Fills a table with the rows of a data set, by chunks of columns.
struct DuckDBFilling {
    private let connection: DuckDBConnection
    private let functions: DuckDBFunctions

    private enum TypeNumber {
        static let integer: UInt32 = 5
        static let real: UInt32 = 11
        static let text: UInt32 = 17
    }

    init(_ connection: DuckDBConnection) {
        self.connection = connection
        functions = connection.functions
    }

    /// - Parameters:
    ///   - columns: in the order of the table.
    ///   - firstRow: the index of the first row, if the table has an additional column of row indexes; else nil.
    func fill(_ table: String, with columns: [Column], firstRow: Int64? = nil) throws(EngineError) {
        guard let rows = columns.first?.values.count, rows > 0 else { return }
        try connection.append(to: table) { appender throws(EngineError) in
            try withChunk(columns.map(\.values), hasOwnRow: firstRow != nil) { chunk throws(EngineError) in
                let most = Int(functions.vectorSize())
                var first = 0
                while first < rows {
                    let range = first..<min(rows, first + most)
                    functions.resetChunk(chunk)
                    for (index, column) in columns.enumerated() {
                        fill(functions.vector(chunk, UInt64(index)), column.values, range)
                    }
                    if let firstRow {
                        let data = functions.vectorData(functions.vector(chunk, UInt64(columns.count)))
                        for (place, row) in range.enumerated() {
                            data?.storeBytes(of: firstRow + Int64(row), toByteOffset: place * 8, as: Int64.self)
                        }
                    }
                    functions.setChunkSize(chunk, UInt64(range.count))
                    try connection.append(chunk, to: appender)
                    first = range.upperBound
                }
            }
        }
    }

    private func withChunk(
        _ columns: [ColumnValues], hasOwnRow: Bool, _ body: (DuckDBHandle?) throws(EngineError) -> Void
    ) throws(EngineError) {
        var types = columns.map(type) + (hasOwnRow ? [functions.createType(TypeNumber.integer)] : [])
        var chunk = functions.createChunk(&types, UInt64(types.count))
        defer {
            functions.destroyChunk(&chunk)
            for index in types.indices { functions.destroyType(&types[index]) }
        }
        try body(chunk)
    }

    private func type(_ values: ColumnValues) -> DuckDBHandle? {
        switch values {
        case .integer, .link: return functions.createType(TypeNumber.integer)
        case .real: return functions.createType(TypeNumber.real)
        case .text: return functions.createType(TypeNumber.text)
        case .links:
            var element = functions.createType(TypeNumber.integer)
            defer { functions.destroyType(&element) }
            return functions.createListType(element)
        }
    }

    private func fill(_ vector: DuckDBHandle?, _ values: ColumnValues, _ range: Range<Int>) {
        switch values {
        case .integer(let numbers): copy(numbers[range], to: vector)
        case .real(let numbers): copy(numbers[range], to: vector)
        case .text(let texts):
            texts.bytes.withUnsafeBufferPointer { bytes in
                for (place, row) in range.enumerated() {
                    let text = UnsafeBufferPointer(rebasing: bytes[texts.range(row)])
                    text.withMemoryRebound(to: CChar.self) { characters in
                        if let start = characters.baseAddress {
                            functions.assignText(vector, UInt64(place), start, UInt64(characters.count))
                        } else {
                            functions.assignText(vector, UInt64(place), "", 0)
                        }
                    }
                }
            }
        case .link(_, let rows): fillLinks(vector, rows, range)
        case .links(_, let lists): fillLists(vector, lists, range)
        }
    }

    private func copy<Number>(_ numbers: ArraySlice<Number>, to vector: DuckDBHandle?) {
        numbers.withUnsafeBytes { bytes in
            guard let data = functions.vectorData(vector), let start = bytes.baseAddress else { return }
            data.copyMemory(from: start, byteCount: bytes.count)
        }
    }

    private func fillLinks(_ vector: DuckDBHandle?, _ rows: [Int32], _ range: Range<Int>) {
        let data = functions.vectorData(vector)
        functions.makeValidityWritable(vector)
        let validity = functions.validity(vector)
        for (place, row) in range.enumerated() {
            let target = Int64(rows[row])
            data?.storeBytes(of: target, toByteOffset: place * 8, as: Int64.self)
            let bit = UInt64(1) << UInt64(place & 63)
            if target < 0 { validity?[place >> 6] &= ~bit } else { validity?[place >> 6] |= bit }
        }
    }

    private func fillLists(_ vector: DuckDBHandle?, _ lists: LinkListColumn, _ range: Range<Int>) {
        let total = range.reduce(0) { $0 + lists[$1].count }
        _ = functions.reserveList(vector, UInt64(total))
        let child = functions.vectorData(functions.listChild(vector))
        let entries = functions.vectorData(vector)
        var end = 0
        for (place, row) in range.enumerated() {
            let list = lists[row]
            entries?.storeBytes(of: UInt64(end), toByteOffset: place * 16, as: UInt64.self)
            entries?.storeBytes(of: UInt64(list.count), toByteOffset: place * 16 + 8, as: UInt64.self)
            for target in list {
                child?.storeBytes(of: Int64(target), toByteOffset: end * 8, as: Int64.self)
                end += 1
            }
        }
        _ = functions.setListSize(vector, UInt64(total))
    }
}
