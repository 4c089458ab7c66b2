import Dispatch

/// An actor on which observers are told.
actor GonePlace {}

/// A queue on which observers are told before the caller goes on.
struct GoneQueue {
    let queue = DispatchQueue(label: "gone")

    /// Waits until what was asked for on the queue has run.
    func wait() { for _ in 0..<2 { queue.sync {} } }
}
