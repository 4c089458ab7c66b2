import JSONText

/// Where each trial of a sweep over closed files did its damage: the data of a heat map.
package struct SweepMap: Hashable, Sendable {
    /// A file as it was before the damage.
    package struct File: Hashable, Sendable {
        package var name: String
        package var byteCount: Int
        /// The owners of its pages, if the engine knows them: ascending, without overlaps. A page outside of these
        /// ranges has no owner.
        package var owners: [PageRange]

        package init(name: String, byteCount: Int, owners: [PageRange] = []) {
            self.name = name
            self.byteCount = byteCount
            self.owners = owners
        }

        /// The owner of a page.
        package func owner(ofPage page: Int) -> String? {
            owners.first { $0.pages.contains(page) }?.name
        }
    }

    /// Adjacent pages of one table, index or structure.
    package struct PageRange: Hashable, Sendable {
        package var name: String
        package var pages: Range<Int>

        package init(name: String, pages: Range<Int>) {
            self.name = name
            self.pages = pages
        }
    }

    package static let pageBytes = 4_096

    package var fault: FaultKind
    /// The number in the address of each trial, in the order of `CaseDetails.trialCodes`.
    package var positions: [Int]
    /// For a fault with two places, the second number in the address of each trial; empty for others.
    package var others: [Int]
    /// The files in the engine's order, in which positions count through them.
    package var files: [File]

    package init(fault: FaultKind, positions: [Int], others: [Int] = [], files: [File]) {
        self.fault = fault
        self.positions = positions
        self.others = others
        self.files = files
    }

    package func address(ofTrial index: Int) -> FaultAddress {
        others.isEmpty
            ? FaultAddress(fault, positions[index]) : FaultAddress(fault, positions[index], others[index])
    }

    /// Where a trial did its damage: the index of the file, and the byte in it; nil if the position is beyond the
    /// files.
    package func place(ofTrial index: Int) -> (file: Int, offset: Int)? {
        var byte = fault.byte(at: positions[index], others.isEmpty ? nil : others[index])
        for (file, entry) in files.enumerated() {
            if byte < entry.byteCount { return (file, byte) }
            byte -= entry.byteCount
        }
        return nil
    }
}

extension SweepMap {
    package var json: JSONValue {
        var members = [
            JSONMember("fault", .string(fault.rawValue)), JSONMember("positions", Self.json(positions)),
        ]
        if !others.isEmpty { members.append(JSONMember("others", Self.json(others))) }
        return .object(members + [JSONMember("files", .array(files.map(\.json)))])
    }

    private static func json(_ positions: [Int]) -> JSONValue {
        .array(runs(positions).map { .array([.integer($0.first), .integer($0.step), .integer($0.count)]) })
    }

    /// - Parameter limit: the most positions. A map with more trials than the case has does not belong to the case.
    package init(json: JSONObjectReader, limit: Int) throws(JSONShapeError) {
        let fault: FaultKind = try json.member("fault")
        let positions = try Self.numbers("positions", json, limit: limit)
        let others = json.has("others") ? try Self.numbers("others", json, limit: limit) : []
        guard others.count == (fault.hasTwoPlaces ? positions.count : 0) else {
            throw JSONShapeError(path: json.path + ".others", expected: "a number for each trial with two places")
        }
        self.init(fault: fault, positions: positions, others: others, files: try json.member("files"))
    }

    private static func numbers(
        _ name: String, _ json: JSONObjectReader, limit: Int
    ) throws(JSONShapeError) -> [Int] {
        var numbers: [Int] = []
        for element in try json.array(name) {
            guard case .array(let run) = element, run.count == 3, case .integer(let first) = run[0],
                case .integer(let step) = run[1], case .integer(let count) = run[2], count > 0,
                count <= limit - numbers.count, fits(first: Int(first), step: Int(step), count: Int(count))
            else { throw JSONShapeError(path: json.path + "." + name, expected: "first, step and count") }
            for index in 0..<Int(count) { numbers.append(Int(first) + index * Int(step)) }
        }
        return numbers
    }

    /// Whether all numbers of an arithmetic sequence are places in files, and none overflows.
    private static func fits(first: Int, step: Int, count: Int) -> Bool {
        let (span, isWide) = (count - 1).multipliedReportingOverflow(by: step)
        let (last, isHigh) = first.addingReportingOverflow(span)
        return !isWide && !isHigh && ClosedRange.bytes.contains(first)
            && ClosedRange.bytes.contains(last)
    }

    /// The positions as arithmetic sequences. A sweep of every bit is a single one.
    private static func runs(_ positions: [Int]) -> [(first: Int, step: Int, count: Int)] {
        var runs: [(first: Int, step: Int, count: Int)] = []
        for position in positions {
            guard let last = runs.last else {
                runs.append((position, 0, 1))
                continue
            }
            let step = last.count == 1 ? position - last.first : last.step
            if position == last.first + step * last.count {
                runs[runs.count - 1] = (last.first, step, last.count + 1)
            } else {
                runs.append((position, 0, 1))
            }
        }
        return runs
    }
}

extension SweepMap.File: JSONRecord {
    package static let blank = SweepMap.File(name: "", byteCount: 0)

    package static let fields: [JSONField<SweepMap.File>] = [
        .member("name", \.name),
        .member("bytes", \.byteCount, in: .bytes),
        .member("owners", \.owners),
    ]
}

extension SweepMap.PageRange: JSONForm {
    package var json: JSONValue { .array([.string(name), .integer(pages.lowerBound), .integer(pages.count)]) }

    package init(json: JSONValue) throws(JSONShapeError) {
        guard case .array(let parts) = json, parts.count == 3, case .string(let name) = parts[0],
            case .integer(let first) = parts[1], case .integer(let count) = parts[2], first >= 0, count > 0,
            !first.addingReportingOverflow(count).overflow
        else { throw JSONShapeError(expected: "name, first page and count") }
        self.init(name: name, pages: Int(first)..<Int(first + count))
    }
}
