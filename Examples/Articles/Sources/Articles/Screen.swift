import Foundation
import Strata

/// The table on the terminal, redrawn whenever its articles change. Without a terminal, a line per change.
///
/// Used only on the main thread.
final class Screen {
    private(set) var frame: Frame
    /// How often a notification caused a redraw.
    private(set) var redraws = 0
    /// Set when observing failed.
    private(set) var problem: String?

    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private let articles: Results<Article>
    /// Held from the start, as a view holds a tapped object. Nothing protects it from deletion.
    private let favourite: Article
    private var favouriteText = ""
    private var tokens: [NotificationToken] = []

    init(_ realm: Realm, favourite: Article) {
        articles = realm.objects(Article.self).sorted(by: \.published, ascending: false)
        frame = Frame(articles.snapshot())
        self.favourite = favourite
    }

    func start() {
        if isTerminal { write("\u{1B}[2J") }
        tokens.append(
            favourite.observe { [weak self] change in
                if case .deleted = change { self?.favouriteText = "was deleted; its handle still reads as " }
            })
        tokens.append(
            articles.observe { [weak self] change in
                guard let self else { return }
                switch change {
                case .initial(let articles): draw(articles, "at the start")
                case .update(let articles, let deletions, let insertions, let modifications):
                    redraws += 1
                    draw(articles, "+\(insertions.count) -\(deletions.count) ~\(modifications.count)")
                case .error(let error): problem = "\(error)"
                }
            })
    }

    func stop() {
        for token in tokens { token.invalidate() }
        tokens = []
    }

    private func draw(_ articles: Results<Article>, _ what: String) {
        frame = Frame(articles.snapshot())
        // Reads the favourite without checking that it exists; a deleted one shows the default title.
        let favourite = "favourite: \(favouriteText)\(favourite.title)"
        guard isTerminal else { return write("\(frame.rows.count) articles, \(what); \(favourite)\n") }
        // Moves the cursor home, clears each line to its end, then the rest of the screen.
        let lines = frame.lines(limit: 14) + ["", "last change \(what)", favourite]
        write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J")
    }

    func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
