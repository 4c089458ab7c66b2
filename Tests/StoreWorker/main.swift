import StrataFiles
import StrataStorage
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// One of several processes on one store, for tests that kill and stop it. Each acknowledged commit, and each thing that
// a test waits for, is a byte on standard output.
//
//     StoreWorker PATH increment ROW     until PATH.stop exists: adds 1 to a row and to row 0, in one transaction
//     StoreWorker PATH once ROW          the same, once
//     StoreWorker PATH hold ROW          begins the same, changes the rows, and sleeps before the commit
//     StoreWorker PATH pin               pins the newest version, says so, and reads it again and again until the stop
//     StoreWorker PATH watch             a byte for each version that it is told of
//     StoreWorker PATH copy              writes copies of the newest version and checks them, until the stop
// Options behind: timeout=MICROSECONDS, rows=NUMBER (row 0 is the sum of the others), times=NUMBER of increments, short
// (no long values), threads=NUMBER, unchecked (no reading between the commits), default (limits and size of the log),
// kill=POINT:PASSES or stop=POINT:PASSES (a signal to itself at a point of ``StoppingFileSystem``), points=FILE (a list
// of those that were passed)

let arguments = CommandLine.arguments
let path = arguments.count > 2 ? arguments[1] : ""

func say(_ byte: UInt8) {
    var byte = byte
    _ = write(1, &byte, 1)
}

