import CStrataShim
import StrataStorage

/// The base of all persisted classes. Applications subclass ``Object``.
///
/// An object is unmanaged until it is added to a Realm: its properties are its own fields. A managed object is an
/// accessor: it has an identity and a cached location of its row, and no values.
open class ObjectBase: Hashable, CustomStringConvertible {
    /// Nil while unmanaged.
    @usableFromInline @exclusivity(unchecked) final var _frame: UnsafeMutablePointer<_ClassFrame>?
    /// The Realm's stamp (``_ClassFrame/stamp``) under which the location was found; under another one it is not valid.
    @usableFromInline @exclusivity(unchecked) final var _stamp: UInt64
    /// The row's location, in parts that code of other modules can compare: see ``_location``.
    @usableFromInline @exclusivity(unchecked) final var _group: UnsafeRawPointer?
    @usableFromInline @exclusivity(unchecked) final var _slot: Int32
    @exclusivity(unchecked) final var _table: Int32
    /// Row key and creation version: set once; with the table they are the object's identity.
    @exclusivity(unchecked) final var _key: Int64
    @exclusivity(unchecked) final var _creation: UInt64
    /// The ``RealmInstance`` of a managed object, or the ``KeyPathTrace`` of an object that follows a key path.
    @usableFromInline @exclusivity(unchecked) final var _owner: AnyObject?
    /// The number of the write that created the row, counted by the Realm; 0 if that write was committed before this
    /// object was made. The next write reuses the version of a cancelled one, so the creation version alone does not
    /// identify a row that was created in a cancelled write.
    @exclusivity(unchecked) final var _birthWrite: UInt32
    /// Whether ``ObjectAdder`` is adding the object, so that links back to it are set later.
    @exclusivity(unchecked) final var _isBeingAdded: Bool

    public required init() {
        _frame = nil
        _stamp = 0
        _group = nil
        _slot = 0
        _table = 0
        _key = 0
        _creation = 0
        _owner = nil
        _birthWrite = 0
        _isBeingAdded = false
    }

    /// The call of `strata_object_ends` comes first: ``ClassPlan`` takes a class whose deinit leads to that call
    /// without any other effect for one that has no deinit of its own.
    deinit {
        strata_object_ends()
        if _frame == nil { UnmanagedRelease.run(self) }
    }

    /// The row's location; nil before it was first found.
    @inline(__always)
    final var _location: RowLocation? {
        get { _group.map { RowLocation(group: $0, slot: _slot, table: _table) } }
        set {
            _group = newValue?.group
            _slot = newValue?.slot ?? 0
            _table = newValue?.table ?? 0
        }
    }

    /// The class's name in files, in migrations and in messages.
    open class func className() -> String { _typeName(self, qualified: false) }

    /// The primary key's property in the older form of declaration.
    open class func primaryKey() -> String? { nil }

    /// Indexed properties in the older form of declaration.
    open class func indexedProperties() -> [String] { [] }

    /// Whether the class belongs to configurations that name no classes. A configuration can always name it.
    open class func shouldIncludeInDefaultSchema() -> Bool { true }

    /// Lists of properties whose combined values must be unique among the objects of the class.
    ///
    ///     override class func uniqueKeys() -> [[String]] { [["email"], ["lastName", "firstName"]] }
    ///
    /// A write that would leave duplicates throws `duplicateKey` at its commit. A key with a null is never a duplicate.
    /// Each property of a key gets an index, if its type can have one; the check uses the most selective of them.
    open class func uniqueKeys() -> [[String]] { [] }

    /// Stored properties that are not persisted, in the older form of declaration.
    open class func ignoredProperties() -> [String] { [] }

    /// The names that properties have in the file, by their names in the program, for those that differ.
    ///
    ///     override class func propertiesMapping() -> [String: String] { ["firstName": "first_name"] }
    open class func propertiesMapping() -> [String: String] { [:] }

    /// The class as stored in its file; the program's own declaration while unmanaged.
    public final var objectSchema: ObjectSchema {
        if let instance = _instance, let shown = instance.shownSchema(of: _access.name) { return shown }
        return (_frame.flatMap { _ in _access.plan } ?? ClassPlan.plan(for: type(of: self))).declaration
    }

    /// The Realm that manages the object; nil while unmanaged.
    public final var realm: Realm? { _instance.map { Realm($0) } }

    final var _instance: RealmInstance? {
        guard _frame != nil, let _owner else { return nil }
        return unsafeDowncast(_owner, to: RealmInstance.self)
    }

    /// Whether the row of a managed object was deleted or cannot be read, or its Realm shows no version any more. Never
    /// true for an unmanaged object.
    public final var isInvalidated: Bool {
        #if Zoo
            if PlantedMistake.invalidationDenied.isPlanted { return false }
        #endif
        return _frame != nil && !(_isCurrentRow() || _relocate())
    }

    private final func _isCurrentRow() -> Bool { _stamp == _access.frame.pointee.stamp }

