import Foundation

/// The same workloads as the programs in C: the same batches, warm-up and counting.
struct Workloads {
    let request: Request
    private var choices: Choices
    private let files = FileManager.default

    init(_ request: Request) throws {
        self.request = request
        choices = Choices(seed: request.seed)
        try files.createDirectory(atPath: request.directory, withIntermediateDirectories: true)
    }

    mutating func run() throws {
        switch request.workload {
        case "bulk-insert": try bulkInsert()
        case "commit": try commit()
        case "commit-threads": try commitThreads()
        case "point-read": try pointRead()
        case "column-sum": try columnSum()
        case "update-batch": try updateBatch()
        case "delete-half": try deleteHalf()
        // Makes a new copy, as a case of Assay does: an earlier open may have left files behind.
        case "prepare": _ = try work(true)
        case "load": try loadHere()
        case "open": try openAndRead()
        default: Request.wrong("no workload \(request.workload)")
        }
    }

    private func report(_ metric: String, _ value: Double, _ operations: Int, withClose: Double? = nil) {
        var line = "{\"engine\":\"strata\",\"version\":\"0.1\",\"workload\":\"\(request.workload)\","
        line += "\"metric\":\"\(metric)\",\"value\":\(String(format: "%.6g", value)),\"operations\":\(operations)"
        if let withClose { line += ",\"with_close\":\(String(format: "%.6g", withClose))" }
        print(line + "}")
    }

    // MARK: Databases

    /// Another process loads the rows, so that the measured one has no warm cache.
    private func prepared() throws -> String {
        let path = "\(request.directory)/prepared-strata-\(request.rows)"
        let done = path + ".done"
        if files.fileExists(atPath: done) { return path }
        try remove(path)
        try files.createDirectory(atPath: path, withIntermediateDirectories: true)
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        child.arguments = ["load", "--directory", path, "--rows", String(request.rows)]
        try child.run()
        child.waitUntilExit()
        guard child.terminationStatus == 0 else { fail("the database could not be prepared") }
        try Data().write(to: URL(fileURLWithPath: done))
        sync()
        return path
    }

    /// What the process does that loads the rows.
    private func loadHere() throws {
        let database = try Database(request.directory, request)
        try database.load(People(0..<request.rows))
        expect("prepared rows", request.rows, database.count())
        database.close()
    }

    private func remove(_ path: String) throws {
        if files.fileExists(atPath: path) { try files.removeItem(atPath: path) }
    }

