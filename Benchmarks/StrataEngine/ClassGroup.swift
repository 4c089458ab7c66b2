import Harness
import RunRecords
import Strata
import StrataFiles

/// The classes of one file: those for the tables of a data set.
struct ClassGroup: Sendable {
    let name: String
    let classes: [any TableObject.Type]
    /// The names of the classes, in their order. Kept, because Swift makes the name of a class anew at each request.
    private let tableNames: [String]

    private init(name: String, classes: [any TableObject.Type]) {
        self.name = name
        self.classes = classes
        tableNames = classes.map { $0.tableName }
    }

    static let all = [
        ClassGroup(name: "people", classes: [Person.self, Dog.self]),
        ClassGroup(name: "damage", classes: [DamagePerson.self, DamageDog.self]),
        ClassGroup(name: "packages", classes: [DebianPackage.self]),
        ClassGroup(name: "numbers", classes: [NumberRow.self]),
    ]

    func path(at location: DatabaseLocation) -> String { "\(location.directory)/\(name).strata" }

    /// The group whose file, or whose file's log, is at the location.
    static func found(at location: DatabaseLocation, in files: any FileSystem) -> ClassGroup? {
        all.first { group in
            let path = group.path(at: location)
            return [path, path + ".log"].contains { path in
                do throws(FileError) { return try files.status(path) != nil } catch { return false }
            }
        }
    }

    /// The group that has a class for each of the tables.
    static func holding(_ tables: [Table]) throws(EngineError) -> ClassGroup {
        let names = Set(tables.map(\.name))
        guard let group = all.first(where: { names.isSubset(of: $0.classes.map { $0.tableName }) }) else {
            throw EngineError(
                .unsupported, "no classes for \(names.sorted().joined(separator: ", ")): Strata's tables are classes")
        }
        return group
    }

    func type(of table: String) throws(EngineError) -> any TableObject.Type {
        guard let place = tableNames.firstIndex(of: table) else {
            throw EngineError(.refused, "no class \(table) in the file of \(name)")
        }
        return classes[place]
    }
}
