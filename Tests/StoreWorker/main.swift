import Platform
import StrataFiles
import StrataStorage
import Synchronization

// One of several processes on one store, for tests that kill and stop it. It writes a byte to standard output for each
// acknowledged commit, and for each event that a test waits for. The stop is a file PATH.stop that the test makes.
//
//     StoreWorker PATH increment ROW     adds 1 to ROW and to row 0 in one transaction, again and again until the stop
//     StoreWorker PATH once ROW          makes one such transaction
//     StoreWorker PATH hold ROW          makes one such transaction, and commits it only at the stop
//     StoreWorker PATH pin               pins the newest version (p), and reads it again and again until the stop
//     StoreWorker PATH watch             writes a byte for each version that its observer is notified of
//     StoreWorker PATH fork ROW          forks. In the child the parent's store refuses every use (f). The child opens
//                                        the store for itself and increments ROW (A). The parent increments row 1 (a)
//     StoreWorker PATH fork-idle         forks in the middle of a transaction; then both processes only wait
//     StoreWorker PATH fork-pin          pins the newest version without a lock, and forks. The child releases its copy
//                                        of the pin and ends (e). The parent waits for a file PATH.go that the test
//                                        makes, and then reads as under `pin` (p)
//     StoreWorker PATH grow ROW          increments ROW; the first half of the transactions inserts further rows, the
//                                        second deletes them, so that there is something to compact
//     StoreWorker PATH damage PAGE       notes a page as damaged, and acknowledges it at the stop
//     StoreWorker PATH copy              writes copies of the newest version and checks them, until the stop
//
// Options after these words:
//     rows=NUMBER                        of the table; row 0 is the sum of the others
//     times=NUMBER                       of increments; with `stay` it then waits for the stop
//     threads=NUMBER                     that increment
//     short                              makes no long values
//     unchecked                          does not read between the commits
//     timeout=MICROSECONDS               of a write
//     silence=MICROSECONDS               until the store takes another process for stopped
//     default                            the default limits and size of the log, instead of tiny ones
//     durability=NAME
//     launch, online                     compacts at the open, or while the store is in use
//     kill=POINT:PASSES                  sends itself SIGKILL at a point of ``StoppingFileSystem``
//     stop=POINT:PASSES                  the same with SIGSTOP
//     points=FILE                        writes the points that it passed to a file
//     mistake=NAME                       makes a planted mistake, in a build that has them

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

// Set first, since it is read only once.
if let mistake = text("mistake") { setenv("ASSAY_ZOO_MISTAKE", mistake, 1) }

func isStopped() -> Bool { access(path + ".stop", F_OK) == 0 }

struct Wrong: Error { var text: String }

func options() -> StoreOptions {
    var options = StoreOptions()
    if let stopping { options.fileSystem = stopping }
    options.mapReserve = 1 << 30
    if !arguments.contains("default") {
        options.limits = .tiny
        options.logHalfBytes = 16 << 10
    }
    options.writeTimeout = option("timeout")
    if let limit = option("silence") { options.silenceLimit = limit }
    switch text("durability") {
    case "periodic": options.durability = .periodic
    case "none": options.durability = .none
    default: options.durability = .full
    }
    if arguments.contains("launch") { options.compaction = .onLaunch { _, _ in true } }
    if arguments.contains("online") { options.compaction = .online(freeShare: 0.05) }
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
    try transaction.set(0, RowKey(Int64(row)), column: 0, to: .integer(count + 1))
    try transaction.set(0, RowKey(0), column: 0, to: .integer(total + 1))
    // Long and short values alternate, so that pages are allocated and freed.
    let isLong = count % 3 == 0 && !arguments.contains("short")
    let text = [UInt8](repeating: 65, count: isLong ? 9000 : 10)
    try text.withUnsafeBytes { try transaction.set(0, RowKey(Int64(row)), column: 1, to: .bytes($0)) }
    return transaction
}

