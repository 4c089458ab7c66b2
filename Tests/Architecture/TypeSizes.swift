/// Limits the length of types over all their declarations and extensions. The limit for files does not, since a type
/// that is cut into files is as hard to understand as before.
///
/// A type over the limit is split by moving related state into a type of its own.
enum TypeSizes {
    /// The largest number of lines of a type in its target, nested types included.
    static let longestType = 600

    /// Types that may be longer, `Target: Type`, each with its reason.
    static let longTypes: [String: String] = [
        "Sources/Engine/Strata: RealmInstance":
            "reads the rows and classes of a version; advances to the next version and notifies its observers",
        "Sources/Engine/Strata: Realm": "what a program calls on an open database: it stores no state but its instance",
        "Sources/Engine/Strata: ObjectBase": "the class that all of a program's classes share",
        "Sources/Engine/Strata: RealmCollection":
            "what a program calls of every collection: no state, an extension for each floor",
        "Sources/Engine/Strata: ObjectSource":
            "a query with its caches; keys that observers follow, early rows and inverse links have types of their own",
        "Sources/Engine/StrataStorage: Group": "the layout of a row group, which its readers and its encoder share",
        "Sources/Engine/StrataStorage: ReadView":
            "what readers of a version call, with a function for each kind of answer",
        "Sources/Engine/StrataStorage: TableEditor":
            "rows of one table in a write: inserted, changed, deleted, written",
        "Sources/Harness/Reporting: RunDigest":
            "one value that all reports are made from; each table of it is a function alone",
        "Benchmarks/SQLiteEngine: SQLiteSession":
            "a connection's statements for each kind of work that the harness asks of a session",
    ]

    /// Lines of each type, by `Target: Type`.
    static func sizes(_ files: [(path: String, source: SwiftSource)]) -> [String: Int] {
        var sizes: [String: Int] = [:]
        for (path, source) in files {
            for outer in Declarations(source).outer where outer.kind != .value {
                sizes["\(Checkout.room(of: path)): \(outer.name)", default: 0] += outer.lines.count
            }
        }
        return sizes
    }

    static func violations(in files: [(path: String, source: SwiftSource)]) -> [Violation] {
        sizes(files).filter { $0.value > longestType && longTypes[$0.key] == nil }.sorted { $0.key < $1.key }.map {
            Violation(path: $0.key, rule: "\($0.value) lines in all, more than \(longestType)")
        }
    }

    // MARK: Types that were cut into files

    /// How many files `Type+More.swift` cut a type of their own target, by target. A number may fall and never rise. An
    /// extension of another target's type does not count.
    static let standingCuts: [String: Int] = [
        "Benchmarks/LMDBEngine": 2,
        "Benchmarks/ModelEngine": 2,
        "Benchmarks/RocksDBEngine": 3,
        "Benchmarks/SQLiteEngine": 8,
        "Benchmarks/StrataEngine": 7,
        "Sources/Engine/Strata": 22,
        "Sources/Engine/StrataStorage": 12,
        "Sources/Ground/Files": 1,
        "Sources/Ground/JSONText": 1,
        "Sources/Harness/FaultModel": 2,
        "Sources/Harness/Harness": 2,
        "Sources/Harness/Reporting": 2,
        "Sources/Harness/RunRecords": 1,
        "Sources/Harness/SimulatedDisk": 2,
        "Tests/ReportingTests": 1,
        "Tests/Simulation": 3,
        "Tests/StrataStorageTests": 1,
    ]

    /// The number of cuts of each target.
    static func cuts(_ files: [(path: String, source: SwiftSource)]) -> [String: [String]] {
        var types: [String: Set<String>] = [:]
        var names: [String: [(type: String, path: String)]] = [:]
        for (path, source) in files {
            let target = Checkout.room(of: path)
            for outer in Declarations(source).outer where outer.kind == .type {
                types[target, default: []].insert(outer.name)
            }
            let name = path.split(separator: "/").last ?? ""
            if let plus = name.firstIndex(of: "+") {
                names[target, default: []].append((String(name[..<plus]), path))
            }
        }
        return names.reduce(into: [:]) { cuts, names in
            let found = names.value.filter { types[names.key]?.contains($0.type) == true }
            if !found.isEmpty { cuts[names.key] = found.map(\.path) }
        }
    }

    /// Targets whose number of cuts differs from the standing one.
    static func violations(ofCuts cuts: [String: [String]]) -> [Violation] {
        Set(cuts.keys).union(standingCuts.keys).sorted().compactMap { target in
            let found = cuts[target] ?? []
            let allowed = standingCuts[target] ?? 0
            if found.count == allowed { return nil }
            return Violation(
                path: target,
                rule: found.count < allowed
                    ? "\(found.count) types cut into files, fewer than \(allowed): lower the number that stands"
                    : "more than \(allowed) types cut into files, one of these is new: \(found.sorted())")
        }
    }
}