    private func work(_ isPrepared: Bool) throws -> String {
        let path = request.directory + "/work"
        try remove(path)
        if isPrepared {
            try files.copyItem(atPath: try prepared(), toPath: path)
            sync()
        } else {
            try files.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        return path
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    // MARK: Workloads

    private func bulkInsert() throws {
        let people = People(0..<request.rows)
        var (acknowledged, closed): ([Double], [Double]) = ([], [])
        for _ in 0..<request.rounds {
            let path = try work(false)
            // A Realm creates its tables while it opens, and the other engines' loads include that as well.
            let start = now()
            var database = try Database(path, request)
            try database.load(people)
            acknowledged.append(Double(now() - start) / 1e9)
            database.close()
            closed.append(Double(now() - start) / 1e9)
            database = try Database(path, request)
            expect("rows", request.rows, database.count())
            expect("sum of age", people.ages.reduce(0, +), database.sumAges())
            database.close()
        }
        let rows = Double(request.rows)
        report("rows_per_second", rows / median(acknowledged), request.rows, withClose: rows / median(closed))
    }

    private func checkInserted(_ path: String, _ ids: Range<Int>, total: Int) throws {
        let database = try Database(path, request)
        expect("rows", total, database.count())
        expect("sum of what was inserted", ids.reduce(0) { $0 + People.age($1) }, database.readAges(Array(ids)))
        database.close()
    }

    private func commit() throws {
        let base = request.isPrepared ? request.rows : 0
        let path = try work(request.isPrepared)
        let end = base + request.commits
        let warm = max(1, min(1_000, request.commits / 20))
        let (people, warmUp) = (People(base..<end), People(end..<(end + warm)))
        let database = try Database(path, request)
        try database.insertEach(warmUp)
        let start = now()
        try database.insertEach(people)
        let seconds = Double(now() - start) / 1e9
        database.close()
        try checkInserted(path, base..<end, total: end + warm)
        report("commits_per_second", Double(request.commits) / seconds, request.commits)
    }

    private func commitThreads() throws {
        let (request, base) = (request, request.rows)
        let path = try work(true)
        let each = request.commits / request.threads
        let line = Rendezvous(request.threads)
        let lanes = (0..<request.threads).map { index in
            Lane(path, request, people: People((base + index * each)..<(base + (index + 1) * each)), line: line)
        }
        for lane in lanes { lane.start() }
        let times = lanes.map { $0.wait() }
        let start = times.map(\.start).min() ?? 0
        let end = times.map(\.end).max() ?? 0
        let count = each * request.threads
        try checkInserted(path, base..<(base + count), total: base + count)
        report("commits_per_second", Double(count) / (Double(end - start) / 1e9), count)
    }

    private mutating func keys(_ count: Int) -> [Int] { (0..<count).map { _ in choices.below(request.rows) } }

    /// Doubles the size of a batch until it takes a millisecond, then runs up to `most` batches of that size, at least
    /// three, within a second.
    private func batches(
        from first: Int, maximum: Int, most: Int, _ time: (Int) -> UInt64
    ) -> (median: Double, operations: Int) {
        var nanoseconds: [Double] = []
        var size = first
        while true {
            let elapsed = time(size)
            if elapsed >= 50_000_000 { nanoseconds.append(Double(elapsed) / Double(size)) }
            guard elapsed < 1_000_000, size < maximum else { break }
            size = min(maximum, size * 2)
        }
        let limit = now() + 1_000_000_000
        while nanoseconds.count < most {
            if nanoseconds.count >= 3 && now() > limit { break }
            nanoseconds.append(Double(time(size)) / Double(size))
        }
        return (median(nanoseconds), nanoseconds.count * size)
    }

    private mutating func pointRead() throws {
        let database = try Database(try work(true), request)
        let checked = keys(min(request.rows, 10_000))
        expect("sum of what was read", checked.reduce(0) { $0 + People.age($1) }, database.readAges(checked))
        var choices = choices
        let rows = request.rows
        let timing = batches(from: 256, maximum: 1 << 17, most: 15) { count in
            let keys = (0..<count).map { _ in choices.below(rows) }
            let start = now()
            let sum = database.readAges(keys)
            let elapsed = now() - start
            expect("sum of what was read", keys.reduce(0) { $0 + People.age($1) }, sum)
            return elapsed
        }
        database.close()
        report("operation_ns", timing.median, timing.operations)
    }

    private func columnSum() throws {
        let database = try Database(try work(true), request)
        let expected = (0..<request.rows).reduce(0) { $0 + People.age($1) }
        expect("sum", expected, database.sumAges())
        let timing = batches(from: 1, maximum: 1 << 16, most: 9) { passes in
            let start = now()
            for _ in 0..<passes { expect("sum", expected, database.sumAges()) }
            return now() - start
        }
        database.close()
        report("rows_per_second", Double(request.rows) * 1e9 / timing.median, timing.operations * request.rows)
    }

    private mutating func updateBatch() throws {
        let path = try work(true)
        var database = try Database(path, request)
        var model = (0..<request.rows).map(People.age)
        var elapsed: UInt64 = 0
        for _ in 0..<request.transactions {
            let keys = keys(request.updates)
            let values = keys.map { _ in choices.below(100) }
            for (key, value) in zip(keys, values) { model[key] = value }
            let start = now()
            try database.update(keys, values)
            elapsed += now() - start
        }
        database.close()
        database = try Database(path, request)
        expect("sum after the updates", model.reduce(0, +), database.sumAges())
        database.close()
        let count = request.transactions * request.updates
        report("updates_per_second", Double(count) / (Double(elapsed) / 1e9), count)
    }

    private func deleteHalf() throws {
        let path = try work(true)
        var database = try Database(path, request)
        let keys = (0..<(request.rows / 2)).map { $0 * 2 + 1 }
        let start = now()
        try database.delete(keys)
        let seconds = Double(now() - start) / 1e9
        database.close()
        let closed = Double(now() - start) / 1e9
        database = try Database(path, request)
        expect("rows that are left", request.rows - keys.count, database.count())
        let left = stride(from: 0, to: request.rows, by: 2)
        expect("sum of what is left", left.reduce(0) { $0 + People.age($1) }, database.sumAges())
        database.close()
        let count = Double(keys.count)
        report("rows_per_second", count / seconds, keys.count, withClose: count / closed)
    }

    /// Does what Assay does before it times an open: maps the pages of linked files, their variables and the heap,
    /// makes the allocator map large blocks separately, and fills the processor's caches with other memory. The caches
    /// then contain nothing of the database and the engine, even if a process just before this one ran the same code.
    private func prepareProcess() {
        if let list = fopen("/proc/self/maps", "r") {
            var line = [CChar](repeating: 0, count: 8192)
            var fileEnd: UInt = 0
            while fgets(&line, Int32(line.count), list) != nil { mapPages(of: line, fileEnd: &fileEnd) }
            fclose(list)
        }
        mapLargeBlocks()
        let bytes = 32 << 20
        let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { fail("no memory") }
        memset(memory, 1, bytes)
        munmap(memory, bytes)
    }

    /// Makes the allocator map each block of 128 KiB and more separately. Swift's module of libc lacks `mallopt`.
    private func mapLargeBlocks() {
        typealias SetOption = @convention(c) (Int32, Int32) -> Int32
        let threshold: Int32 = -3  // M_MMAP_THRESHOLD
        guard let setOption = dlsym(nil, "mallopt") else { fail("the C library has no mallopt") }
        guard unsafeBitCast(setOption, to: SetOption.self)(threshold, 128 << 10) == 1 else {
            fail("mallopt refuses a threshold for large blocks")
        }
    }

    /// Maps the pages of a private mapping of a file, of variables, or of the heap; does nothing for other lines.
    ///
    /// - Parameter fileEnd: the end of the last mapping of a file, where the loader maps variables that begin as zeros.
    private func mapPages(of line: [CChar], fileEnd: inout UInt) {
        let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split(separator: " ")
        guard words.count > 1, words[1].hasPrefix("r"), words[1].hasSuffix("p") else { return }
        let bounds = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard bounds.count == 2, bounds[0] < bounds[1] else { return }
        let name = words.count > 5 ? words[5] : ""
        let isFile = name.hasPrefix("/")
        guard isFile || bounds[0] == fileEnd || name.hasPrefix("[heap]") else { return }
        if isFile { fileEnd = bounds[1] }
        // MADV_POPULATE_WRITE and MADV_POPULATE_READ
        let advice: Int32 = words[1].contains("w") ? 23 : 22
        madvise(UnsafeMutableRawPointer(bitPattern: bounds[0]), Int(bounds[1] - bounds[0]), advice)
    }

    /// Times from the call of open to the first value, on the copy that `prepare` made.
    private mutating func openAndRead() throws {
        let key = choices.below(request.rows)
        prepareProcess()
        let started = now()
        let database = try Database(request.directory + "/work", request)
        let age = database.readAges([key])
        let elapsed = now() - started
        expect("age", People.age(key), age)
        database.close()
        report("open_us", Double(elapsed) / 1e3, 1)
    }
}
