#if SQLite
    import Commands
    import Reporting
    import RunHistory
    import RunRecords

    /// Resolves the arguments of `assay history trend` to one figure.
    struct TrendSelection {
        let store: RunArchive
        let path: String

        /// - Parameters:
        ///   - words: an id, a prefix of it, or words that all occur in the title of one case.
        ///   - metric: a figure as printed, or the name of its metric if only one figure has it.
        ///   - reference: nil to use the figure's own reference.
        func trend(_ words: String, _ metric: String, reference: String?) throws(ArchiveError) -> Trend {
            let test = try test(words)
            let figure = try figure(metric, of: test)
            let references = try store.references(of: test, figure).map(\.engine)
            var basis = Trend.Basis(of: test, figure, references: references)
            if let reference {
                guard references.contains(reference) else {
                    let complaint =
                        references.isEmpty
                        ? "\(figure.text) of \(test.title) has no other engine to be compared with in these runs"
                        : NearestName.complaint("reference", reference, among: references)
                    throw ArchiveError(.wrongInput, complaint)
                }
                basis = .ratio(reference: reference)
            }
            return try trend(test, figure, basis)
        }

        /// Every run, and a trend for each figure that the pages chart.
        func site() throws(ArchiveError) -> ArchiveSite {
            var trends: [Trend] = []
            for test in try store.tests() {
                for figure in ArchiveSite.figures(of: try store.figures(of: test)) {
                    let references = try store.references(of: test, figure).map(\.engine)
                    let basis = Trend.Basis(of: test, figure, references: references)
                    trends.append(try trend(test, figure, basis))
                }
            }
            return ArchiveSite(runs: try store.wholeRuns(), trends: trends)
        }

        private func trend(_ test: Case, _ figure: FigureName, _ basis: Trend.Basis) throws(ArchiveError) -> Trend {
            var reference: String?
            if case .ratio(let name) = basis { reference = name }
            let points = try store.points(of: test, figure, reference: reference)
            return Trend(test: test, figure: figure, basis: basis, points: points)
        }

        private func test(_ words: String) throws(ArchiveError) -> Case {
            let tests = try store.tests()
            let parts = words.split(separator: " ").map(String.init)
            let byID = tests.filter { words.count >= 4 && $0.id.hasPrefix(words) }
            var found = byID
            if byID.isEmpty, !parts.isEmpty {
                found = tests.filter { test in
                    let title = test.title.split(separator: " ").map(String.init)
                    return parts.allSatisfy(title.contains)
                }
            }
            if found.count == 1 { return found[0] }
            guard found.isEmpty else {
                let names = found.prefix(12).map { "\n  \($0.id)  \($0.title)" }.joined()
                let more = found.count > 12 ? "\n  and \(found.count - 12) more" : ""
                throw ArchiveError(
                    .wrongInput, "\(words) may be one of \(found.count) cases; name its id:\(names)\(more)")
            }
            let scenarios = Set(tests.map(\.scenario)).sorted()
            guard !scenarios.isEmpty else {
                throw ArchiveError(.wrongInput, "\(path) has no run yet: assay history add RUN")
            }
            throw ArchiveError(.wrongInput, NearestName.complaint("case", words, among: scenarios))
        }

        private func figure(_ metric: String, of test: Case) throws(ArchiveError) -> FigureName {
            let names = try store.figures(of: test)
            if let exact = names.first(where: { $0.text == metric }) { return exact }
            let found = names.filter { $0.metric.name == metric }
            if found.count == 1 { return found[0] }
            let candidates = (found.isEmpty ? names : found).map { "\"\($0.text)\"" }
            guard found.isEmpty else {
                throw ArchiveError(
                    .wrongInput,
                    "\(metric) may be one of several figures: \(candidates.joined(separator: ", "))")
            }
            guard !names.isEmpty else {
                throw ArchiveError(.wrongInput, "no run in \(path) has a figure of \(test.title)")
            }
            throw ArchiveError(.wrongInput, NearestName.complaint("metric", metric, among: names.map(\.text)))
        }
    }
#endif
