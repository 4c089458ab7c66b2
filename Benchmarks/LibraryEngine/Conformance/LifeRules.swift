import Files
import Harness
import Measuring
import Platform
import RunRecords

enum LifeRules {
    /// Rules for a store between two opens.
    static let rules: [ConformanceRule] = [
        ConformanceRule(
            "reopen-keeps", "what was committed is there after close and open, in every class of durability",
            claim: .persistent
        ) { subject in
            for durability in DurabilityClass.allCases where subject.description.settings[durability] != nil {
                let place = try subject.place(durability.rawValue)
                for round in 0..<3 {
                    try subject.withStore(place, durability) { store in
                        let keys = try store.entries().map { String(decoding: $0.key, as: UTF8.self) }
                        try expect(keys, (0..<round).map { "key \($0)" }, "keys after \(round) opens and commits")
                        try store.change("key \(round)", "value")
                    }
                }
            }
        },
        ConformanceRule(
            "kill-keeps", "what was committed is there after its process was killed (classes full and periodic)",
            claim: .persistent
        ) { subject in
            let classes = [DurabilityClass.full, .periodic].filter { subject.description.settings[$0] != nil }
            // This process opens nothing before it forks: an open may start threads.
            for durability in classes {
                let place = try subject.place(durability.rawValue)
                let child = try ForkedChild.start { _ in commitAndDie(subject, place, durability) }
                guard child.wait() == .signalled(SIGKILL) else {
                    throw RuleBroken("20 commits were refused in class \(durability.rawValue)")
                }
            }
            for durability in classes {
                try subject.withStore(try subject.place(durability.rawValue), durability) { store in
                    let keys = try store.entries().map { Int($0.key.first ?? 255) }
                    try expect(keys, Array(0..<20), "keys of 20 commits in class \(durability.rawValue)")
                }
            }
        },
        ConformanceRule("files", "the files of a closed store are those that its files name", claim: .persistent) {
            subject in
            let place = try filled(subject)
            let engine = LibraryEngine(subject.description)
            let named = engine.files(at: DatabaseLocation(directory: place)).map(\.path)
            let patterns = subject.description.files
            let unknown = try FileTree.names(in: place).filter { name in
                !patterns.contains { fnmatch($0.pattern, name, 0) == 0 }
            }
            guard unknown.isEmpty else { throw RuleBroken("no line of its files names \(unknown.sorted())") }
            guard !named.isEmpty else { throw RuleBroken("it left no file of the roles data, log and constant") }
        },
        ConformanceRule(
            "copies-open", "its data, log and constant files alone, copied to another directory, are the store",
            claim: .persistent
        ) { subject in
            let place = try filled(subject)
            let copy = try subject.place("copy")
            let files = LibraryEngine(subject.description).files(at: DatabaseLocation(directory: place))
            for file in files where file.role != .lock {
                let name = file.path.split(separator: "/").last.map(String.init) ?? ""
                try FileTree.writeBytes(copy + "/" + name, try FileTree.readBytes(file.path))
            }
            try subject.withStore(copy) { store in
                try expect(try store.entries().count, 200, "the number of keys in the copy of a store")
            }
        },
        ConformanceRule("errors", "opening a directory that is not there is an error with a text, and makes none") {
            subject in
            let place = subject.directory + "/missing"
            var refusal: EngineError?
            do throws(EngineError) {
                try LibraryStore(subject.library, directory: place, subject.durability).close()
            } catch { refusal = error }
            guard refusal != nil else { throw RuleBroken("open of a directory that is not there was no error") }
            guard !FileTree.exists(place) else { throw RuleBroken("open made the directory that was not there") }
            guard let text = subject.library.lastError(nil).map({ String(cString: $0) }), !text.isEmpty else {
                throw RuleBroken("open failed, and last_error(NULL) has no text")
            }
        },
        ConformanceRule(
            "compaction", "a compaction keeps the contents, for now and for the next open", claim: .compaction
        ) {
            subject in
            let place = try filled(subject)
            try subject.withStore(place) { store in
                try store.change((0..<100).map { ([0, UInt8($0)], nil) })
                let before = try store.entries()
                try store.compact()
                guard try store.entries() == before else { throw RuleBroken("a compaction changed the contents") }
                try store.change([([0, 0], nil)])
                try store.compact()
            }
            guard subject.description.claims.contains(.persistent) else { return }
            try subject.withStore(place) { store in
                try expect(try store.entries().count, 100, "the number of keys of the next open")
                try store.change([([9], [9])])
            }
        },
        ConformanceRule("check-passes", "check finds nothing wrong with a store that is right", claim: .checks) {
            subject in
            let place = try filled(subject)
            try LibraryEngine(subject.description).check(DatabaseLocation(directory: place))
            try subject.withStore(place) { store in
                try expect(try store.entries().count, 200, "the number of keys after check")
            }
        },
        ConformanceRule(
            "full-syncs", "a commit of class full syncs what it has written before it answers",
            unless: { description in
                if description.settings[.full] == nil { return "it does not have the class full" }
                return description.claims.contains(.persistent) ? nil : "persistent is not among its capabilities"
            }
        ) { subject in
            guard let witness = IOWitness.shared else {
                throw RuleUntried("libAssayPreload.so, which sees file calls, is not beside the program")
            }
            let place = try subject.place("store")
            _ = witness.setLogNames(LibraryEngine(subject.description).logPatterns)
            _ = witness.setIgnoredNames(LibraryEngine(subject.description).coordinationPatterns)
            guard let root = FileTree.absolute(place), witness.setRoot([root]) else {
                throw RuleUntried("the path \(place) cannot be watched")
            }
            try subject.withStore(place, .full) { store in
                try store.change([([0], [0])])
                for number in 1...10 {
                    let mark = witness.beginCommit()
                    try store.change([([UInt8(number)], [UInt8](repeating: 1, count: 100))])
                    switch witness.endCommit(mark) {
                    case .synced, .grouped: break
                    case .nothingWritten:
                        // Writes through a mapping, or by calls that bypass libc, are not seen.
                        let counts = witness.counts()
                        guard counts.sharedWritableMaps + counts.unseenCalls == 0 else {
                            throw RuleUntried("it writes through a map, or by calls that the preloaded library misses")
                        }
                        throw RuleBroken("commit \(number) of 10 wrote to no log and no other file")
                    case .unsynced: throw RuleBroken("commit \(number) of 10 answered before its writes were synced")
                    }
                }
            }
        },
    ]

    /// Commits 20 times, leaves a transaction open, and ends itself by SIGKILL.
    private static func commitAndDie(
        _ subject: ConformanceSubject, _ place: String, _ durability: DurabilityClass
    ) -> Int32 {
        do {
            let store = try LibraryStore(subject.library, directory: place, durability)
            for number in 0..<20 { try store.change([([UInt8(number)], [1])]) }
            try store.begin(.write).change([99], [1])
        } catch {
            return 2
        }
        raise(SIGKILL)
        return 0
    }

    /// A closed store of 200 keys.
    private static func filled(_ subject: ConformanceSubject) throws -> String {
        let place = try subject.place("store")
        try subject.withStore(place) { store in
            for table in 0..<2 {
                try store.change((0..<100).map { ([UInt8(table), UInt8($0)], [UInt8](repeating: 7, count: 200)) })
            }
        }
        return place
    }
}
