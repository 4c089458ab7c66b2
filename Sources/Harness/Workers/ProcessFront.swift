/// How a worker is started under a profiler: the words that precede the worker's command line.
package struct ProcessFront: Sendable {
    package var executable: String
    package var words: [String]
    /// Whether the worker's parent is this process and not the profiler.
    package var isParentOurs: Bool
}
