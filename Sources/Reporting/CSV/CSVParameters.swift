import JSONText
import RunRecords

/// The column `params`: a JSON object in which no name stands twice.
///
/// The parameters of the case come first, each a text under its own name. What else tells rows apart and has no column
/// follows: `size` (rows of the data set), `series`, `step` and `position` (a point of a series: the `position`-th
/// `step`), `repeat` (of samples or trials that are alike in everything, from the second on). Where a case has a
/// parameter of such a name, ours gets `_` in front.
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

    /// Empty where there is nothing to say, so that the column can be told to be empty.
    var text: String { members.isEmpty ? "" : JSONValue.object(members).text }
}
