#if Zoo
    internal import StrataFiles

    /// Every file of this room may ask for a mistake, without an import that other builds do not need.
    typealias PlantedMistake = StrataFiles.PlantedMistake
#endif
