import Dispatch

/// An actor on which observers are notified.
actor GonePlace {}

/// A queue on which observers are notified before the caller continues.
struct GoneQueue {
    let queue = DispatchQueue(label: "gone")

    /// Waits until all work on the queue has run.
    func wait() { for _ in 0..<2 { queue.sync {} } }
}
