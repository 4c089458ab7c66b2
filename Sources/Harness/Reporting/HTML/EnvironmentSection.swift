import RunRecords

/// The machine, the engines that were not built, and the command that repeats the run.
struct EnvironmentSection: ReportPart {
    let page: ReportPage

    func write(_ main: inout Markup) {
        let machine = header.machine
        section("environment", "Environment", main: &main) { section in
            let facts = [
                ("machine", machine.host), ("system", machine.system), ("processor", machine.processor),
                ("cores", machine.coreCount > 0 ? String(machine.coreCount) : ""),
                ("memory", machine.memoryBytes > 0 ? Figure.bytes(Double(machine.memoryBytes)) : ""),
                ("file system", machine.fileSystem), ("fsync honest", fsyncText(machine)),
                ("shards", digest.shardWords),
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
            shards(&section)
            section.element("h3", "Repeat this run")
            if !header.command.isEmpty { command(header.command, &section) }
            note(
                "Numbers in tables have three significant digits; tooltips and results.csv, beside this file, have "
                    + "all of them." + marks, &section)
        }
    }

    /// What the marks at figures mean, if the run can have them.
    private var marks: String {
        (digest.results.contains(where: \.isCut) ? " \u{2020}: the budget cut the case." : "")
            + (header.doubtfulFigures.isEmpty
                ? ""
                : " \u{2021}: assay verify-figures found another value without the harness; nothing is claimed.")
    }

    private func fsyncText(_ machine: Machine) -> String {
        let time = Figure.duration(nanoseconds: Double(machine.fsyncNanoseconds))
        return switch machine.fsync {
        case .yes: "yes, 4 KiB with fdatasync takes \(time)"
        case .no: "NO: the file system is in memory"
        case .suspicious: "SUSPICIOUS: 4 KiB with fdatasync takes only \(time)"
        }
    }

    /// The machine of each shard of a merged run.
    private func shards(_ section: inout Markup) {
        if header.merged.isEmpty { return }
        section.element("h3", "Shards")
        section.element("ul") { list in
            for shard in header.merged {
                let machine = shard.machine
                let facts = [
                    machine.host, machine.processor, Figure.count(machine.coreCount, "core"),
                    Figure.bytes(Double(machine.memoryBytes)), machine.fileSystem, machine.system,
                    "begun \(Figure.time(shard.startTime))",
                ].filter { !$0.isEmpty }
                list.element(
                    "li",
                    "\(shard.shard): \(Figure.count(shard.cases.count, "case")) on \(facts.joined(separator: ", "))")
            }
            for shard in header.missingShards { list.element("li", "\(shard): MISSING") }
        }
        note(
            "Each case was measured on one machine, which its entry names. Compared figures were measured by one "
                + "shard: no ratio has figures of two machines.", &section)
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
