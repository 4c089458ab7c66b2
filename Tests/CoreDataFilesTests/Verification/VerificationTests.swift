#if SQLite
    import Foundation
    import Strata
    import Testing

    @testable import CoreDataFiles

    /// A comparison finds values that a wrong import would change: each is put into the file by hand.
    @Suite struct VerificationTests {
        enum Mistake: CaseIterable {
            case nullIsZero, zeroIsNull, nullIsEmpty, emptyIsNull, textIsOther, noDataIsNull, dateIsNeighbour
            case dateHasOtherEpoch, decimalIsRounded, decimalHasOtherPower, uuidIsTurned, flagIsTurned, nullIsFalse
            case numberIsRounded, linkIsLost, linkIsOther, listIsTurned, listIsShort, orderIsTurned, entityIsOther
            case versionIsOther, rowIsLost

            func make(_ realm: Realm) throws {
                let memo = try #require(realm.object(ofType: Note.self, forPrimaryKey: 1))
                let letter = try #require(realm.object(ofType: Note.self, forPrimaryKey: 2))
                let third = try #require(realm.object(ofType: Note.self, forPrimaryKey: 3))
                let folder = try #require(realm.object(ofType: Folder.self, forPrimaryKey: 1))
                let second = try #require(realm.object(ofType: Folder.self, forPrimaryKey: 2))
                switch self {
                case .nullIsZero: third.rank = 0
                case .zeroIsNull: letter.rank = nil
                case .nullIsEmpty: third.title = ""
                case .emptyIsNull: letter.title = nil
                case .textIsOther: memo.title = "Grüße 日木"
                case .noDataIsNull: memo.body = nil
                case .dateIsNeighbour: memo.created = Date(timeIntervalSinceReferenceDate: (-0.125).nextUp)
                case .dateHasOtherEpoch: memo.memoDue = Date(timeIntervalSince1970: 86_400)
                case .decimalIsRounded: memo.price = try Decimal128(string: "1234567.1")
                case .decimalHasOtherPower: memo.price = try Decimal128(string: "12345671.25")
                case .uuidIsTurned: memo.identifier = memo.identifier.flatMap { UUID(uuidString: turned($0)) }
                case .flagIsTurned: folder.isOpen = false
                case .nullIsFalse: second.isOpen = false
                case .numberIsRounded: memo.weight = 1.0e300.nextDown
                case .linkIsLost: letter.folder = nil
                case .linkIsOther: letter.folder = second
                case .listIsTurned: memo.tags.swapAt(0, 1)
                case .listIsShort: memo.tags.removeLast()
                case .orderIsTurned: folder.notes.swapAt(0, 1)
                case .entityIsOther: memo.coreDataEntity = "Letter"
                case .versionIsOther: memo.coreDataVersion = 2
                case .rowIsLost: realm.delete(third)
                }
            }

            private func turned(_ uuid: UUID) -> String {
                let bytes = uuid.uuid
                return UUID(
                    uuid: (
                        bytes.3, bytes.2, bytes.1, bytes.0, bytes.5, bytes.4, bytes.7, bytes.6, bytes.8, bytes.9,
                        bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15
                    )
                ).uuidString
            }
        }

        @Test("a value in the file that differs from the store is found", arguments: Mistake.allCases)
        func mistake(_ mistake: Mistake) throws {
            let folder = try StoreFolder()
            try folder.make().finish()
            _ = try folder.importing()
            #expect(try folder.verifying().isEqual)
            do {
                let realm = try folder.realm()
                try realm.write { try mistake.make(realm) }
            }
            let verified = try folder.verifying()
            #expect(!verified.isEqual)
            // The list that contained the lost row differs, too.
            let wanted = mistake == .rowIsLost ? 2 : 1
            #expect(verified.findings.differences == wanted, "\(verified.findings.summary)")
        }

        @Test("a decimal is equal from text and from the file's bytes, and another one is not")
        func decimals() throws {
            let texts = [
                "0", "1", "-1", "1.50", "10", "0.001", "-12.5e3", "9999999999999999999999999999999999",
                "123456789012345678901234567890.1234", "1e-30", "18446744073709551616", "1e40",
            ]
            for text in texts {
                let bytes = try #require(DecimalBytes.bytes(text), "\(text)")
                let read = bytes.withUnsafeBytes { CanonicalValues.Decimal(bytes: $0) }
                #expect(read == CanonicalValues.Decimal(text: text), "\(text)")
                for other in texts where other != text {
                    #expect(read != CanonicalValues.Decimal(text: other), "\(text) and \(other)")
                }
            }
            #expect(CanonicalValues.Decimal(text: "1.50") == CanonicalValues.Decimal(text: "1.5"))
            for text in ["", "-", ".", "1.2.3", "ten", "1e", "1e99999999999999999999"] {
                #expect(CanonicalValues.Decimal(text: text) == nil, "\(text)")
            }
        }

        @Test("a value of any type round-trips through the file's bytes, and flipped bytes cause no crash")
        func values() throws {
            let value = KeyedArchive.Plain.dictionary([
                "list": .array([.null, .integer(-3), .string(""), .array([]), .data([]), .real(-0.5)]),
                "": .dictionary([:]), "date": .date(12.5), "flag": .bool(true), "id": .uuid([UInt8](0..<16)),
                "text": .string("Grüße"), "data": .data([1, 2, 3]),
            ])
            let bytes = AnyBytes.bytes(value)
            #expect(bytes.withUnsafeBytes { CanonicalValues.value($0) } == value)
            for place in bytes.indices {
                for mask: UInt8 in [1, 16, 128, 255] {
                    var other = bytes
                    other[place] ^= mask
                    _ = other.withUnsafeBytes { CanonicalValues.value($0) }
                    _ = other[..<place].withUnsafeBytes { CanonicalValues.value($0) }
                }
            }
        }

        @Test("the canonical hash distinguishes null, zero, empty bytes and neighbouring values")
        func hashes() {
            func hash(_ add: (inout RowHash) -> Void) -> UInt64 {
                var hash = RowHash()
                add(&hash)
                return hash.value
            }
            func bytes(_ bytes: [UInt8]) -> UInt64 {
                hash { (hash: inout RowHash) in bytes.withUnsafeBytes { hash.add(bytes: $0) } }
            }
            func plain(_ value: KeyedArchive.Plain) -> UInt64 { hash { $0.add(value) } }
            var hashes = [bytes([]), bytes([0]), bytes([0, 0]), hash { $0.addNull() }]
            for number: Int64 in [0, 1] { hashes.append(hash { $0.add(integer: number) }) }
            for number in [0, -0.0, 1, 1.0.nextUp] { hashes.append(hash { $0.add(double: number) }) }
            for value: KeyedArchive.Plain in [
                .null, .string(""), .bool(false), .array([]), .dictionary([:]), .date(0),
            ] {
                hashes.append(plain(value))
            }
            // Null is null, also for a value of any type.
            #expect(Set(hashes).count == hashes.count - 1)
        }
    }
#endif
