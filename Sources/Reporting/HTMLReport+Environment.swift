import RunRecords

extension HTMLReport {
    /// How each engine was set, a table per durability class: what a figure means depends on it.
    func settings(_ main: inout Markup) {
        section("settings", "Engine settings", &main) { section in
            var isEmpty = true
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
            if isEmpty { note("No case that ran says how its engine was set.", &section) }
            promises(&section)
        }
    }

    /// What verdicts go by, in the words of each engine's documentation.
    private func promises(_ section: inout Markup) {
        let engines = header.engines.filter { !$0.promises.isEmpty }
        if engines.isEmpty { return }
        section.element("h3", "What each engine promises")
        section.element("div", ["class": "scroll"]) { scroll in
            scroll.element("table", ["class": "grid"]) { table in
                table.element("tbody") { body in
                    for engine in engines {
                        for promise in engine.promises {
                            body.element("tr") { row in
                                row.element("th", ["scope": "row"], engine.name)
                                row.element("td", promise.kind)
                                row.element("td", promise.sentence)
                                row.element("td") { $0.element("small", promise.source) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Most cases of an engine share them; where they do not, all values stand.
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

    func environment(_ main: inout Markup) {
        let machine = header.machine
        section("environment", "Environment", &main) { section in
            let facts = [
                ("machine", machine.host), ("system", machine.system), ("processor", machine.processor),
                ("cores", machine.coreCount > 0 ? String(machine.coreCount) : ""),
                ("memory", machine.memoryBytes > 0 ? Figure.bytes(Double(machine.memoryBytes)) : ""),
                ("file system", machine.fileSystem), ("fsync honest", fsyncText(machine)),
                ("build", header.isReleaseBuild ? "release" : "DEBUG: no time in this report means anything"),
                ("assay", header.assayVersion), ("commit", header.commit), ("branch", header.branch),
                ("engines", header.engines.map { "\($0.name) \($0.version)" }.joined(separator: ", ")),
                ("budget", header.budgetSeconds.map { Figure.duration(nanoseconds: $0 * 1e9) } ?? ""),
                ("time of all cases", Figure.duration(nanoseconds: Double(digest.workedNanoseconds))),
            ].filter { !$0.1.isEmpty }
            section.element("dl", ["class": "environment"]) { list in
                for (name, value) in facts {
                    list.element("dt", name)
                    list.element("dd", value)
                }
            }
            notBuilt(&section)
            section.element("h3", "Repeat this run")
            if !header.command.isEmpty { command(header.command, &section) }
            note(
                "Numbers in tables have three significant digits; tooltips and results.csv, beside this file, have "
                    + "all of them. A dagger marks a figure of a case that its budget cut.", &section)
        }
    }

    private func fsyncText(_ machine: Machine) -> String {
        let time = Figure.duration(nanoseconds: Double(machine.fsyncNanoseconds))
        return switch machine.fsync {
        case .yes: "yes, 4 KiB with fdatasync takes \(time)"
        case .no: "NO: the file system is in memory"
        case .suspicious: "SUSPICIOUS: 4 KiB with fdatasync takes only \(time)"
        }
    }

    private func notBuilt(_ section: inout Markup) {
        if header.notBuilt.isEmpty { return }
        section.element("h3", "Engines that were not built")
        section.element("ul", ["class": "causes inline"]) { list in
            for engine in header.notBuilt {
                list.element("li") { item in
                    badge(.judged(.notBuilt), engine.name, &item)
                    item.add(" To have it: ")
                    command(engine.remedy, &item)
                }
            }
        }
    }
}