func option(_ name: String) -> Int? {
    arguments.first { $0.hasPrefix(name + "=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
}

func text(_ name: String) -> String? {
    arguments.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
}

func stop(_ name: String, _ signal: Int32) -> StoppingFileSystem.Stop? {
    guard let words = text(name)?.split(separator: ":"), words.count == 2, let passes = Int(words[1]) else {
        return nil
    }
    return StoppingFileSystem.Stop(point: String(words[0]), passes: passes, signal: signal)
}

let stopping: StoppingFileSystem? =
    if let stop = stop("kill", SIGKILL) ?? stop("stop", SIGSTOP) {
        StoppingFileSystem(stop)
    } else {
        text("points") == nil ? nil : StoppingFileSystem(nil)
    }

func isStopped() -> Bool { access(path + ".stop", F_OK) == 0 }

struct Wrong: Error { var text: String }

func options() -> StoreOptions {
    var options = StoreOptions()
    if let stopping { options.fileSystem = stopping }
    options.mapReserve = 1 << 30
    if !arguments.contains("default") {
        options.limits = .tiny
        options.logSegmentBytes = 16 << 10
    }
    options.writeTimeout = option("timeout")
    return options
}

let rows = option("rows") ?? 8

func prepare(_ store: Store) throws {
    if store.newestVersion.rawValue > 0 { return }
    let transaction = try store.beginWrite()
    if transaction.view.schema.tables.isEmpty {
        try transaction.apply(
            schema: StoreSchema(
                userVersion: 1,
                tables: [
                    TableDefinition(
                        id: TableID(1), name: "Counter",
                        columns: [
                            ColumnDefinition(id: ColumnID(1), name: "count", type: .integer),
                            ColumnDefinition(id: ColumnID(2), name: "text", type: .bytes, isOptional: true),
                        ])
                ]))
        for row in 0..<rows {
            try [Cell.integer(0), .null].withUnsafeBufferPointer {
                try transaction.insert(0, key: RowKey(Int64(row)), $0)
            }
        }
    }
    try transaction.commit()
}

func value(_ view: ReadView, _ row: Int) throws -> Int64 {
    guard let place = try view.locate(0, RowKey(Int64(row))), let value = try view.integer(place, 0) else {
        throw Wrong(text: "row \(row) is gone")
    }
    return value
}

/// Row 0 is the sum of the others in every version.
func check(_ view: ReadView) throws -> Int64 {
    let sum = try (1..<rows).reduce(0) { try $0 + value(view, $1) }
    let total = try value(view, 0)
    if sum != total { throw Wrong(text: "rows add up to \(sum), row 0 says \(total)") }
    return total
}

func change(_ store: Store, _ row: Int) throws -> WriteTransaction {
    let transaction = try store.beginWrite()
    let total = try check(transaction.view)
    let count = try value(transaction.view, row)
    try transaction.set(0, RowKey(Int64(row)), 0, .integer(count + 1))
    try transaction.set(0, RowKey(0), 0, .integer(total + 1))
    // Long and short values by turns: pages are taken and given up.
    let isLong = count % 3 == 0 && !arguments.contains("short")
    let text = [UInt8](repeating: 65, count: isLong ? 9000 : 10)
    try text.withUnsafeBytes { try transaction.set(0, RowKey(Int64(row)), 1, .bytes($0)) }
    return transaction
}

func increment(_ store: Store, _ row: Int) throws {
    say(UInt8(ascii: "r"))
    let finished = Mutex(0)
    let others = max(1, option("threads") ?? 1) - 1
    for _ in 0..<others {
        SystemScheduling().spawn("increment") {
            var left = option("times") ?? .max
            while left > 0 && !isStopped() {
                left -= 1
                do { try change(store, row).commit() } catch { exit(2) }
                say(UInt8(ascii: "a"))
            }
            finished.withLock { $0 += 1 }
        }
    }
    let isUnchecked = arguments.contains("unchecked")
    var left = option("times") ?? .max
    while left > 0 && !isStopped() {
        left -= 1
        try change(store, row).commit()
        say(UInt8(ascii: "a"))
        if !isUnchecked { _ = try check(try store.snapshot().view) }
    }
    while finished.withLock({ $0 }) < others { usleep(1000) }
    // Stays to be asked.
    if option("times") != nil && arguments.contains("stay") {
        say(UInt8(ascii: "s"))
        while !isStopped() { usleep(1000) }
    }
}

func copy(_ store: Store) throws {
    say(UInt8(ascii: "r"))
    while !isStopped() {
        let copy = path + ".copy\(getpid())"
        try store.writeCopy(to: copy)
        let copied = try Store.open(path: copy, options: options())
        _ = try check(try copied.snapshot().view)
        try copied.checkInvariants()
        try copied.close()
        unlink(copy)
        say(UInt8(ascii: "k"))
    }
}

func listPoints() {
    if let file = text("points"), let stopping {
        let lines = stopping.points.map { "\($0.key):\($0.value)\n" }.sorted().joined()
        let descriptor = open(file, O_CREAT | O_WRONLY | O_TRUNC, 0o644)
        _ = lines.withCString { write(descriptor, $0, lines.utf8.count) }
        close(descriptor)
    }
}

func run() throws {
    let store = try Store.open(path: path, options: options())
    try prepare(store)
    let row = arguments.count > 3 ? Int(arguments[3]) ?? 1 : 1
    switch arguments[2] {
    case "increment": try increment(store, row)
    case "copy": try copy(store)
    case "once":
        try change(store, row).commit()
        say(UInt8(ascii: "a"))
    case "hold":
        let transaction = try change(store, row)
        say(UInt8(ascii: "h"))
        while !isStopped() { usleep(1000) }
        try transaction.commit()
        say(UInt8(ascii: "a"))
    case "pin":
        let snapshot = try store.snapshot()
        let total = try check(snapshot.view)
        say(UInt8(ascii: "p"))
        while !isStopped() {
            if try check(snapshot.view) != total { throw Wrong(text: "a pinned version changed") }
            _ = try check(try store.snapshot().view)
            usleep(500)
        }
    case "watch":
        let last = Mutex<UInt64>(0)
        let token = store.addObserver { notice in
            let isLater = last.withLock { last in
                defer { last = max(last, notice.version.rawValue) }
                return notice.version.rawValue > last
            }
            say(UInt8(ascii: isLater ? "v" : "!"))
        }
        say(UInt8(ascii: "r"))
        while !isStopped() { usleep(1000) }
        token.cancel()
    default: throw Wrong(text: "what is \(arguments[2])?")
    }
    try store.close()
    say(UInt8(ascii: "c"))
    listPoints()
}

do { try run() } catch StorageError.busy {
    say(UInt8(ascii: "b"))
} catch {
    let text = "\(error)\n"
    _ = text.withCString { write(2, $0, text.utf8.count) }
    exit(1)
}
