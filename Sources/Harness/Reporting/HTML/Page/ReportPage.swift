import RunRecords

/// The values that all parts of the document use: the run, the level of detail, and the anchors of its cases.
struct ReportPage {
    let digest: RunDigest
    let detail: Detail
    /// The cases that the document lists, in plan order. If not all fit, those that did not pass come first.
    let listed: [CaseResult]
    private let listedIDs: Set<String>

    init(digest: RunDigest, detail: Detail) {
        self.digest = digest
        self.detail = detail
        if digest.results.count <= detail.cases {
            listed = digest.results
        } else {
            let grave = digest.results.filter { $0.verdict != .pass }
            let passed = digest.results.filter { $0.verdict == .pass }
            listed = Array((grave + passed).prefix(detail.cases))
        }
        listedIDs = Set(listed.map(\.test.id))
    }

    /// The anchor of a case's entry; nil if the case is not listed.
    func place(of id: String) -> String? {
        listedIDs.contains(id) ? "#c-\(id)" : nil
    }

    /// A level of detail. For large runs, each further level leaves out the least important contents.
    struct Detail {
        var charts: Int
        /// Whether cases that passed have their figures.
        var showsPassed: Bool
        /// The most cases in the list; the others are in the CSV.
        var cases: Int
        /// The most rows of a table.
        var rows: Int

        static let steps = [
            Detail(charts: 80, showsPassed: true, cases: 1_000, rows: 1_000),
            Detail(charts: 40, showsPassed: true, cases: 1_000, rows: 600),
            Detail(charts: 24, showsPassed: false, cases: 1_200, rows: 400),
            Detail(charts: 12, showsPassed: false, cases: 500, rows: 200),
            Detail(charts: 0, showsPassed: false, cases: 200, rows: 100),
        ]
    }
}
