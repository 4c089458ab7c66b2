#if LMDB
    import CLMDB
    import Files
    import Harness
    import RunRecords

    /// Lists as keys (owner, place), or packed into the value of the owner's key.
    ///
    /// The owner's key precedes those of its elements. Without gaps, values move and keys stay: values of equal length
    /// are overwritten in place.
    final class LMDBLists: ListSession {
        private let path: String
        private let environment: LMDBEnvironment
        private let keeping: ListKeeping
        private var isOpen = true

        private static let gap: Int64 = 1 << 20

        init(path: String, settings: LMDBSettings, _ keeping: ListKeeping) throws(EngineError) {
            self.path = path
            self.keeping = keeping
            environment = try LMDBEnvironment.open.store(path) { () throws(EngineError) in
                try LMDBEnvironment(path: path, settings: settings)
            }
        }

        func sizes() throws(EngineError) -> SizePoint {
            do { return SizePoint(fileBytes: try FileTree.size(path)) } catch {
                throw EngineError(.refused, "\(error)")
            }
        }

        func close() throws(EngineError) {
            guard isOpen else { return }
            isOpen = false
            LMDBEnvironment.open.letGo(path) { $0.close() }
        }

        private var step: Int64 { keeping == .gapped ? Self.gap : 1 }

        func addLists(_ lists: ListBatch) throws(EngineError) {
            let (keeping, step) = (keeping, step)
            try environment.write { transaction throws(EngineError) in
                let cursor = try ListCursor(transaction)
                for owner in lists.owners {
                    guard keeping != .packed else {
                        try cursor.putOwner(owner, lists.elements(owner), flags: MDB_APPEND)
                        continue
                    }
                    try cursor.putOwner(owner, [], flags: MDB_APPEND)
                    var place: Int64 = 0
                    for value in lists.elements(owner) {
                        try cursor.put(owner, place, value, flags: MDB_APPEND)
                        place += step
                    }
                }
            }
        }

        func change(owner: Int64, _ change: ListChange, beforeCommit: () -> Void) throws(EngineError) {
            guard keeping != .packed else { throw EngineError(.unsupported, "a packed list is one value") }
            let (isDense, step) = (keeping == .dense, step)
            try environment.write { transaction throws(EngineError) in
                // Closed before the commit.
                let cursor = try ListCursor(transaction)
                defer { cursor.close() }
                switch change {
                case .append(let values), .appendAll(let values):
                    var place = try cursor.lastPlace(owner).map { $0 + step } ?? 0
                    for value in values {
                        try cursor.put(owner, place, value, flags: MDB_NOOVERWRITE)
                        place += step
                    }
                case .insert(let values, let places):
                    for (value, place) in zip(values, places) {
                        if isDense {
                            try cursor.insertDense(value, at: Int64(place), of: owner)
                        } else {
                            try cursor.insertGapped(value, at: place, of: owner, step: step)
                        }
                    }
                case .remove(let places):
                    for place in places {
                        if isDense {
                            try cursor.removeDense(at: Int64(place), of: owner)
                        } else {
                            try cursor.removeGapped(at: place, of: owner)
                        }
                    }
                case .move: throw EngineError(.unsupported, "no lists of its own")
                }
                beforeCommit()
            }
        }

        func readElements(owner: Int64, at places: [Int]) throws(EngineError) -> ListDigest {
            guard keeping != .packed else { throw EngineError(.unsupported, "a packed list is one value") }
            let isDense = keeping == .dense
            return try environment.read { transaction throws(EngineError) in
                let cursor = try ListCursor(transaction)
                defer { cursor.close() }
                var digest = ListDigest()
                for place in places {
                    try isDense ? cursor.seek(owner, Int64(place)) : cursor.count(to: place, of: owner)
                    digest.add(cursor.value)
                }
                return digest
            }
        }

        func walkLists(owners: [Int64]) throws(EngineError) -> ListDigest {
            var digest = ListDigest()
            try walk(owners) {
                digest.add($0)
            } end: {
                digest.endList()
            }
            return digest
        }

        func readList(owner: Int64) throws(EngineError) -> [Int64] {
            var values: [Int64] = []
            try walk([owner]) {
                values.append($0)
            } end: {
            }
            return values
        }

        @inline(__always)
        private func walk(_ owners: [Int64], _ body: (Int64) -> Void, end: () -> Void) throws(EngineError) {
            let isPacked = keeping == .packed
            try environment.read { transaction throws(EngineError) in
                let cursor = try ListCursor(transaction)
                defer { cursor.close() }
                for owner in owners {
                    try cursor.seekOwner(owner)
                    if isPacked {
                        cursor.eachPacked(body)
                    } else {
                        while try cursor.next(of: owner) { body(cursor.value) }
                    }
                    end()
                }
            }
        }
    }

    /// A cursor on the keys of lists.
    private final class ListCursor {
        private var handle: OpaquePointer?
        private var key = MDB_val()
        private var data = MDB_val()
        private let room = UnsafeMutableRawPointer.allocate(byteCount: 32, alignment: 8)
        private static let keyBytes = 16

        init(_ transaction: LMDBTransaction) throws(EngineError) { handle = try transaction.openCursor() }

        deinit { room.deallocate() }

        /// To be called before the transaction ends: a write transaction frees the cursors that are open at its end, a
        /// read transaction never does.
        func close() {
            if let handle { mdb_cursor_close(handle) }
            handle = nil
        }

        // MARK: Keys

        private static func ordered(_ number: Int64) -> UInt64 { (UInt64(bitPattern: number) ^ (1 << 63)).bigEndian }

        private func setKey(_ owner: Int64, _ place: Int64) {
            room.storeBytes(of: Self.ordered(owner), as: UInt64.self)
            room.storeBytes(of: Self.ordered(place), toByteOffset: 8, as: UInt64.self)
            key = MDB_val(mv_size: Self.keyBytes, mv_data: room)
        }

        private func setValue(_ value: Int64) {
            (room + 16).storeBytes(of: value, as: Int64.self)
            data = MDB_val(mv_size: 8, mv_data: room + 16)
        }

        private func word(_ offset: Int) -> Int64 {
            let bytes = UnsafeRawBufferPointer(key)
            guard bytes.count == Self.keyBytes else { return .min }
            let raw = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            return Int64(bitPattern: raw ^ (1 << 63))
        }

        private var place: Int64 { word(8) }

        /// The value at the cursor.
        @inline(__always)
        var value: Int64 { data.mv_size == 8 ? data.mv_data.loadUnaligned(as: Int64.self) : 0 }

        func eachPacked(_ body: (Int64) -> Void) {
            let bytes = UnsafeRawBufferPointer(data)
            for start in stride(from: 0, to: bytes.count - bytes.count % 8, by: 8) {
                body(bytes.loadUnaligned(fromByteOffset: start, as: Int64.self))
            }
        }

        // MARK: Moving

        func seek(_ owner: Int64, _ place: Int64) throws(EngineError) {
            setKey(owner, place)
            try LMDBEnvironment.check(mdb_cursor_get(handle, &key, &data, MDB_SET_KEY))
        }

        func seekOwner(_ owner: Int64) throws(EngineError) { try seek(owner, .min) }

        /// False where the next key is another owner's, or does not exist.
        @inline(__always)
        func next(of owner: Int64) throws(EngineError) -> Bool { try move(MDB_NEXT, owner) }

        @inline(__always)
        private func move(_ step: MDB_cursor_op, _ owner: Int64) throws(EngineError) -> Bool {
            let status = mdb_cursor_get(handle, &key, &data, step)
            if status == MDB_NOTFOUND { return false }
            try LMDBEnvironment.check(status)
            return word(0) == owner
        }

        /// Moves to the element at that position, by counting.
        func count(to place: Int, of owner: Int64) throws(EngineError) {
            try seekOwner(owner)
            for _ in 0...place where try !next(of: owner) {
                throw EngineError(.refused, "no element at \(place)")
            }
        }

        /// The place of the last element, where the cursor then is; nil where there is none.
        func lastPlace(_ owner: Int64) throws(EngineError) -> Int64? {
            setKey(owner, .max)
            let status = mdb_cursor_get(handle, &key, &data, MDB_SET_RANGE)
            if status != MDB_NOTFOUND { try LMDBEnvironment.check(status) }
            guard try move(status == MDB_NOTFOUND ? MDB_LAST : MDB_PREV, owner) else { return nil }
            return place == .min ? nil : place
        }

        // MARK: Writing

        func put(_ owner: Int64, _ place: Int64, _ value: Int64, flags: Int32) throws(EngineError) {
            setKey(owner, place)
            setValue(value)
            try LMDBEnvironment.check(mdb_cursor_put(handle, &key, &data, UInt32(flags)))
        }

        func putOwner(_ owner: Int64, _ elements: ArraySlice<Int64>, flags: Int32) throws(EngineError) {
            setKey(owner, .min)
            let status = elements.withUnsafeBytes { bytes in
                data = MDB_val(bytes)
                return mdb_cursor_put(handle, &key, &data, UInt32(flags))
            }
            try LMDBEnvironment.check(status)
        }

        /// Overwrites the value at the cursor.
        private func overwrite(_ value: Int64) throws(EngineError) {
            setValue(value)
            try LMDBEnvironment.check(mdb_cursor_put(handle, &key, &data, UInt32(MDB_CURRENT)))
        }

        /// Moves every value from there on to the next key, the last one to a new key.
        func insertDense(_ value: Int64, at place: Int64, of owner: Int64) throws(EngineError) {
            let end = try lastPlace(owner).map { $0 + 1 } ?? 0
            guard place < end else { return try put(owner, end, value, flags: MDB_NOOVERWRITE) }
            try seek(owner, place)
            var carried = value
            repeat {
                let old = self.value
                try overwrite(carried)
                carried = old
            } while try next(of: owner)
            try put(owner, end, carried, flags: MDB_NOOVERWRITE)
        }

        /// Moves every later value to the key before it, and deletes the last key.
        func removeDense(at place: Int64, of owner: Int64) throws(EngineError) {
            guard let last = try lastPlace(owner), place <= last else {
                throw EngineError(.refused, "no element at \(place)")
            }
            var carried = value
            var here = last
            while here > place {
                guard try move(MDB_PREV, owner) else { throw EngineError(.refused, "no element at \(here - 1)") }
                let old = value
                try overwrite(carried)
                carried = old
                here -= 1
            }
            try seek(owner, last)
            try LMDBEnvironment.check(mdb_cursor_del(handle, 0))
        }

        func insertGapped(_ value: Int64, at place: Int, of owner: Int64, step: Int64) throws(EngineError) {
            try seekOwner(owner)
            if place == 0 {
                let first = try next(of: owner) ? self.place - step : 0
                return try put(owner, first, value, flags: MDB_NOOVERWRITE)
            }
            try count(to: place - 1, of: owner)
            let before = self.place
            var number = before + step
            if try next(of: owner) {
                number = before + (self.place - before) / 2
                guard number > before else {
                    try renumber(owner, step)
                    return try insertGapped(value, at: place, of: owner, step: step)
                }
            }
            try put(owner, number, value, flags: MDB_NOOVERWRITE)
        }

        func removeGapped(at place: Int, of owner: Int64) throws(EngineError) {
            try count(to: place, of: owner)
            try LMDBEnvironment.check(mdb_cursor_del(handle, 0))
        }

        /// No number is left between two neighbours: renumbers the whole list.
        private func renumber(_ owner: Int64, _ step: Int64) throws(EngineError) {
            var values: [Int64] = []
            while try lastPlace(owner) != nil {
                values.append(value)
                try LMDBEnvironment.check(mdb_cursor_del(handle, 0))
            }
            for (number, value) in values.reversed().enumerated() {
                try put(owner, Int64(number) * step, value, flags: MDB_NOOVERWRITE)
            }
        }
    }
#endif
