import Harness
import RunRecords
import Strata

/// An object is chosen by its index; when it is deleted, the index refers to another row.
struct ShiftedIndexDelete: CellScenario {
    let slug = "shifted-index-delete"
    let question = "Is the object deleted that was chosen, when another thread shifts the rows meanwhile?"

    enum Way: String, CaseIterable {
        case handle, snapshotElement, frozenElement, listElement, goneAlready
    }

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: 10)
        let table = realm.objects(C.self).sorted(byKeyPath: "number")
        let owner: C = try place.cell(9, realm)
        try realm.write { for number in 0..<9 { owner.addPart(try place.cell(number, realm)) } }
        let (chosen, frame, entry) = (table[5], table.snapshot()[5], owner.parts[5])
        // Rows before the chosen one are deleted: its index now refers to another.
        try place.elsewhere(realm) { realm in
            try realm.write {
                for number in way == .goneAlready ? [1, 2, 5] : [1, 2] {
                    realm.delete(try TrialPlace.found(C.self, number, realm))
                }
            }
        }
        try realm.write {
            switch way {
            case .handle, .goneAlready: if !chosen.isInvalidated { realm.delete(chosen) }
            case .snapshotElement: if let live = frame.thaw() { realm.delete(live) }
            case .frozenElement: if let live = chosen.freeze().thaw() { realm.delete(live) }
            case .listElement: realm.delete(entry)
            }
        }
        return .all([
            .expect("numbers left", table.map(\.number), [0, 3, 4, 6, 7, 8, 9]),
            .expect("entries of the list", owner.parts.map(\.number), [0, 3, 4, 6, 7, 8]),
            .expect("the chosen one is invalidated", chosen.isInvalidated, true),
        ])
    }
}
