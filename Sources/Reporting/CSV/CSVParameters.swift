import JSONText
import RunRecords

/// The column `params`: a JSON object with unique names.
///
/// The parameters of the case come first, each a text under its own name. Then follow distinguishing values that have
/// no column: `size` (rows of the data set), `series`, `step` and `position` (a point of a series: the `position`-th
/// `step`), `repeat` (numbers otherwise equal samples or trials, from the second on). If a case has a parameter of such
/// a name, the added one gets a leading `_`.
struct CSVParameters {
    private var members: [JSONMember]

    init(_ test: Case) {
        members = test.parameters.map { JSONMember($0.name, .string($0.value)) }
        if !test.dataset.isEmpty { add("size", .integer(test.size)) }
    }

    mutating func add(_ name: String, _ value: JSONValue) {
        var free = name
        while members.contains(where: { $0.name == free }) { free = "_" + free }
        members.append(JSONMember(free, value))
    }

    /// Empty without members, so that a reader can tell that the column is empty.
    var text: String { members.isEmpty ? "" : JSONValue.object(members).text }
}
