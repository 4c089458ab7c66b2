import Strata

/// The object of a table cell. Its declared defaults differ from stored values.
protocol ShownObject: Object {
    var number: Int { get set }
    var title: String { get set }
    var count: Int { get set }
    var weight: Double { get set }
    var parts: List<Self> { get }
    var holders: LinkingObjects<Self> { get }
    var partner: Self? { get set }

    func checkedTitle() throws -> String
    static func first(_ number: Int, in realm: Realm) -> Self?
}

extension ShownObject {
    static func make(_ number: Int) -> Self {
        let cell = Self()
        cell.number = number
        cell.title = "title \(number)"
        cell.count = number * 10
        cell.weight = Double(number) + 0.25
        return cell
    }

    var hasPartner: Bool { partner != nil }
    var partCount: Int { parts.count }
    func addPart(_ part: Self) { parts.append(part) }
    func rename(_ title: String) { self.title = title }

    /// All values of the object, and its backlinks.
    var line: String {
        Self.line(
            number, title, count: count, weight: weight, partner: partner?.number, parts: parts.map(\.number),
            holders: holders.map(\.number).sorted())
    }

    /// The line of an object as `make` leaves it.
    static func line(_ number: Int, partner: Int? = nil, parts: [Int] = [], holders: [Int] = []) -> String {
        line(
            number, "title \(number)", count: number * 10, weight: Double(number) + 0.25, partner: partner,
            parts: parts,
            holders: holders)
    }

    private static func line(
        _ number: Int, _ title: String, count: Int, weight: Double, partner: Int?, parts: [Int], holders: [Int]
    ) -> String {
        "\(number) \(title), \(count), \(weight), partner \(partner ?? -1), parts \(parts), held by \(holders)"
    }

    /// A line for each object of the class, by number.
    static func lines(_ realm: Realm) -> [String] {
        realm.objects(Self.self).map { ($0.number, $0.line) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

final class KeyedCell: Object, ShownObject {
    @Persisted(primaryKey: true) var number: Int
    @Persisted var title = "untitled"
    @Persisted var count = -1
    @Persisted var weight = 0.5
    @Persisted var partner: KeyedCell?
    @Persisted var parts: List<KeyedCell>
    @Persisted(originProperty: "parts") var holders: LinkingObjects<KeyedCell>

    func checkedTitle() throws -> String { try read(\.title) }

    static func first(_ number: Int, in realm: Realm) -> KeyedCell? {
        realm.object(ofType: KeyedCell.self, forPrimaryKey: number)
    }
}

final class PlainCell: Object, ShownObject {
    @Persisted var number: Int
    @Persisted var title = "untitled"
    @Persisted var count = -1
    @Persisted var weight = 0.5
    @Persisted var partner: PlainCell?
    @Persisted var parts: List<PlainCell>
    @Persisted(originProperty: "parts") var holders: LinkingObjects<PlainCell>

    func checkedTitle() throws -> String { try read(\.title) }

    static func first(_ number: Int, in realm: Realm) -> PlainCell? {
        realm.objects(PlainCell.self).where { $0.number == number }.first
    }
}
