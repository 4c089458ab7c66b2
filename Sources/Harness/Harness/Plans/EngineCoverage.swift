import RunRecords

/// Which scenarios run on which engines, by the registries: a scenario runs on an engine that has all that it requires.
package struct EngineCoverage: Sendable {
    /// A column: engines that differ only in tuning share one, under the first one's name.
    package struct Column: Sendable, Equatable {
        package var name: String
        /// Further engines of the same library with the same capabilities.
        package var others: [String]
        var capabilities: Set<Capability>
    }

    package let columns: [Column]
    private let scenarios: [any Scenario]

    package init(_ registries: Registries) {
        scenarios = registries.scenarios.listed
        var columns: [Column] = []
        for engine in registries.engines.engines {
            let twin = columns.firstIndex { column in
                column.capabilities == engine.capabilities
                    && registries.engines.engine(named: column.name)?.library == engine.library
            }
            if let twin {
                columns[twin].others.append(engine.name)
            } else {
                columns.append(Column(name: engine.name, others: [], capabilities: engine.capabilities))
            }
        }
        self.columns = columns
    }

    /// The number of scenarios of the family that run on the engine; without a family, of all families.
    package func count(_ family: Family?, _ column: Column) -> Int {
        scenarios.count { (family == nil || $0.family == family) && drives($0, column) }
    }

    /// The number of scenarios of the family; without a family, of all families.
    package func count(_ family: Family?) -> Int {
        scenarios.count { family == nil || $0.family == family }
    }

    private func drives(_ scenario: any Scenario, _ column: Column) -> Bool {
        scenario.requires.isSubset(of: column.capabilities)
    }

    /// A row per family, as Markdown: docs/assay.md contains these very lines.
    package var familyTable: [String] {
        let head = ["family", "scenarios"] + columns.map(\.name)
        var lines = [row(head), "|" + String(repeating: "---|", count: head.count)]
        for family in Family.allCases where family != .planted && count(family) > 0 {
            lines.append(row([family.rawValue, "\(count(family))"] + columns.map { "\(count(family, $0))" }))
        }
        lines.append(row(["all", "\(count(nil))"] + columns.map { "\(count(nil, $0))" }))
        return lines
    }

    private func row(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }

    /// A line per scenario, a column per engine, with `x` if the scenario runs on the engine.
    package var scenarioTable: [String] {
        let slugs = scenarios.map { $0.slug.count + 4 }
        let width = (slugs + Family.allCases.map { $0.rawValue.count + 2 }).max() ?? 0
        func line(_ name: String, _ cells: [String]) -> String {
            var text = name.padding(width)
            for (cell, column) in zip(cells, columns) { text += cell.padding(column.name.count + 2) }
            while text.last == " " { text.removeLast() }
            return text
        }
        var lines: [String] = []
        for family in Family.allCases where family != .planted {
            let own = scenarios.filter { $0.family == family }
            if own.isEmpty { continue }
            lines += [line(family.rawValue, columns.map(\.name))]
            lines += own.map { scenario in
                line("  " + scenario.slug, columns.map { drives(scenario, $0) ? "x" : "-" })
            }
        }
        return lines
    }
}

extension String {
    fileprivate func padding(_ width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(1, width - count))
    }
}
