import Harness
import Measuring
import RunRecords
import Strata

final class DebianPackage: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var version: String
    @Persisted var section: String
    @Persisted var installedSize: Int
    @Persisted var summary: String
    @Persisted var depends: List<DebianPackage>
    @Persisted(originProperty: "depends") var dependents: LinkingObjects<DebianPackage>
}

/// The column `description` is the property `summary`, since every object has a `description` already.
extension DebianPackage: TableObject {
    static func maker(_ table: Table) throws(EngineError) -> (Int) -> DebianPackage {
        let names = try table.texts("name")
        let versions = try table.texts("version")
        let sections = try table.texts("section")
        let sizes = try table.integers("installedSize")
        let descriptions = try table.texts("description")
        return { row in
            let package = DebianPackage()
            package.name = names[row]
            package.version = versions[row]
            package.section = sections[row]
            package.installedSize = Int(sizes[row])
            package.summary = descriptions[row]
            return package
        }
    }

    static func find(_ row: Int, in realm: Realm) -> DebianPackage? { finder(in: realm)(row) }

    static func finder(in realm: Realm) -> (Int) -> DebianPackage? {
        let packages = realm.objects(DebianPackage.self)
        let rows = 0..<packages.count
        return { rows.contains($0) ? packages[$0] : nil }
    }

    static func adder(_ column: String) -> ((DebianPackage, inout ReadDigest) -> Void)? {
        switch column {
        case "name": { $1.add(text: $0.name) }
        case "version": { $1.add(text: $0.version) }
        case "section": { $1.add(text: $0.section) }
        case "installedSize": { $1.add(integer: Int64($0.installedSize)) }
        case "description": { $1.add(text: $0.summary) }
        default: nil
        }
    }

    func value(_ column: String, _ rows: RowNumbers) throws -> Value {
        switch column {
        case "name": .text(try read(\.name))
        case "version": .text(try read(\.version))
        case "section": .text(try read(\.section))
        case "installedSize": .integer(Int64(try read(\.installedSize)))
        case "description": .text(try read(\.summary))
        case "depends": .links(try read(\.depends).map { try rows.row(of: $0) })
        default: throw EngineError(.refused, "DebianPackage has no \(column)")
        }
    }

    func setLinks(_ column: String, _ targets: [ObjectBase]) {
        if column == "depends" { depends.append(objectsIn: targets.compactMap { $0 as? DebianPackage }) }
    }

    static func integer(_ column: String) -> ReferenceWritableKeyPath<DebianPackage, Int>? {
        column == "installedSize" ? \.installedSize : nil
    }

    static func setter(_ column: String) -> ((DebianPackage, Int) -> Void)? {
        column == "installedSize" ? { $0.installedSize = $1 } : nil
    }

    static func walker(_ column: String, property: String?) -> ((DebianPackage, inout ReadDigest) -> Void)? {
        guard column == "depends" else { return nil }
        switch property {
        case nil: return { $1.count += $0.depends.count }
        case "installedSize":
            return { package, digest in
                for other in package.depends { digest.add(integer: Int64(other.installedSize)) }
            }
        default: return nil
        }
    }

    static func backWalker(
        _ table: String, _ column: String, property: String?
    ) -> ((DebianPackage, inout ReadDigest) -> Void)? {
        guard table == tableName, column == "depends" else { return nil }
        switch property {
        case nil: return { $1.count += $0.dependents.count }
        case "installedSize":
            return { package, digest in
                for other in package.dependents { digest.add(integer: Int64(other.installedSize)) }
            }
        default: return nil
        }
    }

    static func countEqual(_ column: String, _ text: String, in realm: Realm) -> Int? {
        let packages = realm.objects(DebianPackage.self)
        return switch column {
        case "name": packages.where { $0.name == text }.count
        case "version": packages.where { $0.version == text }.count
        case "section": packages.where { $0.section == text }.count
        case "description": packages.where { $0.summary == text }.count
        default: nil
        }
    }
}
