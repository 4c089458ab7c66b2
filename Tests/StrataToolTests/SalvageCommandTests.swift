import StrataStorage
import Testing

@testable import StrataRepair
@testable import StrataTool

/// The words of `strata salvage`, from reports that are made here.
@Suite struct SalvageCommandTests {
    private static func range(_ low: Int64, _ high: Int64, rows: Int) -> SalvageReport.KeyRange {
        SalvageReport.KeyRange(low: low, high: high, rows: rows)
    }

    /// The lines about one class that lost `count` of each kind of thing.
    private static func lines(each count: Int) -> [String] {
        let keys = range(5, Int64(4 + count), rows: count)
        var table = SalvageReport.Table(id: TableID(1), name: "Person")
        table.rowsRecovered = count
        table.rowsUncertain = count
        table.rowsLost = count
        table.lostKeys = [keys]
        table.lostColumns = [SalvageReport.LostColumn(id: ColumnID(1), name: "age", rows: count, keys: [keys])]
        table.lostValues = [SalvageReport.LostColumn(id: ColumnID(2), name: "note", rows: count, keys: [keys])]
        table.lostElements = [
            SalvageReport.LostElements(
                id: ColumnID(3), name: "names", key: 9, places: [3..<3 + count], uncertain: count, lost: count,
                isOrderUncertain: true, leftOut: count)
        ]
        table.creationsLost = count
        table.linksRemoved = count
        var report = SalvageReport()
        report.tables = [table]
        return SalvageCommand.lines(report, "new")
    }

    @Test("one lost row, value, element or link is written in the singular")
    func one() {
        let lines = Self.lines(each: 1)
        #expect(
            lines == [
                "Person: 1 row, 1 lost",
                "  1 row may be older than the last commit: nothing above its page verifies",
                "  lost: 1 row with key 5",
                "  age lost in 1 row", "    1 row with key 5",
                "  note: 1 value lost, which reads as empty", "    1 row with key 5",
                "  names of key 9: 1 element lost", "    at place 3",
                "  names of key 9: 1 element left out, which was there twice after the replay of the log",
                "  names of key 9: 1 element found without the nodes above it, perhaps in another order",
                "  1 row lost its creation version: links from values of any type do not lead to it",
                "  1 link to a lost row removed",
                "new: 1 row, 1 row and 2 values lost, 0 damaged nodes",
            ])
    }

    @Test("several lost rows, values, elements and links are written in the plural")
    func several() {
        let lines = Self.lines(each: 2)
        for words in [
            "  2 rows may be older than the last commit: nothing above their pages verifies",
            "  lost: 2 rows with keys 5 to 6", "  age lost in 2 rows", "  note: 2 values lost, which read as empty",
            "  names of key 9: 2 elements lost", "    at places 3 to 4", "  2 links to lost rows removed",
        ] { #expect(lines.contains(words), "\(words): \(lines)") }
    }
}
