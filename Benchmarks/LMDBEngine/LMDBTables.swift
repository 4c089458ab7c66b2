#if LMDB
    import CLMDB
    import Harness
    import PackedRows
    import Synchronization

    /// Databases of integer keys, one for each table, by the table's number.
    ///
    /// A key is the row's with its sign bit flipped, 8 bytes in native order: `MDB_INTEGERKEY` compares it as an
    /// unsigned integer, instead of byte by byte.
    ///
    /// `@unchecked Sendable`: a slot is written once under the lock, from 0 to its final handle, by the thread that
    /// opens the table, before other threads can use that table.
    final class LMDBTables: @unchecked Sendable {
        /// The most databases of an environment: each costs its transactions some bytes.
        static let most: MDB_dbi = 64

        private let places = UnsafeMutablePointer<MDB_dbi>.allocate(capacity: 256)
        private let opening = Mutex(())

        init() { places.initialize(repeating: 0, count: 256) }

        deinit { places.deallocate() }

        private static func name(_ number: UInt8) -> String { "table-\(number)" }

        /// The database of the key's table; 0, which is no table's, if it was never opened.
        @inline(__always)
        func database(of key: KeyBuffer) -> MDB_dbi { places[Int(key.start.load(as: UInt8.self))] }

        var all: [MDB_dbi] { (0..<256).map { places[$0] }.filter { $0 != 0 } }

        @inline(__always)
        static func key(_ key: KeyBuffer) -> UInt64 {
            UInt64(bigEndian: key.start.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
        }

        /// nil where the bytes are not such a key.
        @inline(__always)
        static func number(_ bytes: UnsafeRawBufferPointer) -> Int64? {
            guard bytes.count == 8 else { return nil }
            return Int64(bitPattern: bytes.loadUnaligned(as: UInt64.self) ^ (1 << 63))
        }

        /// Opens the databases of the file's tables. The handles stay valid if the caller commits the transaction.
        func openAll(_ transaction: OpaquePointer?) -> Int32 {
            for number in UInt8(1)..<UInt8(Self.most) {
                let status = open(number, transaction, flags: MDB_INTEGERKEY)
                if status == MDB_NOTFOUND { return 0 }
                if status != 0 { return status }
            }
            return 0
        }

        /// To be called in a write transaction.
        func create(_ numbers: [UInt8], _ transaction: OpaquePointer?) -> Int32 {
            for number in numbers {
                let status = open(number, transaction, flags: MDB_INTEGERKEY | MDB_CREATE)
                if status != 0 { return status }
            }
            return 0
        }

        private func open(_ number: UInt8, _ transaction: OpaquePointer?, flags: Int32) -> Int32 {
            opening.withLock { _ in
                var database: MDB_dbi = 0
                let status = mdb_dbi_open(transaction, Self.name(number), UInt32(flags), &database)
                if status == 0 { places[Int(number)] = database }
                return status
            }
        }

        /// Opens the database of a table that another process has created, before the transaction begins that must see
        /// it.
        func require(_ number: UInt8, in environment: LMDBEnvironment) throws(EngineError) {
            if places[Int(number)] != 0 { return }
            var transaction: OpaquePointer?
            try LMDBEnvironment.check(
                mdb_txn_begin(environment.handle, nil, UInt32(MDB_RDONLY), &transaction))
            let status = open(number, transaction, flags: MDB_INTEGERKEY)
            if status == 0 {
                try LMDBEnvironment.check(mdb_txn_commit(transaction))
            } else {
                mdb_txn_abort(transaction)
                if status != MDB_NOTFOUND { try LMDBEnvironment.check(status) }
            }
        }
    }
#endif
