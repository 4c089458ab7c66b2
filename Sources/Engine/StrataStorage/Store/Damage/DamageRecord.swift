internal import StrataFiles

/// The file `NAME.damage` beside a store: the damage found in it, and how much of it the program has acknowledged.
///
/// Text, one entry a line. The first line is `strata-damage 1` and the store's id, so that the record of another store
/// at the same path is ignored. Then, in the order of discovery: `place`, page, reason, table, and the loss; and
/// `acknowledged`, which covers every line before it. Lines are only appended. Other lines are ignored.
///
/// Processes that append exclude each other by a lock on a byte of the file. Concurrency: a value; each call opens the
/// file anew.
struct DamageRecord {
    let path: String
    let storeID: RandomID
    let fileSystem: any FileSystem

    /// Path of the record of the store at `storePath`.
    static func path(_ storePath: String) -> String { storePath + ".damage" }

    /// Most places that a record has. Further ones are known only to the process that found them.
    static let limit = 4096
    /// Size that a record of that many places never reaches.
    private static let largestFile: Int64 = 1 << 20
    private static let lockByte: Int64 = 1 << 62
    /// Microseconds that a process waits for another one that appends.
    private static let patience = 1_000_000

    struct Contents {
        var places: [DamagedPlace] = []
        /// Count of acknowledged places, which are the first ones.
        var acknowledged = 0
    }

    /// - Returns: nil if there is no record of this store.
    func read() throws(FileError) -> Contents? {
        // A link, or any other file that is not regular, is no record.
        guard try fileSystem.status(path)?.isRegularFile == true else { return nil }
        let file = try fileSystem.open(path, .read)
        defer { file.close() }
        return parse(try text(of: file))
    }

    /// Appends what `lines` returns for the present contents, and syncs it: places, and whether all places by then are
    /// acknowledged. The record of another store is overwritten.
    /// - Returns: the contents with the new lines.
    /// - Throws: ``FileError/isKeptOut`` if another process appends for longer than a second.
    func add(
        beside store: String, _ scheduling: any Scheduling, _ lines: (Contents) -> (places: [DamagedPlace], isAck: Bool)
    ) throws(FileError) -> Contents {
        let file = try openForAdding(beside: store)
        defer { file.close() }
        let deadline = scheduling.deadline(after: Self.patience)
        while try !file.tryLock(byte: Self.lockByte, exclusive: true) {
            if scheduling.remaining(until: deadline) == 0 { throw FileError.keptOut(path: path) }
            scheduling.pause(microseconds: 1000)
        }
        var end = try file.size()
        var contents = Contents()
        let text = try text(of: file)
        if let known = parse(text) {
            contents = known
        } else {
            try file.truncate(to: 0)
            end = 0
        }
        let (places, isAck) = lines(contents)
        var new = end == 0 ? header : ""
        for place in places.prefix(max(0, Self.limit - contents.places.count)) {
            new += line(place)
            contents.places.append(place)
        }
        if isAck, contents.acknowledged < contents.places.count {
            new += "acknowledged\n"
            contents.acknowledged = contents.places.count
        }
        if !new.isEmpty {
            // A process that died may have left an unfinished line.
            try write((end == 0 || text.hasSuffix("\n") ? "" : "\n") + new, to: file, at: end)
            try file.syncData()
            try fileSystem.syncDirectory(of: path)
        }
        return contents
    }

    private func openForAdding(beside store: String) throws(FileError) -> any File {
        if let status = try fileSystem.status(path) {
            if status.isRegularFile { return try fileSystem.open(path, .write) }
            try fileSystem.remove(path)
        }
        do throws(FileError) { return try fileSystem.open(path, .createBeside(store)) } catch {
            // Another process created the file first.
            guard error.isAlreadyThere else { throw error }
            return try fileSystem.open(path, .write)
        }
    }

    private func write(_ text: String, to file: any File, at offset: Int64) throws(FileError) {
        var failure: FileError?
        Array(text.utf8).withUnsafeBytes { bytes in
            do throws(FileError) { try file.write(bytes, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func text(of file: any File) throws(FileError) -> String {
        let count = Int(min(try file.size(), Self.largestFile))
        var failure: FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(FileError) {
                initialized = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Lines

    private var header: String { "strata-damage 1 \(storeID.first) \(storeID.second)\n" }

    private func line(_ place: DamagedPlace) -> String {
        let table = place.table.map { "\($0.rawValue)" } ?? "-"
        let loss =
            switch place.loss {
            case .rows(let keys, let count):
                "rows \(keys.lowerBound) \(keys.upperBound)" + (count.map { " \($0)" } ?? "")
            case .value(let row, let column): "value \(row)" + (column.map { " \($0)" } ?? "")
            case .entries(let column): "entries \(column)"
            case .unknown: "unknown"
            }
        return "place \(place.page.rawValue) \(place.reason.rawValue) \(table) \(loss)\n"
    }

    /// - Returns: nil for the record of another store, and for any other file.
    private func parse(_ text: String) -> Contents? {
        let lines = text.split(separator: "\n")
        guard let first = lines.first, first + "\n" == header else { return nil }
        var contents = Contents()
        for line in lines.dropFirst() {
            let words = line.split(separator: " ").map(String.init)
            if words == ["acknowledged"] {
                contents.acknowledged = contents.places.count
            } else if words.first == "place", contents.places.count < Self.limit, let place = Self.place(words) {
                contents.places.append(place)
            }
        }
        return contents
    }

    private static func place(_ words: [String]) -> DamagedPlace? {
        guard words.count >= 5, let page = UInt32(words[1]), let reason = StorageError.Corruption(rawValue: words[2]),
            let loss = loss(Array(words[4...]))
        else { return nil }
        return DamagedPlace(
            table: UInt32(words[3]).map { TableID($0) }, loss: loss, page: PageNumber(page), reason: reason)
    }

    private static func loss(_ words: [String]) -> DamagedPlace.Loss? {
        let numbers = words.dropFirst().compactMap { Int64($0) }
        guard numbers.count == words.count - 1 else { return nil }
        switch (words[0], numbers.count) {
        case ("rows", 2) where numbers[0] <= numbers[1]: return .rows(numbers[0]...numbers[1], count: nil)
        case ("rows", 3) where numbers[0] <= numbers[1] && numbers[2] >= 0:
            return .rows(numbers[0]...numbers[1], count: Int(numbers[2]))
        case ("value", 1): return .value(row: numbers[0], column: nil)
        case ("value", 2): return UInt16(exactly: numbers[1]).map { .value(row: numbers[0], column: $0) }
        case ("entries", 1): return UInt16(exactly: numbers[0]).map { .entries(column: $0) }
        case ("unknown", 0): return .unknown
        default: return nil
        }
    }
}
