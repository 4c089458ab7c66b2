#if Zoo
    import StrataFiles

    /// Lets every file of this room refer to mistakes without an import that other builds do not need.
    typealias PlantedMistake = StrataFiles.PlantedMistake
#endif
