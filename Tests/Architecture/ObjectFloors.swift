extension Floors {
    /// The floors of the object layer. An exception below is removed when a change makes it unnecessary; a new one
    /// needs a reason about the objects, not about the code.
    ///
    /// Objects, their schema and their collections are one floor: a class declares collections, a collection holds
    /// objects, and a value of any type may be either.
    static let objects = Floors(
        room: "Sources/Strata/",
        folders: ["Values", "Objects", "Queries", "Notifications", "Realm", "Projections", "Migration"],
        exceptions: [
            "Objects: ObjectSource": "a collection of objects is queried and sorted",
            "Objects: ValueSource": "a collection of values is queried and sorted",
            "Objects: Observation": "an instance has its observers",
            "Objects: ChangeInbox": "the observers of an instance hear of commits by an inbox",
            "Objects: NotificationToken": "a commit may leave observers out",
            "Objects: Realm": "an object and a collection lead to their Realm, and it says how objects are updated",
            "Objects: RealmConfiguration": "an instance has the configuration with which its file was opened",
            "Objects: SharedStore": "an instance keeps its file open",
            "Objects: AsyncWrites": "an instance has the queue of its asynchronous writes",
            "Objects: RealmInstance.wakeUp": "an instance is woken when damage was found, as after a foreign commit",
            "Objects: ThreadConfined": "a collection of any kind may be found again on another thread",
            "Notifications: Realm": "an observer of a Realm is called with it",
            "Notifications: RealmConfiguration": "what the sections of results lost is reported as the program asked",
            "Notifications: InstanceCache": "a sequence of changes looks at the Realm of the task that reads it",
            "Realm: SchemaSetup": "a file is opened with the schema of its configuration",
            "Realm: Migration": plan, "Realm: MigrationPlan": plan, "Realm: MigrationBackup": plan,
            "Realm: MigrationProgress": plan,
        ])

    private static let plan = "a configuration says how the file is migrated"
}
