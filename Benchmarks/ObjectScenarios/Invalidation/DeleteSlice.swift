import Harness
import RunRecords
import Strata

/// A range of live results is deleted in one call: the range must not shift during the deletion.
struct DeleteSlice: CellScenario {
    let slug = "delete-slice"
    let question = "Does deleting a slice of results delete exactly that slice?"

    enum Way: String, CaseIterable {
        case suffix, prefix, dropFirst, array, sortedSuffix, listPrefix, everything
    }

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: 20)
        let table = realm.objects(C.self).sorted(byKeyPath: "number")
        let descending = realm.objects(C.self).sorted(byKeyPath: "number", ascending: false)
        let first: C = try place.cell(0, realm)
        try realm.write { for cell in table { first.addPart(cell) } }
        let gone: Set<Int>
        realm.beginWrite()
        switch way {
        case .suffix:
            realm.delete(table.suffix(5))
            gone = Set(15..<20)
        case .prefix:
            realm.delete(table.prefix(5))
            gone = Set(0..<5)
        case .dropFirst:
            realm.delete(table.dropFirst(3))
            gone = Set(3..<20)
        case .array:
            realm.delete(Array(table[5..<10]))
            gone = Set(5..<10)
        case .sortedSuffix:
            realm.delete(descending.suffix(4))
            gone = Set(0..<4)
        case .listPrefix:
            realm.delete(first.parts.dropFirst(1).prefix(6))
            gone = Set(1..<7)
        case .everything:
            realm.delete(table)
            gone = Set(0..<20)
        }
        try realm.commitWrite()
        let left = (0..<20).filter { !gone.contains($0) }
        return .all([
            .expect("numbers left", table.map(\.number), left),
            .expect("parts left", gone.contains(0) ? [] : first.parts.map(\.number), gone.contains(0) ? [] : left),
        ])
    }
}