    /// Whether the object belongs to a frozen Realm, which shows one version for ever.
    public final var isFrozen: Bool { _instance?.isFrozen ?? false }

    /// Whether both are the same row, or the same unmanaged object. Reads no storage.
    public final func isSameObject(as other: ObjectBase?) -> Bool {
        guard let other else { return false }
        if self === other { return true }
        guard _frame != nil, other._frame != nil else { return false }
        guard _key == other._key, _creation == other._creation, _access.tableID == other._access.tableID,
            _access.instance.file.store === other._access.instance.file.store
        else { return false }
        return _birthWrite == other._birthWrite || !(_wasTakenBack || other._wasTakenBack)
    }

    /// Whether the row was created in a cancelled write.
    private final var _wasTakenBack: Bool { _birthWrite != 0 && _access.instance.writing.isCancelled(_birthWrite) }

    public static func == (a: ObjectBase, b: ObjectBase) -> Bool { a.isSameObject(as: b) }

    /// From when the object is managed the hash stays the same, whatever happens to its row. Adding an unmanaged object
    /// changes its hash.
    public func hash(into hasher: inout Hasher) {
        guard _frame != nil else { return hasher.combine(ObjectIdentifier(self)) }
        #if Zoo
            if PlantedMistake.identityChanges.isPlanted, isInvalidated { hasher.combine(1) }
        #endif
        hasher.combine(_key)
        hasher.combine(_creation)
        hasher.combine(_access.tableID)
    }

    /// The class name and every property, one per line, and the objects they lead to, down to a depth.
    public var description: String { described(Description.depth) }

    /// A property by name; nil if there is none of this name.
    ///
    /// Assigning goes through the same checks as a typed property; a value of another type fails the write transaction.
    public final subscript(key: String) -> Any? {
        get { _dynamicValue(key) }
        set { _setDynamicValue(key, newValue) }
    }

    /// Runs `read`, which reads properties of this object, and throws if the row is deleted or unreadable. For
    /// ``_CheckedReading/read(_:)``.
    /// - Throws: ``Realm/Error`` with `objectDeleted`, `invalidDatabase` or `incorrectThread`.
    public final func _readChecked<Value>(_ read: () -> Value) throws -> Value {
        guard _frame != nil else { return read() }
        let access = _access
        try access.instance.requireHere()
        if !_isCurrentRow() {
            if let error = access.tryRelocate(self) { throw error }
        }
        return try access.instance.failures.collecting(read)
    }
}

/// Gives `read` the type of the subclass, so that `\.name` is the subclass's own.
public protocol _CheckedReading: ObjectBase {}

extension ObjectBase: _CheckedReading {}

extension _CheckedReading {
    /// A property, or a typed error if the row is deleted or unreadable: the throwing form of `self.property`.
    ///
    ///     let name = try dog.read(\.name)
    /// - Throws: ``Realm/Error`` with `objectDeleted`, `invalidDatabase` or `incorrectThread`.
    public func read<Value>(_ property: KeyPath<Self, Value>) throws -> Value {
        try _readChecked { self[keyPath: property] }
    }
}

/// The base class of an application's objects that have an identity of their own in a Realm, in contrast to an
/// ``EmbeddedObject``.
open class Object: ObjectBase {
    public required init() { super.init() }

    /// An unmanaged object with properties from a dictionary by name, an array in order of declaration, or another
    /// object.
    public convenience init(value: Any) {
        self.init()
        if let error = _assign(value) { fatalError(error.description) }
    }

    /// As `init(value:)`, for values that may not fit: where that one ends the program, this one throws. It also
    /// refuses names that the class does not have.
    /// - Throws: ``Realm/Error`` with `invalidInput`, naming class, property, what was expected and got.
    public convenience init(checking value: Any) throws {
        self.init()
        if let error = _assign(value, allowsUnknown: false) { throw error }
    }
}

/// RealmSwift's own name for ``Object``.
public typealias RealmSwiftObject = Object

/// An object that belongs to one parent: a property, a list or a map of another object.
///
///     final class Address: EmbeddedObject { @Persisted var city = "" }
///     final class Person: Object { @Persisted var address: Address? }
///
/// It is added and deleted with its parent, and deleted when the parent replaces it. A second parent is refused: give
/// that parent an object of its own, such as a copy by `detached()`.
open class EmbeddedObject: ObjectBase {
    public required init() { super.init() }

    /// An unmanaged object with properties from a dictionary by name, an array in order of declaration, or another
    /// object.
    public convenience init(value: Any) {
        self.init()
        if let error = _assign(value) { fatalError(error.description) }
    }
}

/// Gives an object the identity that a SwiftUI list needs: `id` reads no storage.
public protocol ObjectKeyIdentifiable: Identifiable where Self: ObjectBase {}

extension ObjectKeyIdentifiable {
    public var id: UInt64 { UInt64(bitPattern: Int64(hashValue)) }
}
