import RunRecords

/// A table of rates that several cases fill: a row per engine, a column per operation.
struct FigureGrid {
    struct Cell {
        var sample: Sample
        var result: CaseResult
    }

    var caption: String
    var columns: [ResultGrid.Column] = []
    /// In the order of the run.
    var engines: [String] = []
    var cells: [String: [ResultGrid.Column: Cell]] = [:]

    fileprivate mutating func place(_ place: GridFigure, _ sample: Sample, _ result: CaseResult) {
        let column = ResultGrid.Column(group: place.group, name: place.column)
        if !columns.contains(column) { columns.append(column) }
        // Of cases that differ only in a parameter without a column, the table shows the first one.
        if cells[result.test.engine]?[column] != nil { return }
        cells[result.test.engine, default: [:]][column] = Cell(sample: sample, result: result)
    }
}

extension RunDigest {
    /// The tables that cases of this durability class fill.
    func figureGrids(_ durability: DurabilityClass) -> [FigureGrid] {
        var grids: [FigureGrid] = []
        for result in results where result.test.durability == durability {
            for (place, sample) in result.gridFigures {
                let index = grids.firstIndex { $0.caption == place.grid } ?? grids.count
                if index == grids.count { grids.append(FigureGrid(caption: place.grid)) }
                grids[index].place(place, sample, result)
            }
        }
        for index in grids.indices {
            grids[index].columns = grids[index].columns.gathered
            grids[index].engines = engines.filter { grids[index].cells[$0] != nil }
        }
        return grids
    }
}
