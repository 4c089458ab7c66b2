import RunRecords

/// The report as one document, of parts that each write their own section.
struct HTMLReport {
    private let page: ReportPage

    /// Bytes that a report stays under.
    static let sizeLimit = 1_950_000

    static func text(_ digest: RunDigest) -> String {
        var text = ""
        for detail in ReportPage.Detail.steps {
            text = HTMLReport(page: ReportPage(digest: digest, detail: detail)).document
            if text.utf8.count < sizeLimit { break }
        }
        return text
    }

    private var digest: RunDigest { page.digest }
    private var run: Run { digest.run }
    private var header: RunHeader { digest.run.header }

    private var document: String {
        Markup.build { page in
            page.raw("<!DOCTYPE html>\n")
            page.element("html", ["lang": "en"]) { html in
                DocumentHead.write(title: "Assay report: \(header.plan), seed \(header.seed)", &html)
                html.element("body", ["data-run": RunDigest.shellWord(run.directory)]) { body in
                    masthead(&body)
                    body.element("main") { main in
                        DocumentHead.warnings(digest.warnings, &main)
                        for part in parts { main.raw(part.markup) }
                    }
                    body.element("script") { $0.raw(ReportScript.text) }
                }
            }
            page.raw("\n")
        }
    }

    /// In the order in which they are read.
    private var parts: [any ReportPart] {
        [
            VerdictSection(page: page), PeerSection(page: page), ScaleSection(page: page), MatrixSection(page: page),
            FaultSection(page: page), SalvageSection(page: page), SafetySection(page: page),
            SpeedSection(page: page), SizeSection(page: page), CostSection(page: page),
            OutcomeSection(page: page, question: .deleted), OutcomeSection(page: page, question: .migrations),
            CaseSection(page: page), SettingsSection(page: page), EnvironmentSection(page: page),
        ]
    }

    private func masthead(_ body: inout Markup) {
        body.element("header", ["class": "top"]) { top in
            top.element("div", ["class": "brand"]) { brand in
                brand.element("h1") { title in
                    title.element("span", ["class": "faint"], "Assay")
                    title.add(" \(header.plan)")
                }
                DocumentHead.themeButton(&brand)
            }
            top.element("p", ["class": "facts"]) { facts in
                let parts = [
                    Figure.time(header.startTime).split(separator: "T").joined(separator: " ").filter { $0 != "Z" }
                        + " UTC",
                    "seed \(header.seed)", Figure.count(header.cases.count, "case"),
                    Figure.count(digest.trialCount, "trial"),
                    header.commit.isEmpty ? "" : "commit \(header.commit.prefix(12))",
                    header.isReleaseBuild ? "release build" : "DEBUG BUILD",
                ].filter { !$0.isEmpty }
                for (index, part) in parts.enumerated() {
                    if index > 0 { facts.raw(" <i>\u{B7}</i> ") }
                    facts.element("span", part)
                }
            }
            top.element("nav", ["aria-label": "Sections"]) { nav in
                for (anchor, words) in sections {
                    nav.element("a", ["href": "#\(anchor)"], words)
                }
            }
        }
    }

    private var sections: [(String, String)] {
        [("verdict", "Verdict")] + (PeerTable(digest) == nil ? [] : [("peers", "Peers")])
            + (digest.scaleFigures.isEmpty ? [] : [(ScaleSection.anchor, "Growth")]) + [
                ("matrix", "Matrix")
            ] + (digest.faultRows.isEmpty ? [] : [(FaultSection.anchor, "Faults")])
            + (digest.salvageRows.isEmpty ? [] : [(SalvageSection.anchor, "Salvage")]) + [
                ("safe", "Safety"), ("fast", "Speed"), ("large", "Size"),
            ] + (header.measures ? [("cost", "Cost")] : []) + [
                ("deleted", "Deleted objects"), ("migrations", "Migrations"), ("cases", "All cases"),
                ("settings", "Settings"), ("environment", "Environment"),
            ]
    }
}
