#if Zoo
    import StrataFiles

    /// Lets a file of this module name a planted mistake without importing StrataFiles, which it may need only for Zoo.
    typealias PlantedMistake = StrataFiles.PlantedMistake
#endif
