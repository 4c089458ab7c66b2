#if Zoo
    import Platform
    import StrataFiles
    import Testing

    @Suite("PlantedMistake")
    struct PlantedMistakeTests {
        @Test("a process has exactly the mistake that its environment names")
        func chosen() {
            let named = getenv(PlantedMistake.variable).map { String(cString: $0) }
            #expect(PlantedMistake.allCases.filter(\.isPlanted).map(\.rawValue) == named.map { [$0] } ?? [])
        }

        @Test("the name of a mistake shows that it is planted inside Strata")
        func names() {
            for mistake in PlantedMistake.allCases { #expect(mistake.rawValue.hasPrefix("strata-")) }
        }
    }
#endif
