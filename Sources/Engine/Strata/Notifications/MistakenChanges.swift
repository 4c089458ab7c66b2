#if Zoo
    extension PlaceChanges {
        /// The change set with the planted mistake.
        var withMistake: PlaceChanges {
            var changes = self
            if PlantedMistake.modificationLost.isPlanted { changes.modifications = [] }
            if PlantedMistake.insertionLost.isPlanted { changes.insertions = [] }
            if PlantedMistake.modificationBesideDeletion.isPlanted, !changes.deletions.isEmpty {
                changes.modifications = []
            }
            if PlantedMistake.deletionLost.isPlanted { changes.deletions = [] }
            guard PlantedMistake.wrongChangeset.isPlanted else { return changes }
            if !changes.insertions.isEmpty {
                changes.insertions[0] += 1
            } else if !changes.deletions.isEmpty {
                changes.deletions[0] += 1
            } else if !changes.modifications.isEmpty {
                changes.modifications[0] += 1
            }
            return changes
        }
    }
#endif
