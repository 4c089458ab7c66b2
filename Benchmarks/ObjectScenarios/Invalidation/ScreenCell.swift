import Measuring
import Strata

/// One cell of the matrix: a program with one list screen and, for the other view, the view with the button.
struct ScreenCell {
    enum Container: String, CaseIterable {
        /// Only the view on top renders; going back evaluates the one below anew.
        case navigation
        /// All views stay mounted. They render only when a model object sends objectWillChange.
        case tab
    }

    enum Action: String, CaseIterable { case add, delete, update }
    enum View: String, CaseIterable { case same, other }
    enum Key: String, CaseIterable { case primary, none }

    /// The outcome of the program.
    enum Finding: String {
        case fine
        case staleCount = "stale count"
        case stale
        case invalidated
        case outOfRange = "index out of range"
        /// The button's change is not in the database.
        case undone
        /// A frame that never was a version of the database, or a superfluous render.
        case torn
    }

    let container: Container
    let action: Action
    let view: View
    let key: Key
    let isObserved: Bool

    /// The outcome that users of Realm reported for such a program.
    var reported: Finding {
        switch (container, action, view) {
        case (.navigation, .delete, .same): return key == .primary ? .invalidated : .outOfRange
        case (.navigation, .add, .same): return isObserved ? .fine : .staleCount
        case (.navigation, _, _): return .fine
        case (.tab, _, _) where !isObserved: return .stale
        case (.tab, .delete, .same): return key == .primary ? .invalidated : .outOfRange
        case (.tab, .delete, .other): return key == .primary ? .invalidated : .fine
        case (.tab, _, _): return .fine
        }
    }

    /// The result of a run of the cell.
    struct Outcome {
        var finding = Finding.fine
        var detail = ""
        var renders = 0
        var commits = 0
        var latency = Histogram()
    }

    /// Runs `events` of the action, each with all consequences, and compares the frame with the database after each.
    func run(_ realm: Realm, rows: Int, events: Int) throws -> Outcome {
        switch key {
        case .primary: try run(KeyedCell.self, realm, rows: rows, events: events)
        case .none: try run(PlainCell.self, realm, rows: rows, events: events)
        }
    }

    private func run<C: ShownObject>(_ type: C.Type, _ realm: Realm, rows: Int, events: Int) throws -> Outcome {
        try realm.write {
            realm.deleteAll()
            for number in 0..<rows { realm.add(C.make(number)) }
        }
        let style: Screen<C>.Style = realm.configuration.invalidAccess == .trap ? .live : .frames
        let program = ScreenProgram<C>(self, realm, style, rows: rows)
        defer { program.close() }
        try program.show()
        for event in 0..<events {
            try program.perform(number: rows + event)
            let finding = program.compare()
            if finding.0 != .fine || event == events - 1 {
                program.outcome.finding = finding.0
                program.outcome.detail = finding.1
                break
            }
        }
        return program.outcome
    }
}

/// The program of a cell: its screen, its observers, its button.
private final class ScreenProgram<C: ShownObject> {
    let cell: ScreenCell
    let realm: Realm
    let results: Results<C>
    let screen: Screen<C>
    let loop = ScreenLoop()
    var outcome = ScreenCell.Outcome()
    private var tokens: [NotificationToken] = []
    /// The view with the button covers the list.
    private var isCovered = false
    private var isHandlingOwnEvent = false
    /// Commits, and the first appearance: each may cause one render.
    private var causes = 0
    /// The expected content of the list: derived without the database.
    private var expected: [String]

    init(_ cell: ScreenCell, _ realm: Realm, _ style: Screen<C>.Style, rows: Int) {
        self.cell = cell
        expected = (0..<rows).map { C.make($0).title }
        self.realm = realm
        results = realm.objects(C.self)
        screen = Screen(results, style: style, isKeyed: cell.key == .primary)
    }

    func show() throws {
        render(.appears, whole: true)
        // The view model's own token, as in an app: it sends objectWillChange.
        if cell.isObserved { tokens.append(observe()) }
        // The list observes its content, as a list of Strata's does.
        if screen.style == .frames { tokens.append(observe()) }
    }

    private func observe() -> NotificationToken {
        results.observe { [weak self] change in
            guard let self, case .update = change else { return }
            loop.notify { self.objectWillChange() }
        }
    }

    private func objectWillChange() {
        if cell.container == .navigation && isCovered { return }
        let cause: Screen<C>.Cause = isHandlingOwnEvent ? .ownEvent : .objectWillChange
        loop.setNeedsRender { [self] in render(cause, whole: true) }
    }

    /// Presses the button: one commit, with all its consequences.
    func perform(number: Int) throws {
        loop.post { [self] in
            isCovered = cell.view == .other && cell.container == .navigation
            isHandlingOwnEvent = cell.view == .same
            // Only the list is evaluated in the view that changed its own state; the rest of the body is not.
            if cell.container == .navigation && cell.view == .same {
                loop.setNeedsRender { [self] in render(.ownEvent, whole: false) }
            }
            try realm.write { try change(number) }
            outcome.commits += 1
            causes += 1
        }
        try loop.run()
        isHandlingOwnEvent = false
        if isCovered {
            isCovered = false
            render(.appears, whole: true)
        }
    }

    private func change(_ number: Int) throws {
        switch cell.action {
        case .add:
            realm.add(C.make(number))
            expected.append(C.make(number).title)
        case .delete:
            if let last = results.last { realm.delete(last) }
            expected = expected.dropLast()
        case .update:
            results.first?.rename("renamed \(number)")
            if !expected.isEmpty { expected[0] = "renamed \(number)" }
        }
    }

    private func render(_ cause: Screen<C>.Cause, whole: Bool) {
        if causes == 0 { causes = 1 }
        let start = MonotonicClock.now()
        screen.render(cause, whole: whole)
        outcome.latency.record(MonotonicClock.now() - start)
        outcome.renders += 1
    }

    /// Compares the frame with the database after all events.
    func compare() -> (ScreenCell.Finding, String) {
        let titles = results.map(\.title)
        if titles != expected { return (.undone, "\(titles.count) rows are there, \(expected.count) have to be") }
        if screen.tornFrames > 0 { return (.torn, "\(screen.tornFrames) frames that are of no version") }
        if outcome.renders > causes { return (.torn, "\(outcome.renders) renders for \(outcome.commits) commits") }
        if screen.frame.titles != titles {
            return (.stale, "\(screen.frame.titles.count) rows are shown, \(titles.count) are there")
        }
        if screen.frame.count != titles.count {
            return (.staleCount, "the count shows \(screen.frame.count), \(titles.count) are there")
        }
        return (.fine, "")
    }

    func close() {
        for token in tokens { token.invalidate() }
    }
}
