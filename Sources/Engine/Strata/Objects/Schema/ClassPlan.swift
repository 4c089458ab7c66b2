import CStrataShim
import StrataStorage
@_spi(Reflection) import Swift
import Synchronization

/// What the program declares for a class, independent of any file: its persisted fields and their offsets in an object.
/// Made once per class.
final class ClassPlan: @unchecked Sendable {  // immutable after init; the prototype is only read
    let type: ObjectBase.Type
    let name: String
    let fields: [PlanField]
    /// An object that is never added: its fields hold the declared defaults.
    let prototype: ObjectBase
    /// One more than the offset of the last field, for tables by offset.
    let offsetLimit: Int
    let primary: PlanField?
    /// Fields without a wrapper, which are bound to their columns when an object of a row is made.
    let plainFields: [PlanField]
    /// Whether its objects belong to one parent each.
    let isEmbedded: Bool
    /// Lists of properties; no two objects may be equal in all properties of a list.
    let uniqueKeys: [[String]]
    /// Indices in `fields` of those with ``PlanField/isBound``.
    let bound: [Int]
    /// For each index in `bound` the field's offset if it is one word; else -1.
    let boundOffsets: [Int]

    /// The value of ``isEncodable``, once it was asked for.
    private let encodability = Atomic<Encodability>(.unknown)
    private let shownDeclaration = AtomicLazyReference<ShownDeclaration>()
    private let placesByName = DefinitionPlaces<String>()
    private let placesByColumnName = DefinitionPlaces<String>()
    private let placesByOffset = DefinitionPlaces<Int>()

    /// The names of stored properties that the program declares and that are not persisted.
    private let otherNames: [String]

    /// Why objects of the class cannot be read safely: a property has no value for what cannot be read. Nil for a
    /// usable class. A Realm leaves out only the unusable class, unless the program names it.
    let unusable: RealmError?

    /// Whether an object of the class is only a reference to its row: the program declares no other stored property and
    /// no deinit. So a program that keeps no reference to an object cannot tell it from another one of the same row.
    let isOnlyPlace: Bool

    private static let plans = Mutex<[ObjectIdentifier: ClassPlan]>([:])
    /// Classes whose plans are being made, with the number of threads that are making each.
    private static let unfinished = Mutex<[ObjectIdentifier: Int]>([:])

    /// The plan of a class, made at the first request.
    /// - Complexity: some microseconds for the first request of a class; then a dictionary access under a lock.
    static func plan(for type: ObjectBase.Type) -> ClassPlan {
        let identity = ObjectIdentifier(type)
        if let known = plans.withLock({ $0[identity] }) { return known }
        unfinished.withLock { $0[identity, default: 0] += 1 }
        let made = ClassPlan(type)
        unfinished.withLock { $0[identity, default: 0] -= 1 }
        return plans.withLock { plans in
            if let known = plans[identity] { return known }
            plans[identity] = made
            return made
        }
    }

    /// The error for a class that a Realm does not have, or that is unusable.
    static func refusal(of type: ObjectBase.Type) -> RealmError {
        plan(for: type).unusable
            ?? RealmError(
                .schemaMismatch, "'\(type.className())' is not a class of this Realm: add it to objectTypes")
    }

    /// The plan of an object being released; nil while the plan is being made, which may itself make and release
    /// objects.
    static func planAtEnd(of type: ObjectBase.Type) -> ClassPlan? {
        let identity = ObjectIdentifier(type)
        if let known = plans.withLock({ $0[identity] }) { return known }
        return unfinished.withLock { $0[identity] ?? 0 > 0 } ? nil : plan(for: type)
    }

