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
// Options behind: timeout=MICROSECONDS, rows=NUMBER (row 0 is the sum of the others)

let arguments = CommandLine.arguments
let path = arguments.count > 2 ? arguments[1] : ""

func say(_ byte: UInt8) {
    var byte = byte
    _ = write(1, &byte, 1)
}

func option(_ name: String) -> Int? {
    arguments.first { $0.hasPrefix(name + "=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
}

func isStopped() -> Bool { access(path + ".stop", F_OK) == 0 }

struct Wrong: Error { var text: String }

func options() -> StoreOptions {
    var options = StoreOptions()
    options.limits = .tiny
    options.mapReserve = 1 << 30
    options.logSegmentBytes = 16 << 10
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
    let text = [UInt8](repeating: 65, count: count % 3 == 0 ? 9000 : 10)
    try text.withUnsafeBytes { try transaction.set(0, RowKey(Int64(row)), 1, .bytes($0)) }
    return transaction
}

func run() throws {
    let store = try Store.open(path: path, options: options())
    try prepare(store)
    let row = arguments.count > 3 ? Int(arguments[3]) ?? 1 : 1
    switch arguments[2] {
    case "increment":
        say(UInt8(ascii: "r"))
        while !isStopped() {
            try change(store, row).commit()
            say(UInt8(ascii: "a"))
            _ = try check(try store.snapshot().view)
        }
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
}

do { try run() } catch StorageError.busy {
    say(UInt8(ascii: "b"))
} catch {
    let text = "\(error)\n"
    _ = text.withCString { write(2, $0, text.utf8.count) }
    exit(1)
}
