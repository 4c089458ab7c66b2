/// The checkout from which the tests were built.
enum SourceTree {
    static let root = String(#filePath.dropLast("/Tests/HarnessTests/SourceTree.swift".count))
}
