#if Zoo
    internal import StrataFiles

    /// Lets the files of this module name planted mistakes without importing StrataFiles: builds without Zoo would not
    /// need that import.
    typealias PlantedMistake = StrataFiles.PlantedMistake
#endif
