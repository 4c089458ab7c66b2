import Commands
import JSONText
import StrataRepair
import StrataStorage

/// `strata salvage`: copies everything that still verifies to a new file, and lists the losses.
struct SalvageCommand: Command {
    let name = "salvage"
    let summary = "writes what can be read of a damaged FILE to NEW, and lists what is lost"
    let details = [
        "FILE is only read. NEW appears when it is complete, and must not be there yet.",
        "It is encrypted as FILE is.",
    ]
    let examples = [
        CommandExample("salvage broken.strata --to saved.strata", "what is lost is listed, class by class")
    ]
    let exitStatus = "0 nothing is missing, 2 NEW holds all that can be read, and the list says what it lacks"
    let positional = ["FILE"]
    let options = [
        OptionSpecification("--to", value: "NEW", isRequired: true, "where the salvaged store goes"),
        KeyFile.option,
        OptionSpecification.json,
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        guard let destination = arguments.value("--to") else { throw UsageError("--to is missing", command: name) }
        _ = try size(path)
        try refuseExisting(destination)
        var settings = SalvageOptions()
        settings.cipher = try KeyFile.cipher(arguments)
        settings.progress = { Output.progress("\(counted($0, "row")) ..") }
        let report = try naming(path) { try Salvage.run(from: path, to: destination, options: settings) }
        Output.progress("")
        if arguments.has("--json") {
            try Output.line(Self.json(report).text)
        } else {
            for line in Self.lines(report, destination) { try Output.line(line) }
        }
        return report.isWhole ? 0 : 2
    }

    // MARK: Text

    static func lines(_ report: SalvageReport, _ destination: String) -> [String] {
        var lines: [String] = []
        switch report.start {
        case .slot: break
        case .root:
            lines.append("no header verifies: the newest root found counts, version \(report.checkpoint.rawValue)")
        case .nodes: lines.append("the root is lost: rows come from pages that verify without it")
        }
        switch report.schema {
        case .current: break
        case .older: lines.append("the schema is lost: an older one names the classes")
        case .lost: lines.append("the schema is lost: classes and columns are named by their numbers")
        }
        switch report.log {
        case .none: break
        case .replayed(let version): lines.append("log replayed through version \(version.rawValue)")
        case .partly(let version):
            lines.append("log damaged: replayed through version \(version.rawValue), later commits are lost")
        case .lost: lines.append("log lost: commits after version \(report.checkpoint.rawValue) are lost")
        }
        for table in report.tables { lines += Self.lines(table) }
        let damage = report.damage.count + report.unlistedDamage
        lines.append(
            "\(destination): \(counted(report.rowsRecovered, "row")), \(losses(report)), "
                + counted(damage, "damaged node"))
        return lines
    }

    /// A number only if it is known: the contents below a lost root or schema are counted nowhere else.
    private static func losses(_ report: SalvageReport) -> String {
        if report.isWhole { return "nothing is lost" }
        if report.start == .nodes || report.schema == .lost || report.tables.isEmpty {
            return "how many are lost is not known, because the root or the schema is gone"
        }
        let least = report.tables.allSatisfy(\.isLossExact) ? "" : "at least "
        return "\(least)\(counted(report.rowsLost, "row")) and \(counted(report.valuesLost, "value")) lost"
    }

    private static func lines(_ table: SalvageReport.Table) -> [String] {
        var lines = ["\(table.name): \(counted(table.rowsRecovered, "row"))"]
        if table.rowsLost > 0 || !table.isLossExact {
            lines[0] += ", \(table.isLossExact ? "" : "at least ")\(table.rowsLost) lost"
        }
        if table.rowsUncertain > 0 {
            lines.append(
                "  \(counted(table.rowsUncertain, "row")) may be older than the last commit: nothing above "
                    + "\(table.rowsUncertain == 1 ? "its page" : "their pages") verifies")
        }
        for range in table.lostKeys {
            lines.append(
                "  lost: \(range.rows.map { counted($0, "row") } ?? "unknown number of rows") with \(Self.keys(range))")
        }
        for column in table.lostColumns {
            lines.append("  \(column.name) lost in \(counted(column.rows, "row"))")
            lines += column.keys.map(Self.line)
        }
        for column in table.lostValues {
            lines.append(
                "  \(column.name): \(counted(column.rows, "value")) lost, which "
                    + "\(column.rows == 1 ? "reads" : "read") as empty")
            lines += column.keys.map(Self.line)
        }
        for collection in table.lostElements { lines += Self.lines(collection) }
        if table.creationsLost > 0 {
            let isOne = table.creationsLost == 1
            lines.append(
                "  \(counted(table.creationsLost, "row")) lost \(isOne ? "its" : "their") creation version: links from "
                    + "values of any type do not lead to \(isOne ? "it" : "them")")
        }
        if table.linksRemoved > 0 {
            let links = counted(table.linksRemoved, "link to a lost row", several: "links to lost rows")
            lines.append("  \(links) removed")
        }
        return lines
    }

