import Strata

/// A model of a list on a screen, without a display: ForEach over a collection, and Text(count).
///
/// It uses the last frame as a user interface does. `render` (a) compares and hashes the old elements, (b) resolves the
/// old indices again, (c) reads the rows, (d) swaps in the new frame.
final class Screen<C: ShownObject> {
    /// Why a screen is evaluated.
    enum Cause {
        /// A change by the screen's own event. Its old rows are still there and are resolved once more.
        case ownEvent
        /// A model object sent objectWillChange.
        case objectWillChange
        /// The screen is on top again, or appears for the first time: there is no old frame.
        case appears
    }

    /// The displayed content.
    struct Frame: Equatable {
        var titles: [String] = []
        var count = 0
    }

    /// How the program was written.
    enum Style {
        /// As with Realm: identity reads the row where there is a primary key, elements come from live results.
        case live
        /// As with Strata: identity is captured, a frame is a snapshot, and the list observes its content.
        case frames
    }

    let style: Style
    let isKeyed: Bool
    private(set) var frame = Frame()
    /// Frames whose count differed from their rows, or whose rows were of different versions.
    private(set) var tornFrames = 0
    private(set) var renders = 0
    private let results: Results<C>
    private var elements: [C] = []
    private var identities: Set<Int> = []

    init(_ results: Results<C>, style: Style, isKeyed: Bool) {
        self.results = results
        self.style = style
        self.isKeyed = isKeyed
    }

    /// - Parameter whole: whether the whole body is evaluated, which shows the count, or only the rows.
    func render(_ cause: Cause, whole: Bool) {
        renders += 1
        if cause != .appears {
            let same = elements.count { identities.contains(identity($0)) && $0 == $0 }
            if same != elements.count { tornFrames += 1 }
            if cause == .ownEvent {
                for index in elements.indices { _ = results[index].title }
            }
        }
        switch style {
        case .live:
            elements = results.map { $0 }
            frame.titles = elements.map(\.title)
            if whole { frame.count = results.count }
        case .frames:
            let snapshot = results.snapshot()
            elements = snapshot.map { $0 }
            frame.titles = elements.map(\.title)
            frame.count = snapshot.count
            if frame.count != frame.titles.count || frame.titles.contains("untitled") { tornFrames += 1 }
        }
        identities = Set(elements.map(identity))
    }

    /// With a primary key, Realm's hash and id read the row; without one they use the handle. Strata keeps a primary
    /// key available without a read: reading a stored property simulates Realm's read of the row.
    private func identity(_ element: C) -> Int {
        guard style == .live else { return element.hashValue }
        guard isKeyed else { return ObjectIdentifier(element).hashValue }
        _ = element.title
        return element.number
    }
}

/// Runs a program's events with their consequences, in the order of a user interface: all notifications of an event,
/// then at most one render.
final class ScreenLoop {
    private var events: [() throws -> Void] = []
    private var notifications: [() -> Void] = []
    private var render: (() -> Void)?

    func post(_ event: @escaping () throws -> Void) {
        events.append(event)
    }

    func notify(_ notification: @escaping () -> Void) {
        notifications.append(notification)
    }

    /// Requests a render. Of several requests before the next render only the newest one is executed.
    func setNeedsRender(_ render: @escaping () -> Void) {
        self.render = render
    }

    /// Runs until nothing is left: notifications first, then a requested render, then the next event.
    func run() throws {
        while true {
            if !notifications.isEmpty {
                notifications.removeFirst()()
            } else if let next = render {
                render = nil
                next()
            } else if !events.isEmpty {
                try events.removeFirst()()
            } else {
                return
            }
        }
    }
}
