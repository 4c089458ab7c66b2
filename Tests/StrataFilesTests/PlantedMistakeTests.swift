#if Zoo
    import Platform
    import StrataFiles
    import Testing

    @Suite struct PlantedMistakeTests {
        @Test("a process has exactly the mistake that its environment names")
        func chosen() {
            let named = getenv(PlantedMistake.variable).map { String(cString: $0) }
            #expect(PlantedMistake.allCases.filter(\.isPlanted).map(\.rawValue) == named.map { [$0] } ?? [])
        }

        @Test("the name of a mistake begins with the library that contains it: Strata, StoreMigration or CoreDataFiles")
        func names() {
            for mistake in PlantedMistake.allCases {
                #expect(["strata-", "migration-", "coredata-"].contains { mistake.rawValue.hasPrefix($0) })
            }
        }
    }
#endif
