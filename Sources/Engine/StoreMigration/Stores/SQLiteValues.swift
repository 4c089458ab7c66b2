#if SQLite
    import CoreDataFiles

    #if canImport(FoundationEssentials)
        import FoundationEssentials
    #else
        import Foundation
    #endif

    extension SQLiteFile {
        /// Runs `body` in a transaction.
        func inTransaction<Output>(_ body: () throws -> Output) throws -> Output {
            try run("BEGIN IMMEDIATE")
            do {
                let output = try body()
                try run("COMMIT")
                return output
            } catch {
                // SQLite may have rolled back by itself; then the rollback fails, which is fine.
                do { try run("ROLLBACK") } catch {}
                throw error
            }
        }
    }

    extension SQLiteFile {
        func run(_ sql: String, _ key: RecordKey) throws {
            let statement = try statement(sql)
            statement.bind(0, key: key)
            try statement.run()
        }
    }

    extension SQLiteStatement {
        func bind(_ place: Int, key: RecordKey) {
            switch key {
            case .integer(let value): bind(place, value)
            case .text(let value): bind(place, text: value)
            }
        }

        func bind(_ place: Int, _ value: FieldValue, dateOrigin: Double) {
            switch value {
            case .null, .links: bind(place, Int64?.none)
            case .integer(let value): bind(place, value)
            case .real(let value): bind(place, double: value)
            case .text(let value): bind(place, text: value)
            case .data(let value): bind(place, data: [UInt8](value))
            case .date(let value): bind(place, double: value + (FieldValue.secondsTo2001 - dateOrigin))
            case .link(let key): bind(place, key: key)
            }
        }

        func key(_ column: Int, _ isInteger: Bool) -> RecordKey {
            isInteger ? .integer(integer(column)) : .text(text(column))
        }

        /// - Returns: nil if the column holds a value of another type.
        func value(_ column: Int, _ kind: FieldKind, dateOrigin: Double) -> FieldValue? {
            let stored = self.kind(column)
            switch (stored, kind) {
            case (.null, _): return .null
            case (.integer, .boolean), (.integer, .integer): return .integer(integer(column))
            // SQLite stores a whole real as an integer.
            case (.real, .real), (.integer, .real): return .real(double(column))
            case (.real, .date), (.integer, .date):
                // Computes the difference of the epochs first: if both are 2001 it is 0, and nothing is rounded.
                return .date(double(column) - (FieldValue.secondsTo2001 - dateOrigin))
            case (.text, .text): return .text(text(column))
            case (.data, .data), (.data, .uuid): return .data(Data(data(column)))
            case (.integer, .link): return .link(.integer(integer(column)))
            case (.text, .link): return .link(.text(text(column)))
            default: return nil
            }
        }
    }

    extension FieldValue {
        /// From 1970-01-01 to 2001-01-01.
        static let secondsTo2001 = 978_307_200.0
    }
#endif
