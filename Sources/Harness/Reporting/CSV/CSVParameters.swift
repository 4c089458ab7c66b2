import JSONText
import RunRecords

/// The column `params`: a JSON object with unique names.
///
/// The parameters of the case come first, each as a text under its own name. Then follow values that tell rows apart
/// and have no column: `size` (rows of the data set), `series`, `step` and `position` (a point of a series, which is
/// its `position`-th `step`), and `repeat` (from 2 on, the number of a sample or trial that is otherwise equal to an
/// earlier one). If a case has a parameter of such a name, the added name gets a leading `_`.
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

    /// Empty if there are no members: the column is then empty, too.
    var text: String { members.isEmpty ? "" : JSONValue.object(members).text }
}