    private init(_ type: ObjectBase.Type) {
        self.type = type
        name = type.className()
        isEmbedded = type is EmbeddedObject.Type
        prototype = type.init()
        let primaryName = type.primaryKey()
        let indexedNames = Set(type.indexedProperties() + type.uniqueKeys().flatMap { $0 })
        let ignoredNames = Set(type.ignoredProperties())
        let columnNames = type.propertiesMapping()
        let uniqueKeys = type.uniqueKeys()
        self.uniqueKeys = uniqueKeys
        var fields: [PlanField] = []
        let object = prototype
        var otherNames: [String] = []
        // Option 1 says that the type is a class.
        _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) { label, offset, fieldType, _ in
            let label = String(cString: label)
            // Compared before the look for a field type: a cast that fails searches all conformances of the program.
            if Self.ownFields[offset] == label { return true }
            guard let field = FieldTypes.field(fieldType) else {
                let lazyMark = "$__lazy_storage_$_"
                let name = label.hasPrefix(lazyMark) ? String(label.dropFirst(lazyMark.count)) : label
                otherNames.append(name)
                return true
            }
            let name = label.hasPrefix("_") && !field.isPlain ? String(label.dropFirst()) : label
            if ignoredNames.contains(name) {
                otherNames.append(name)
                return true
            }
            let address = object._field(offset)
            let options = field.options(address)
            let isPrimary = options & PersistedOptions.primaryKey != 0 || name == primaryName
            fields.append(
                PlanField(
                    name: name, columnName: columnNames[name] ?? name, offset: offset, shape: field.shape, field: field,
                    isPrimary: isPrimary,
                    isIndexed: options & PersistedOptions.indexed != 0 || indexedNames.contains(name),
                    isAutoIncrement: options & PersistedOptions.autoIncrement != 0,
                    deleteRule: PersistedOptions.rule(in: options),
                    origin: field.shape.type == .linkingObjects ? field.originProperty(address) : nil))
            return true
        }
        self.fields = fields
        plainFields = fields.filter(\.isPlain)
        primary = fields.first(where: \.isPrimary)
        offsetLimit = (fields.map(\.offset).max() ?? 0) + 1
        let bound = fields.indices.filter { fields[$0].isBound }
        self.bound = bound
        boundOffsets = bound.map { fields[$0].isReference ? fields[$0].offset : -1 }
        self.otherNames = otherNames
        unusable = Self.missingStart(fields, object, name)
        isOnlyPlace = otherNames.isEmpty && plainFields.isEmpty && Self.endsPlainly(type)
    }

    /// Stored properties that every object has, by their offsets.
    private static let ownFields: [Int: String] = {
        var names: [Int: String] = [:]
        _ = _forEachField(of: ObjectBase.self, options: _EachFieldOptions(rawValue: 1)) { label, offset, _, _ in
            names[offset] = String(cString: label)
            return true
        }
        return names
    }()

    private enum Encodability: UInt8, AtomicRepresentable { case unknown, no, yes }

    /// Whether the class is `Encodable`, so that the program may try to encode its objects.
    /// - Complexity: a search of all conformances of the program at the first call; so it is called for classes in use
    ///   only.
    var isEncodable: Bool {
        switch encodability.load(ordering: .relaxed) {
        case .yes: return true
        case .no: return false
        case .unknown:
            let isEncodable = type is any Encodable.Type
            encodability.store(isEncodable ? .yes : .no, ordering: .relaxed)
            return isEncodable
        }
    }

    /// Whether a class neither has nor inherits a deinit besides that of ``ObjectBase``. False if that is not known.
    private static func endsPlainly(_ type: ObjectBase.Type) -> Bool {
        strata_ends_plainly(unsafeBitCast(type, to: UnsafeRawPointer.self)) != 0
    }

    /// The plans of `types` and of all classes that they link to, sorted by name.
    /// - Throws: `schemaMismatch` for an invalid declaration, and if two classes share a name.
    /// - Parameter named: whether the program names the classes, so that each must be usable. An unusable class that
    ///   was discovered or linked to is only left out itself.
    static func closure(of types: [ObjectBase.Type], named: Bool) throws(RealmError) -> [ClassPlan] {
        if named { for type in types { if let reason = plan(for: type).unusable { throw reason } } }
        var plans: [String: ClassPlan] = [:]
        var waiting = types
        while let type = waiting.popLast() {
            let plan = ClassPlan.plan(for: type)
            if let known = plans[plan.name] {
                if known.type == type { continue }
                throw RealmError(
                    .schemaMismatch,
                    "two classes are called '\(plan.name)': \(String(reflecting: known.type)) and "
                        + "\(String(reflecting: type)); rename one, or list the wanted ones in objectTypes")
            }
            plans[plan.name] = plan
            try plan.check()
            for field in plan.fields {
                if let target = field.shape.objectType, field.shape.type == .object { waiting.append(target) }
            }
        }
        for plan in plans.values where plan.fields.isEmpty && !plan.otherNames.isEmpty {
            // A base class of others may have only unpersisted properties.
            let isBase = plans.values.contains { plan.isBase(of: $0) }
            if !isBase { throw plan.withoutColumns }
        }
        return plans.values.sorted { $0.name < $1.name }
    }
}

/// Holds a class as the program declares it, in a form that can be published to several threads.
private final class ShownDeclaration: Sendable {
    let schema: ObjectSchema
    init(_ schema: ObjectSchema) { self.schema = schema }
}

extension ClassPlan {
    /// The error if a property has nothing to read as when its value cannot be read: its custom type refuses the stored
    /// type's own default, and it is neither optional nor has a default.
    private static func missingStart(_ fields: [PlanField], _ prototype: ObjectBase, _ name: String) -> RealmError? {
        for field in fields {
            guard let custom = field.shape.customType, custom.start() == nil else { continue }
            var remedy: String?
            if field.shape.collection != .none {
                remedy = "declare its elements as \(custom)?: what cannot be read has to read as nil"
            } else if !field.field.hasValue(prototype._field(field.offset)) {
                remedy = "declare it \(custom)?, or give it a default for what cannot be read"
            }
            if let remedy { return RealmError(.schemaMismatch, "'\(name).\(field.name)': \(remedy)") }
        }
        return nil
    }

    /// The class as the program declares it.
    var declaration: ObjectSchema {
        (shownDeclaration.load() ?? shownDeclaration.storeIfNil(ShownDeclaration(ObjectSchema(self)))).schema
    }