func increment(_ store: Store, _ row: Int) throws {
    say(UInt8(ascii: "r"))
    let finished = Mutex(0)
    let others = max(1, option("threads") ?? 1) - 1
    for _ in 0..<others {
        _ = SystemScheduling().spawn("increment") {
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
    // Other processes may still ask this one for turns.
    if option("times") != nil && arguments.contains("stay") {
        say(UInt8(ascii: "s"))
        while !isStopped() { usleep(1000) }
    }
}

/// Swift does not import `fork`, since its libraries limit what a child may do. This program examines that.
@_silgen_name("fork") func forkProcess() -> pid_t

func forkAndWrite(_ store: Store, _ row: Int) throws {
    let times = option("times") ?? 10
    let pinned = try store.snapshot()
    var transaction: WriteTransaction? = try change(store, 1)
    let child = forkProcess()
    if child == 0 {
        // Every use of the parent's store is refused here.
        for use in [
            { try transaction?.commit() }, { try store.beginWrite() }, { try store.snapshot() },
            { try store.checkInvariants() },
        ] as [() throws -> Any?] {
            do {
                _ = try use()
                throw Wrong(text: "the parent's store could be used")
            } catch StorageError.forked {
                say(UInt8(ascii: "f"))
            }
        }
        // Its pages are no longer mapped: an error, never old rows.
        do {
            _ = try check(pinned.view)
            throw Wrong(text: "the parent's snapshot could be read")
        } catch is StorageError {
            say(UInt8(ascii: "f"))
        }
        transaction = nil
        try store.close()
        let own = try Store.open(path: path, options: options())
        for _ in 0..<times {
            try change(own, row).commit()
            say(UInt8(ascii: "A"))
        }
        try own.close()
        say(UInt8(ascii: "C"))
        exit(0)
    }
    try transaction?.commit()
    say(UInt8(ascii: "a"))
    for _ in 1..<times {
        try change(store, 1).commit()
        say(UInt8(ascii: "a"))
    }
    _ = try check(pinned.view)
    try waitForEnd(of: child)
}

/// - Throws: ``Wrong`` if the child was not started, or did not end by itself with the status 0.
func waitForEnd(of child: pid_t) throws {
    if child < 0 { throw Wrong(text: "no child: \(errno)") }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
        if errno != EINTR { throw Wrong(text: "the child cannot be waited for: \(errno)") }
    }
    if status != 0 { throw Wrong(text: "the child ended with \(status)") }
}

func forkAndRead(_ store: Store) throws {
    // The store pins the first snapshot of a version under its monitor, and the next one without it.
    var pinned: Snapshot? = try store.snapshot()
    pinned = try store.snapshot()
    let child = forkProcess()
    if child == 0 {
        pinned = nil
        _exit(0)
    }
    try waitForEnd(of: child)
    say(UInt8(ascii: "e"))
    // Meanwhile this process pins nothing else.
    while access(path + ".go", F_OK) != 0 && !isStopped() { usleep(1000) }
    guard let pinned else { throw Wrong(text: "the snapshot is gone") }
    try read(store, pinned)
}

/// Reads a pinned version and the newest one in turns until the stop.
func read(_ store: Store, _ snapshot: Snapshot) throws {
    let total = try check(snapshot.view)
    say(UInt8(ascii: "p"))
    while !isStopped() {
        if try check(snapshot.view) != total { throw Wrong(text: "a pinned version changed") }
        _ = try check(try store.snapshot().view)
        usleep(500)
    }
}

func grow(_ store: Store, _ row: Int) throws {
    let times = option("times") ?? 10
    let text = [UInt8](repeating: 66, count: 1500)
    for round in 0..<(2 * times) {
        let transaction = try change(store, row)
        for key in 0..<20 as Range<Int64> {
            let key = RowKey(1000 + Int64(round % times) * 20 + key)
            if round >= times {
                try transaction.delete(0, key)
            } else {
                try text.withUnsafeBytes { text in
                    try [Cell.integer(1), .bytes(text)].withUnsafeBufferPointer {
                        try transaction.insert(0, key: key, $0)
                    }
                }
            }
        }
        try transaction.commit()
        say(UInt8(ascii: "a"))
        _ = try check(try store.snapshot().view)
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

func noteDamage(_ store: Store, page: UInt32) {
    let place = DamagedPlace(
        table: TableID(1), loss: .rows(0...1, count: nil), page: PageNumber(page), reason: .checksum)
    store.damage.note([place])
    say(UInt8(ascii: "d"))
    while !isStopped() { usleep(1000) }
    store.damage.acknowledge()
    say(UInt8(ascii: "k"))
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
    case "damage": noteDamage(store, page: UInt32(row))
    case "grow": try grow(store, row)
    case "fork": try forkAndWrite(store, row)
    case "fork-idle":
        let transaction = try change(store, row)
        if forkProcess() != 0 { say(UInt8(ascii: "f")) }
        // No process waits for the child once its parent is gone: the child ends when the store's directory is removed.
        while !isStopped() && access(path, F_OK) == 0 { usleep(1000) }
        withExtendedLifetime(transaction) {}
        exit(0)
    case "once":
        try change(store, row).commit()
        say(UInt8(ascii: "a"))
    case "hold":
        let transaction = try change(store, row)
        say(UInt8(ascii: "h"))
        while !isStopped() { usleep(1000) }
        // Its base version must still be there, however long this process was stopped.
        _ = try check(transaction.view)
        try transaction.commit()
        say(UInt8(ascii: "a"))
    case "pin": try read(store, try store.snapshot())
    case "fork-pin": try forkAndRead(store)
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
