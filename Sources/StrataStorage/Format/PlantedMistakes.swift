#if Zoo
    internal import StrataFiles

    /// For every file of this room, without an import that other builds do not need.
    typealias PlantedMistake = StrataFiles.PlantedMistake
#endif
