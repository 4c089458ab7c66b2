import Measuring
import StrataFiles
import Testing

@testable import StrataRepair
@testable import StrataStorage
@testable import StrataStorageTests

#if canImport(Glibc)
    import Platform

    /// A file of 370 KB was extended to 100 GB, and both its slots were lost: on a file system in memory reading each
    /// hole once allocated it, until the kernel killed the process at 22 GB.
    @Suite(.serialized)
    struct SparseFileTests {
        private static let folder = "/dev/shm"
        private static let isInMemory: Bool = {
            guard let mounts = fopen("/proc/mounts", "r") else { return false }
            defer { fclose(mounts) }
            var line = [CChar](repeating: 0, count: 4096)
            while fgets(&line, Int32(line.count), mounts) != nil {
                let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                    .split(separator: " ")
                if words.count > 2, words[1] == folder, words[2] == "tmpfs" { return true }
            }
            return false
        }()
        private static let length: Int64 = 100 << 30

        /// The allocated bytes of a file.
        private static func taken(_ path: String) -> Int {
            var found = stat()
            return stat(path, &found) == 0 ? Int(found.st_blocks) * 512 : 0
        }

        private static func options(_ cipher: (any Cipher)?) -> StoreOptions {
            var options = StoreOptions()
            options.cipher = cipher
            return options
        }

        /// A store with 400 rows and long values, extended to ``length``; without header slots unless `keepsSlots`.
        private static func make(_ path: String, _ cipher: (any Cipher)?, keepsSlots: Bool = false) throws {
            let store = try Store.open(path: path, options: options(cipher))
            let transaction = try store.beginWrite()
            try transaction.apply(
                schema: StoreSchema(table: "Text", [ColumnDefinition(id: ColumnID(1), name: "text", type: .bytes)]))
            for key in 0..<400 as Range<Int64> {
                let bytes = [UInt8](repeating: UInt8(97 + key % 20), count: key % 50 == 0 ? 30_000 : 20)
                try bytes.withUnsafeBytes { bytes in
                    try [Cell.bytes(bytes)].withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(key), $0) }
                }
            }
            try transaction.commit()
            try store.close()
            let file = try POSIXFileSystem().open(path, .write)
            defer { file.close() }
            let nothing = [UInt8](repeating: 0xEE, count: 60)
            if !keepsSlots {
                for slot in [0, Int64(Format.pageSize)] {
                    try nothing.withUnsafeBytes { try file.write($0, at: slot + 40) }
                }
            }
            try file.truncate(to: length)
        }

        // Each in its own process, since the test process's peak includes concurrent suites.

        @Test(
            "checking, salvaging and mending a sparse file of 100 GB takes little memory",
            .enabled(if: isInMemory, "there is no file system in memory at /dev/shm"), arguments: [false, true])
        func holes(isSealed: Bool) async {
            await #expect(processExitsWith: .success) { [isSealed = isSealed as Bool] in
                let holder = try TemporaryDirectory(in: Self.folder)
                defer { withExtendedLifetime(holder) {} }
                let directory = holder.path
                let cipher: (any Cipher)? = isSealed ? TestCipher(key: 5) : nil
                let path = directory + "/store"
                try Self.make(path, cipher)
                let (before, memory) = (Self.taken(path), ResourceUsage.now().peakResidentBytes)
                var settings = SalvageOptions()
                settings.cipher = cipher
                let found = try Salvage.examine(path, options: settings)
                try #require(found.rowsRecovered == 400)
                let report = try Salvage.run(from: path, to: directory + "/new", options: settings)
                try #require(report.isWhole && report.rowsRecovered == 400)
                try #require(Self.taken(directory + "/new") < 2 << 20)
                // The damaged file is kept, with its holes, and the new one takes its place.
                let store = try Repair.open(path: path, options: Self.options(cipher), onDamage: .salvage)
                try #require(try store.snapshot().view.rowCount(0) == 400)
                try store.close()
                try #require(Self.taken(path + ".damaged-1") <= before + 1 << 20)
                try #require(memory > 0 && ResourceUsage.now().peakResidentBytes - memory < 150 << 20)
                let kept = try POSIXFileSystem().status(path + ".damaged-1")
                try #require(kept?.size == Self.length)
            }
        }

        @Test(
            "checking, copying and salvaging a sparse file with valid slots takes little memory",
            .enabled(if: isInMemory, "there is no file system in memory at /dev/shm"))
        func sound() async {
            await #expect(processExitsWith: .success) {
                let holder = try TemporaryDirectory(in: Self.folder)
                defer { withExtendedLifetime(holder) {} }
                let directory = holder.path
                let path = directory + "/store"
                try Self.make(path, nil, keepsSlots: true)
                let (before, memory) = (Self.taken(path), ResourceUsage.now().peakResidentBytes)
                var options = StoreOptions(readOnly: true)
                options.cipher = nil
                let store = try Store.open(path: path, options: options)
                try store.checkInvariants()
                try store.writeCopy(to: directory + "/copy")
                try store.close()
                _ = try Salvage.run(from: path, to: directory + "/new")
                try #require(Self.taken(path) <= before + 1 << 20)
                try #require(memory > 0 && ResourceUsage.now().peakResidentBytes - memory < 150 << 20)
            }
        }
    }
#endif
