import RunRecords

/// The settings of each engine, in a table per durability class, since each figure depends on them. Then the
/// promises of each engine.
struct SettingsSection: ReportPart {
    let page: ReportPage

    func write(_ main: inout Markup) {
        section("settings", "Engine settings", main: &main) { section in
            section.element(
                "p", ["class": "sentence"],
                "What \(EngineName.sentenceList(digest.engines)) ran with: a figure means nothing without it.")
            var isEmpty = true
            fold("Every setting", nil, section: &section) { section in
                for durability in digest.durabilities {
                    let engines = digest.engines.map { engine in (engine, settings(of: engine, durability)) }
                        .filter { !$0.1.isEmpty }
                    if engines.isEmpty { continue }
                    isEmpty = false
                    section.element("h3", capitalized(RunDigest.durabilityText(durability)))
                    section.element("div", ["class": "scroll"]) { scroll in
                        scroll.element("table", ["class": "grid"]) { table in
                            table.element("tbody") { body in
                                for (engine, settings) in engines { settingsLine(engine, settings, &body) }
                            }
                        }
                    }
                }
            }
            if isEmpty { note("No case that ran says how its engine was set.", &section) }
            fold("What each engine promises", nil, section: &section) { promises(&$0) }
        }
    }

    /// The promises behind the verdicts, in the words of each engine's documentation.
    private func promises(_ section: inout Markup) {
        let engines = header.engines.filter { !$0.promises.isEmpty }
        if engines.isEmpty { return }
        section.element("div", ["class": "scroll"]) { scroll in
            scroll.element("table", ["class": "grid"]) { table in
                table.element("tbody") { body in
                    for engine in engines {
                        for promise in engine.promises {
                            body.element("tr") { row in
                                row.element("th", ["scope": "row"], engine.name)
                                row.element("td") { cell in
                                    cell.add(promise.kind)
                                    if let level = promise.level { cell.element("small", " \(level.rawValue)") }
                                }
                                row.element("td", promise.sentence)
                                row.element("td") { $0.element("small", promise.source) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The settings of all cases of an engine. A setting in which cases differ has each of its values.
    private func settings(of engine: String, _ durability: DurabilityClass) -> [EngineSetting] {
        RunDigest.unique(
            digest.results(of: engine).filter { $0.test.durability == durability }.flatMap(\.settings))
    }

    private func settingsLine(_ engine: String, _ settings: [EngineSetting], _ body: inout Markup) {
        let version = header.engines.first { $0.name == engine }?.version ?? ""
        body.element("tr") { row in
            row.element("th", ["scope": "row"]) { cell in
                cell.add(engine)
                cell.element("small", " \(version)")
            }
            row.element("td", ["class": "settings"]) { cell in
                for setting in settings {
                    cell.element("span") { entry in
                        entry.element("i", setting.name)
                        entry.add(" ")
                        entry.element("code", setting.value)
                    }
                    cell.add(" ")
                }
            }
        }
    }
}
