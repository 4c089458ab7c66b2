import StrataFiles

@testable import StrataStorage

/// Small stores as bytes, in every shape that a data file and its log can have.
enum FileImages {
    struct Image {
        var data: [UInt8]
        var log: [UInt8]?
        var model: StoreModel
        /// States that a crash may have left: from the last acknowledged one back.
        var states: [StoreModel] = []
        /// The offset of the last commit's batch in the log.
        var lastGroup = Int.max
        var cipher: (any Cipher)?
        /// The log as it was some commits before, or before the last checkpoint.
        var olderLog: [UInt8]?

        /// Copies both files. The bytes that the log gained since the last copy are its last batch.
        mutating func take(_ store: Store) throws {
            guard let disk = store.fileSystem as? Disk else { return }
            data = try disk.bytes(FileImages.path) ?? []
            let before = log ?? []
            if !before.isEmpty && olderLog == nil { olderLog = before }
            log = try disk.bytes(Store.logPath(FileImages.path))
            guard let log else { return }
            let first = zip(before, log).enumerated().first { $1.0 != $1.1 }?.offset
            lastGroup = first.map { $0 / LogFormat.batchHeaderSize * LogFormat.batchHeaderSize } ?? lastGroup
        }
    }

    static var options: StoreOptions {
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 24
        options.logHalfBytes = 8 << 10
        options.growth = .fixed(4096)
        return options
    }

    static func options(_ cipher: (any Cipher)?) -> StoreOptions {
        var options = options
        options.cipher = cipher
        return options
    }

    static func options(on disk: any FileSystem, _ cipher: (any Cipher)? = nil) -> StoreOptions {
        var options = options(cipher)
        options.fileSystem = disk
        return options
    }

    static func open(_ disk: any FileSystem) throws(StorageError) -> Store {
        try Store.open(path: path, options: options(on: disk))
    }

    static let path = "store"

    /// A real file.
    static func contents(of path: String) throws -> [UInt8] {
        let file = try POSIXFileSystem().open(path, .read)
        defer { file.close() }
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return bytes
    }

    /// Files in memory. A store treats them as files on a disk unless `isPersistent` is false.
    final class Disk: FileSystemLayer {
        let base: MemoryFileSystem
        let isPersistent: Bool

        init(capacity: Int = 1 << 24, isPersistent: Bool = true) {
            base = MemoryFileSystem(capacity: capacity)
            self.isPersistent = isPersistent
        }

        convenience init(_ image: Image) throws {
            self.init()
            try put(image.data, at: FileImages.path)
            if let log = image.log { try put(log, at: Store.logPath(FileImages.path)) }
        }

        func put(_ bytes: [UInt8], at path: String) throws {
            let file = try base.open(path, .createNew)
            defer { file.close() }
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        }

        func bytes(_ path: String) throws -> [UInt8]? {
            guard let status = try base.status(path) else { return nil }
            let file = try base.open(path, .read)
            defer { file.close() }
            var bytes = [UInt8](repeating: 0, count: Int(status.size))
            _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
            return bytes
        }

        /// The data file and log of a process that dies now.
        func left(capacity: Int) throws -> Disk {
            let copy = Disk(capacity: capacity)
            for path in [FileImages.path, Store.logPath(FileImages.path)] {
                if let bytes = try bytes(path) { try copy.put(bytes, at: path) }
            }
            return copy
        }

        func syncDirectory(of path: String) throws(FileError) {}
    }

    /// A store that was closed.
    static func clean(seed: UInt64, steps: Int, _ cipher: (any Cipher)? = nil) throws -> Image {
        var (image, store) = try build(seed: seed, steps: steps, commits: 6, cipher)
        try store.close()
        try image.take(store)
        image.lastGroup = .max
        return image
    }

    /// A store whose process died with commits in the log.
    static func withLog(
        seed: UInt64, steps: Int, commits: Int = 6, _ cipher: (any Cipher)? = nil
    ) throws -> Image {
        var (image, store) = try build(seed: seed, steps: steps, commits: commits, cipher)
        store.checkpoints.log.close()
        try image.take(store)
        return image
    }

    /// A store with collections whose process died with changes of their elements in the log.
    static func withCollections(seed: UInt64, commits: Int = 9) throws -> Image {
        let store = try open(Disk())
        var history = CollectionHistory(seed: seed)
        history.longest = 12
        for round in 0..<commits {
            let transaction = try store.beginWrite()
            if round == 0 {
                try transaction.apply(schema: CollectionHistory.schema)
                for _ in 0..<20 { try history.step(transaction) }
            }
            for _ in 0..<5 { try history.edit(transaction) }
            try transaction.commit()
        }
        store.checkpoints.log.close()
        var image = Image(data: [], model: StoreModel(tables: [[:], [:]]))
        try image.take(store)
        return image
    }

    /// A store whose process died in a checkpoint: it had reserved pages and the other half of the log, and not written
    /// its slot.
    static func midCheckpoint(seed: UInt64, steps: Int, _ cipher: (any Cipher)? = nil) throws -> Image {
        var (image, store) = try build(seed: seed, steps: steps, commits: 6, cipher)
        try store.gate.whileHeld { (_) throws in
            try store.checkpoints.waitUntilDone()
            let version = store.commits.newest
            _ = try store.checkpoints.prepare(version)
        }
        var history = StoreHistory(seed: seed &+ 77)
        history.model = image.model
        for _ in 0..<2 {
            try image.take(store)
            try commit(&history, store, steps: 3)
            image.states.append(history.model)
        }
        image.model = history.model
        try image.take(store)
        return image
    }

    /// Copies of both files after each commit of one life, through several checkpoints, and after the close.
    static func series(seed: UInt64, commits: Int) throws -> [Image] {
        let disk = Disk()
        let store = try open(disk)
        var history = StoreHistory(seed: seed)
        history.keyRange = 60
        var images: [Image] = []
        func note(_ model: StoreModel) throws {
            images.append(
                Image(data: try disk.bytes(path) ?? [], log: try disk.bytes(Store.logPath(path)), model: model))
        }
        for number in 0..<commits {
            let transaction = try store.beginWrite()
            if number == 0 { try transaction.apply(schema: StoreHistory.schema) }
            for _ in 0..<8 { try history.step(transaction) }
            try transaction.commit()
            try store.gate.whileHeld { (_) throws in try store.checkpoints.waitUntilDone() }
            try note(history.model)
        }
        try store.close()
        try note(history.model)
        return images
    }

    private static func build(
        seed: UInt64, steps: Int, commits: Int, _ cipher: (any Cipher)?
    ) throws -> (Image, Store) {
        let store = try Store.open(path: path, options: options(on: Disk(), cipher))
        var history = StoreHistory(seed: seed)
        history.keyRange = 60
        var image = Image(data: [], log: nil, model: history.model, states: [history.model], cipher: cipher)
        for number in 0..<commits {
            try image.take(store)
            let transaction = try store.beginWrite()
            if number == 0 { try transaction.apply(schema: StoreHistory.schema) }
            for _ in 0..<(number == 0 ? steps : 4) { try history.step(transaction) }
            try transaction.commit()
            image.states.append(history.model)
        }
        image.model = history.model
        return (image, store)
    }

    private static func commit(_ history: inout StoreHistory, _ store: Store, steps: Int) throws {
        let transaction = try store.beginWrite()
        for _ in 0..<steps { try history.step(transaction) }
        try transaction.commit()
    }
}
