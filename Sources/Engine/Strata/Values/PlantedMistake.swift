#if Zoo
    import StrataFiles

    /// Lets every file of Strata name a planted mistake without an import that builds without `Zoo` do not need.
    typealias PlantedMistake = StrataFiles.PlantedMistake
#endif
