import Foundation
import Strata
import Testing

@Suite struct EncryptionTests {
    private static let key = Data((0..<64).map { UInt8($0) })

    private static func configuration(_ file: TemporaryFile, _ key: Data?) -> Realm.Configuration {
        var configuration = file.configuration([Note.self])
        configuration.encryptionKey = key
        return configuration
    }

    private static func error(_ body: () throws -> Void) -> Realm.Error? {
        do {
            try body()
            return nil
        } catch { return error as? Realm.Error }
    }

    #if Crypto
        @Test("an encrypted file opens with its key, and with nothing else")
        func opensWithItsKeyOnly() throws {
            let file = TemporaryFile()
            do {
                let realm = try Realm(configuration: Self.configuration(file, Self.key))
                try realm.write { realm.add(Note("a secret between the two of us")) }
            }
            let bytes = try Data(contentsOf: file.url)
            #expect(bytes.range(of: Data("secret".utf8)) == nil)
            #expect(bytes.range(of: Data("Note".utf8)) == nil)
            for key in [nil, Data(repeating: 9, count: 64)] as [Data?] {
                let error = Self.error { _ = try Realm(configuration: Self.configuration(file, key)) }
                #expect(error?.code == .invalidDatabase, "\(error?.message ?? "none")")
            }
            #expect(try Data(contentsOf: file.url) == bytes)
            #expect(try Realm.schemaVersionAtURL(file.url, encryptionKey: Self.key) == 0)
            let realm = try Realm(configuration: Self.configuration(file, Self.key))
            #expect(realm.objects(Note.self).map(\.text) == ["a secret between the two of us"])
            let other = Self.error {
                _ = try Realm(configuration: Self.configuration(file, Data(repeating: 1, count: 64)))
            }
            #expect(other?.code == .alreadyOpen)
        }

        @Test("a copy has the requested key, or none")
        func copyHasRequestedKey() throws {
            let file = TemporaryFile()
            let copy = TemporaryFile()
            let plain = TemporaryFile()
            let realm = try Realm(configuration: Self.configuration(file, Self.key))
            try realm.write { realm.add(Note("copied")) }
            let newKey = Data(repeating: 3, count: 64)
            try realm.writeCopy(toFile: copy.url, encryptionKey: newKey)
            try realm.writeCopy(toFile: plain.url)
            let configured = TemporaryFile()
            try realm.writeCopy(configuration: Self.configuration(configured, newKey))
            for (place, key) in [(copy, newKey), (configured, newKey), (plain, nil)] as [(TemporaryFile, Data?)] {
                #expect(try schemaVersionAtURL(place.url, encryptionKey: key) == 0)
                let other = try Realm(configuration: Self.configuration(place, key))
                #expect(other.objects(Note.self).map(\.text) == ["copied"])
            }
        }

        @Test("a key for an unencrypted file is an error that names the cause")
        func keyForUnencryptedFile() throws {
            let file = TemporaryFile()
            do { _ = try Realm(configuration: Self.configuration(file, nil)) }
            let error = Self.error { _ = try Realm(configuration: Self.configuration(file, Self.key)) }
            #expect(error?.code == .invalidDatabase)
            #expect(error?.message.contains("not encrypted") == true)
        }
    #else
        @Test("a build without encryption names what is missing, and writes no file")
        func buildWithoutEncryption() throws {
            let file = TemporaryFile()
            let error = Self.error { _ = try Realm(configuration: Self.configuration(file, Self.key)) }
            #expect(error?.code == .invalidInput)
            #expect(error?.message.contains("libssl-dev") == true)
            #expect(!FileManager.default.fileExists(atPath: file.url.path))
        }
    #endif

    @Test("a key of another length is refused")
    func keyOfOtherLength() {
        let file = TemporaryFile()
        let error = Self.error { _ = try Realm(configuration: Self.configuration(file, Data([1, 2, 3]))) }
        #expect(error?.code == .invalidInput)
        #expect(error?.message.contains("64 bytes") == true)
    }
}
