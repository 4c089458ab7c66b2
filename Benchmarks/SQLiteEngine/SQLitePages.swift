#if SQLite
    import Harness
    import RunRecords

    extension SQLiteEngine {
        /// The table or index of each page, from the table `dbstat`, which not every build of the library has.
        package func pageOwners(
            at location: DatabaseLocation
        ) throws(EngineError) -> [String: [SweepMap.PageRange]] {
            let session = try session(location, settings(for: .none))
            let pageBytes = try session.connection.integer("PRAGMA page_size")
            let statement = try session.connection.statement("SELECT name, pageno FROM dbstat ORDER BY pageno")
            var ranges: [SweepMap.PageRange] = []
            while try statement.step() {
                let byte = (Int(statement.integer(1)) - 1) * pageBytes
                let pages = byte / SweepMap.pageBytes..<(byte + pageBytes - 1) / SweepMap.pageBytes + 1
                let name = statement.text(0)
                if let last = ranges.last, last.name == name, last.pages.upperBound >= pages.lowerBound {
                    ranges[ranges.count - 1].pages =
                        last.pages.lowerBound..<max(last.pages.upperBound, pages.upperBound)
                } else if pages.lowerBound >= ranges.last?.pages.upperBound ?? 0 {
                    ranges.append(SweepMap.PageRange(name: name, pages: pages))
                }
            }
            try session.close()
            let file = location.mainFile.split(separator: "/").last.map(String.init) ?? ""
            return [file: ranges]
        }
    }
#endif
