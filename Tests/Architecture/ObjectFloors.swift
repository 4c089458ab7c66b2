extension Floors {
    /// The floors of the object layer. An exception below is removed when a change makes it unnecessary; a new one
    /// needs a reason about the objects, not about the code.
    static let objects = Floors(
        room: "Sources/Strata/",
        folders: [
            "Values", "Schema", "Objects", "Collections", "Queries", "Notifications", "Realm", "Projections",
            "Migration",
        ],
        exceptions: [
            "Values: Realm": errors,
            "Values: ObjectBase": "the shape of a link names the class that it leads to",
            "Values: Object": "a value of any type may be an object",
            "Values: List": nested, "Values: Map": nested, "Values: _ColumnCollection": nested,
            "Values: ElementConversion": nested,
            "Values: DynamicObject": "the object in a value of any type may be of no class of the program",
            "Values: PersistableEnum": "a value of any Swift type may be a case of the program's enumeration",
            "Values: FailableCustomPersistable": "a value of any Swift type may be of a type that the program maps",
            "Values: _Scalar": "a value of any Swift type is asked for what a column holds",
            "Schema: Realm": errors,
            "Schema: ObjectBase": classes, "Schema: Object": classes, "Schema: EmbeddedObject": classes,
            "Schema: DynamicObject": classes, "Schema: PersistedField": classes, "Schema: PersistedOptions": classes,
            "Schema: Persisted": "all `Persisted<Value>` share a type descriptor, by which the schema knows fields",
            "Objects: Realm": errors + "; an object leads to its Realm",
            "Objects: SharedStore": "an instance keeps its file open",
            "Objects: AsyncWrites": "an instance has the queue of its asynchronous writes",
            "Objects: Observation": "an instance has its observers", "Objects: ChangeInbox": "they hear by an inbox",
            "Objects: NotificationToken": "a commit may leave observers out",
            "Objects: _CollectionColumn": collections, "Objects: _ColumnCollection": collections,
            "Objects: ElementConversion": collections,
            "Objects: AnyCollectionFactory": collections, "Objects: LinkingObjects": collections,
            "Objects: AnyLinkingObjects": collections, "Objects: Results": collections, "Objects: List": collections,
            "Objects: MutableSet": collections, "Objects: Map": collections,
            "Collections: Realm": errors + "; a collection leads to its Realm",
            "Collections: ObjectSource": "a collection of objects is queried and sorted",
            "Collections: ValueSource": "a collection of values is queried and sorted",
            "Collections: SortDescriptor": "sections follow the order of their collection",
            "Collections: ThreadConfined": "a collection of any kind may be found again on another thread",
            "Queries: Realm": errors,
            "Notifications: Realm": errors,
            "Notifications: InstanceCache": "a sequence of changes looks at the Realm of the task that reads it",
            "Realm: SchemaSetup": "a file is opened with the schema of its configuration", "Realm: Migration": plan,
            "Realm: MigrationPlan": plan, "Realm: MigrationBackup": plan, "Realm: MigrationProgress": plan,
        ])

    private static let errors = "errors are called `Realm.Error` by their public name"
    private static let classes = "what the program's classes declare is read from the classes themselves"
    private static let collections = "a property of an object may be a collection, or follow from links"
    private static let nested = "a value of any type may be a list or a map of such values"
    private static let plan = "a configuration says how the file is migrated"
}