    /// The field of a property.
    func field(named name: String) -> PlanField? { placesByName.first(name, in: fields) { $0.name }.map { fields[$0] } }

    /// The field of a property, by its name in the file.
    func field(ofColumn name: String) -> PlanField? {
        placesByColumnName.first(name, in: fields) { $0.columnName }.map { fields[$0] }
    }

    /// The field at an offset.
    func field(at offset: Int) -> PlanField? {
        placesByOffset.first(offset, in: fields) { $0.offset }.map { fields[$0] }
    }

    /// - Throws: `schemaMismatch` for invalid declarations.
    private func check() throws(RealmError) {
        func refuse(_ field: PlanField, _ reason: String) -> RealmError {
            RealmError(.schemaMismatch, "'\(name).\(field.name)': \(reason)")
        }
        for field in fields {
            if field.isPrimary {
                if isEmbedded { throw refuse(field, "an embedded object has no primary key") }
                let allowed: [PropertyType] = [.int, .string, .UUID, .objectId]
                guard field.shape.collection == .none, allowed.contains(field.shape.type) else {
                    throw refuse(field, "a primary key is an integer, a String, a UUID or an ObjectId")
                }
            }
            if field.isAutoIncrement, !field.canBeRowKey {
                throw refuse(field, "numbers are given to a primary key of integers alone")
            }
            guard field.shape.type == .object, field.shape.collection != .none else { continue }
            let target = field.shape.objectType?.className() ?? "object"
            // A custom type stored as an embedded object has its own value for a missing object.
            if field.shape.collection == .map, !field.shape.isOptional, field.shape.customType == nil {
                throw refuse(
                    field, "declare it Map<String, \(target)?>: an object that is deleted leaves nil under its key")
            }
            if field.shape.collection != .map, field.shape.isOptional {
                throw refuse(field, "a list or set of objects has no nil in it; declare its elements as \(target)")
            }
            if field.shape.collection == .set, field.isParental {
                throw refuse(field, "embedded objects live in properties, lists and maps, not in sets")
            }
        }
        try checkNames()
        if fields.count(where: \.isPrimary) > 1 {
            throw RealmError(.schemaMismatch, "'\(name)' has more than one primary key")
        }
        try checkUniqueKeys()
    }
}

extension ClassPlan {
    private func isBase(of other: ClassPlan) -> Bool {
        var type: AnyClass? = other.type
        while let next = type.flatMap({ _getSuperclass($0) }) {
            if next == self.type { return true }
            type = next
        }
        return false
    }

    /// The error for a class that has stored properties of which none is persisted: all that its objects hold would be
    /// lost silently.
    private var withoutColumns: RealmError {
        RealmError(
            .schemaMismatch,
            "'\(name)' has stored properties, and none that is persisted: declare them @Persisted var "
                + "\(otherNames.prefix(3).joined(separator: ", @Persisted var "))")
    }

    /// Checks that the names in the older form of declaration are those of properties: a property that lost its
    /// `@objc dynamic` and got no `@Persisted` is not persisted.
    private func checkNames() throws(RealmError) {
        let known = Set(fields.map(\.name))
        func refuse(_ list: String, _ name: String, _ remedy: String) -> RealmError {
            RealmError(.schemaMismatch, "'\(self.name)': \(list) names '\(name)', \(remedy)")
        }
        let wanted = [
            ("primaryKey()", [type.primaryKey()].compactMap(\.self)), ("indexedProperties()", type.indexedProperties()),
        ]
        for (list, names) in wanted {
            for name in names where !known.contains(name) {
                throw refuse(list, name, "which is no persisted property: declare it @Persisted var \(name)")
            }
        }
        let others = Set(otherNames)
        for name in type.ignoredProperties() where !known.contains(name) && !others.contains(name) {
            throw refuse(
                "ignoredProperties()", name,
                "which is no stored property: take it out, since what has no @Persisted is left alone anyway")
        }
    }
}

/// A persisted field of a class.
struct PlanField {
    let name: String
    /// Its name in the file.
    let columnName: String
    /// The field's bytes begin this far from the object's start.
    let offset: Int
    let shape: _PropertyShape
    let field: any PersistedField.Type
    let isPrimary: Bool
    let isIndexed: Bool
    /// Whether the database gives numbers to it: an auto-incremented primary key.
    let isAutoIncrement: Bool
    let deleteRule: DeleteRule
    /// For linking objects: the property of the other class.
    let origin: String?

    /// Whether the field is declared without a wrapper.
    var isPlain: Bool { field.isPlain }
    /// Whether it may lead to other objects, holds a collection, or has no wrapper.
    var isBound: Bool {
        shape.type == .object || shape.type == .any || shape.collection != .none || isPlain
    }
    /// Whether it links to embedded objects.
    var isParental: Bool { shape.type == .object && shape.objectType is EmbeddedObject.Type }
    /// Whether the property has a column of its own unless it is the row's key.
    var isStored: Bool { shape.type != .linkingObjects }
    /// Whether an integer primary key may be the row's key.
    var canBeRowKey: Bool { isPrimary && shape.type == .int && !shape.isOptional && shape.collection == .none }
}
