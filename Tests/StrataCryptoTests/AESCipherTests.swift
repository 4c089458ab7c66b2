#if Crypto
    import StrataFiles
    import Testing

    @testable import StrataCrypto
    @testable import StrataStorage

    @Suite struct AESCipherTests {
        private static let key = (0..<64).map { UInt8($0) }

        private static func cipher(_ key: [UInt8] = key, _ store: RandomID = RandomID(1, 2)) throws -> any Cipher {
            try EncryptionKey.cipher(key).derived(for: store)
        }

        private static func sealed(
            _ cipher: any Cipher, _ plain: [UInt8], _ nonce: Nonce = Nonce(high: 1, low: 2),
            _ context: SealContext = .page(9)
        ) -> ([UInt8], SealTag) {
            var bytes = [UInt8](repeating: 0, count: plain.count)
            let tag = plain.withUnsafeBytes { plain in
                bytes.withUnsafeMutableBytes { target -> SealTag in
                    guard let base = target.baseAddress else { return SealTag(0, 0) }
                    return cipher.seal(plain, to: base, nonce: nonce, context: context)
                }
            }
            return (bytes, tag)
        }

        private static func opened(
            _ cipher: any Cipher, _ sealed: [UInt8], _ tag: SealTag, _ nonce: Nonce = Nonce(high: 1, low: 2),
            _ context: SealContext = .page(9)
        ) -> [UInt8]? {
            var bytes = sealed
            let isWhole = bytes.withUnsafeMutableBytes { target in
                guard let base = target.baseAddress else { return false }
                return cipher.open(UnsafeRawBufferPointer(target), to: base, nonce: nonce, tag: tag, context: context)
            }
            return isWhole ? bytes : nil
        }

        @Test("a sealed message is opened only with its key, context and nonce") func roundTrip() throws {
            let plain = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let cipher = try Self.cipher()
            let (sealed, tag) = Self.sealed(cipher, plain)
            #expect(sealed != plain)
            #expect(Self.opened(cipher, sealed, tag) == plain)
            #expect(Self.opened(cipher, sealed, tag, Nonce(high: 1, low: 3)) == nil)
            #expect(Self.opened(cipher, sealed, tag, Nonce(high: 1, low: 2), .page(10)) == nil)
            #expect(Self.opened(cipher, sealed, SealTag(tag.first ^ 1, tag.second)) == nil)
            #expect(Self.opened(try Self.cipher(Self.key.reversed()), sealed, tag) == nil)
            #expect(Self.opened(try Self.cipher(Self.key, RandomID(1, 3)), sealed, tag) == nil)
            var flipped = sealed
            flipped[77] ^= 4
            #expect(Self.opened(cipher, flipped, tag) == nil)
        }

        /// Computed by Python's cryptography package with the same derivation, since a file must open on every machine.
        @Test("another implementation seals to the same bytes") func vector() throws {
            let (sealed, tag) = Self.sealed(try Self.cipher(), Array("sixteen bytes ok".utf8))
            #expect(sealed == Vector.sealed)
            #expect(tag == Vector.tag)
            #expect(try Self.cipher().keyCheck == Vector.keyCheck)
        }

        @Test("keys of another length are refused") func length() {
            #expect(throws: EncryptionKey.Refusal.size(32)) {
                try EncryptionKey.cipher([UInt8](repeating: 0, count: 32))
            }
        }

        @Test("a store with a real key reopens only with that key") func store() throws {
            let path = "/store"
            var options = StoreOptions(fileSystem: MemoryFileSystem())
            options.mapReserve = 1 << 28
            options.cipher = try EncryptionKey.cipher(Self.key)
            let keeper = try Store.open(path: path, options: options)
            let schema = StoreSchema(tables: [
                TableDefinition(
                    id: TableID(1), name: "T",
                    columns: [ColumnDefinition(id: ColumnID(1), name: "a", type: .integer)])
            ])
            let transaction = try keeper.beginWrite()
            try transaction.apply(schema: schema)
            for key in 0..<5000 as Range<Int64> {
                try withUnsafeTemporaryAllocation(of: Cell.self, capacity: 1) { cells in
                    cells.initialize(repeating: .integer(key * 3))
                    try transaction.insert(0, key: RowKey(key), UnsafeBufferPointer(cells))
                }
            }
            try transaction.commit()
            #expect(try keeper.snapshot().view.sum(0, 0).sum == 3 * 4999 * 5000 / 2)
            try keeper.checkInvariants()
            try keeper.close()
        }
    }
#endif
