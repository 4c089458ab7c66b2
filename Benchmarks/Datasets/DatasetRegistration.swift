import RunRecords

/// The data sets of this build: one line each.
package enum DatasetRegistration {
    package static func register(into registry: inout DatasetRegistry) {
        registry.register(PeopleDataset())
        registry.register(PeopleDataset(name: "people-dogs", dogsPerPerson: 4))
        registry.register(WidePeopleDataset())
        registry.register(WidePeopleDataset.large)
        registry.register(NumbersDataset())
        registry.register(DamageDataset())
        registry.register(DamageDataset.longTexts)
        registry.register(DebianDataset())
    }

    /// The data set from a file of the user, `--dataset FILE`. Its name is the path, so that a worker process finds it.
    package static func source(file path: String) -> any DatasetSource {
        if path.hasSuffix(".csv") || path.hasSuffix(".tsv") { return CSVDataset(path: path) }
        return DebianDataset(name: path, path: path)
    }
}
