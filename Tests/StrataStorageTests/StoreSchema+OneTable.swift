@testable import StrataStorage

extension StoreSchema {
    /// A schema of one table, whose id is 1.
    init(userVersion: UInt64 = 0, table name: String, _ columns: [ColumnDefinition]) {
        self.init(
            userVersion: userVersion, tables: [TableDefinition(id: TableID(1), name: name, columns: columns)])
    }
}