    private static func lines(_ collection: SalvageReport.LostElements) -> [String] {
        let name = "  \(collection.name) of key \(collection.key): "
        var lines: [String] = []
        let lost = collection.places.reduce(0) { $0 + $1.count }
        if lost > 0 {
            lines.append("\(name)\(counted(lost, "element")) lost")
            for places in collection.places {
                lines.append(
                    places.count == 1
                        ? "    at place \(places.lowerBound)"
                        : "    at places \(places.lowerBound) to \(places.upperBound - 1)")
            }
        }
        if collection.leftOut > 0 {
            lines.append(
                "\(name)\(counted(collection.leftOut, "element")) left out, which "
                    + "\(collection.leftOut == 1 ? "was" : "were") there twice after the replay of the log")
        }
        if collection.uncertain > 0 {
            lines.append(
                "\(name)\(counted(collection.uncertain, "element")) found without the nodes above "
                    + "\(collection.uncertain == 1 ? "it" : "them"), perhaps in another order")
        }
        return lines
    }

    /// The rows of one range that lost a column or a value.
    private static func line(_ range: SalvageReport.KeyRange) -> String {
        "    \(counted(range.rows ?? 0, "row")) with \(Self.keys(range))"
    }

    private static func keys(_ range: SalvageReport.KeyRange) -> String {
        switch (range.low == .min, range.high == .max) {
        case (true, true): "any key"
        case (true, false): "keys up to \(range.high)"
        case (false, true): "keys from \(range.low)"
        case (false, false): range.low == range.high ? "key \(range.low)" : "keys \(range.low) to \(range.high)"
        }
    }

    // MARK: JSONValue

    static func json(_ report: SalvageReport) -> JSONValue {
        let log: JSONValue =
            switch report.log {
            case .none: .members([("state", .string("none"))])
            case .replayed(let version):
                .members([("state", .string("replayed")), ("through", .unsigned(version.rawValue))])
            case .partly(let version):
                .members([("state", .string("partly")), ("through", .unsigned(version.rawValue))])
            case .lost: .members([("state", .string("lost"))])
            }
        return .members([
            ("whole", .bool(report.isWhole)), ("start", .string(report.start.rawValue)),
            ("schema", .string(report.schema.rawValue)), ("log", log),
            ("checkpoint", .unsigned(report.checkpoint.rawValue)), ("free_map", .bool(report.hasFreeMap)),
            ("rows_recovered", .integer(report.rowsRecovered)), ("rows_lost", .integer(report.rowsLost)),
            ("values_lost", .integer(report.valuesLost)),
            ("classes", .array(report.tables.map(Self.json))),
            ("damage", .array(report.damage.map(Self.json))), ("damage_not_listed", .integer(report.unlistedDamage)),
        ])
    }

    private static func json(_ table: SalvageReport.Table) -> JSONValue {
        .members([
            ("name", .string(table.name)), ("rows_recovered", .integer(table.rowsRecovered)),
            ("rows_uncertain", .integer(table.rowsUncertain)), ("rows_lost", .integer(table.rowsLost)),
            ("rows_lost_exact", .bool(table.isLossExact)), ("lost_keys", .array(table.lostKeys.map(Self.json))),
            (
                "lost_columns", .array(table.lostColumns.map(Self.json))
            ),
            ("lost_values", .array(table.lostValues.map(Self.json))), ("values_lost", .integer(table.valuesLost)),
            ("elements_lost", .integer(table.elementsLost)), ("elements_uncertain", .integer(table.elementsUncertain)),
            ("lost_elements", .array(table.lostElements.map(Self.json))),
            ("creations_lost", .integer(table.creationsLost)), ("links_removed", .integer(table.linksRemoved)),
        ])
    }

    private static func json(_ column: SalvageReport.LostColumn) -> JSONValue {
        .members([
            ("name", .string(column.name)), ("rows", .integer(column.rows)),
            ("keys", .array(column.keys.map(Self.json))),
        ])
    }

    private static func json(_ collection: SalvageReport.LostElements) -> JSONValue {
        .members([
            ("name", .string(collection.name)), ("key", .integer(collection.key)),
            (
                "places",
                .array(
                    collection.places.map {
                        .members([("first", .integer($0.lowerBound)), ("last", .integer($0.upperBound - 1))])
                    })
            ),
            ("uncertain", .integer(collection.uncertain)), ("left_out", .integer(collection.leftOut)),
        ])
    }

    private static func json(_ range: SalvageReport.KeyRange) -> JSONValue {
        .members([
            ("low", .integer(range.low)), ("high", .integer(range.high)),
            ("rows", range.rows.map { .integer($0) } ?? .null),
        ])
    }

    private static func json(_ damage: SalvageReport.Damage) -> JSONValue {
        .members([
            ("page", .integer(Int(damage.page.rawValue))), ("pages", .integer(damage.pages)),
            ("offset", .integer(damage.offset)), ("node", .string(damage.kind?.word ?? "header")),
            ("class_id", damage.table.map { .integer(Int($0.rawValue)) } ?? .null),
            ("reason", .string(damage.reason.rawValue)),
        ])
    }
}
