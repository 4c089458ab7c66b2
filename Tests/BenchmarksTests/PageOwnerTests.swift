import Datasets
import Files
import Harness
import RunRecords
import Seeds
import Testing

/// The owners of pages in a heat map.
@Suite struct PageOwnerTests {
    #if SQLite
        @Test("SQLite names the table or index of every page of its file")
        func sqlite() throws {
            let engine = try EnginesUnderTest.engine("sqlite")
            try EnginesUnderTest.withDirectory { path in
                let tables = try DamageDataset().tables(size: 200, seed: Seed(1))
                let location = DatabaseLocation(directory: path)
                let session = try engine.open(location, settings: engine.settings(for: .none))
                let loading = try #require(session as? any TableSession)
                try loading.load(tables)
                try loading.close()
                let owners = try engine.pageOwners(at: location)
                let file = try #require(owners["data"])
                let names = Set(file.map(\.name))
                for table in tables.tables { #expect(names.contains(table.name), "\(names)") }
                let pages = try FileTree.size(location.mainFile) / SweepMap.pageBytes
                #expect(file.allSatisfy { $0.pages.upperBound <= pages && !$0.pages.isEmpty })
                for (range, next) in zip(file, file.dropFirst()) {
                    #expect(range.pages.upperBound <= next.pages.lowerBound)
                }
                let owned = file.reduce(0) { $0 + $1.pages.count }
                #expect(owned > pages / 2 && owned <= pages, "\(owned) of \(pages)")
            }
        }
    #endif

    @Test("an engine without this capability names nothing")
    func others() throws {
        for engine in EnginesUnderTest.all where engine.library != "sqlite" {
            #expect(try engine.pageOwners(at: DatabaseLocation(directory: "/none")).isEmpty, "\(engine.name)")
        }
    }
}
