/// The words that precede a worker's command line, so that a profiler starts the worker.
package struct ProcessFront: Sendable {
    package var executable: String
    package var words: [String]
    /// Whether the worker's parent is this process and not the profiler.
    package var isParentOurs: Bool
}
