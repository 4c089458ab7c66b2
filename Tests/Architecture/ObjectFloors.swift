extension Floors {
    /// The floors of the object layer. An exception below is removed when a change makes it unnecessary; a new one
    /// needs a reason about the objects, not about the code.
    ///
    /// Objects, their schema and their collections are one floor: a class declares collections, a collection holds
    /// objects, and a value of any type may be either.
    static let objects = Floors(
        room: "Sources/Engine/Strata/",
        folders: ["Values", "Objects", "Queries", "Notifications", "Realm", "Projections", "Migration"],
        exceptions: [
            "Objects: ObjectSource": "a caller queries and sorts a collection of objects",
            "Objects: ValueSource": "a caller queries and sorts a collection of values",
            "Objects: Observation": "an instance has its observers",
            "Objects: ChangeInbox": "an inbox brings commits to the observers of an instance",
            "Objects: NotificationToken": "a caller names the observers that its commit does not notify",
            "Objects: Realm": "an object and a collection return their Realm, and an add takes its `UpdatePolicy`",
            "Objects: RealmConfiguration": "an instance has the configuration with which its file was opened",
            "Objects: SharedStore": "an instance keeps its file open",
            "Objects: AsyncWrites": "an instance has the queue of its asynchronous writes",
            "Objects: RealmInstance.wakeUp": "a read that finds damage wakes its instance, as a foreign commit does",
            "Objects: ThreadConfined": "a thread may resolve a collection that another thread has passed to it",
            "Notifications: Realm": "the instance passes the Realm to the observers that it calls",
            "Notifications: RealmConfiguration": "sections of results report unreadable values to the configuration",
            "Notifications: InstanceCache": "a sequence of changes opens an instance for the task that iterates it",
            "Realm: SchemaSetup": "a file is opened with the schema of its configuration",
            "Realm: Migration": plan, "Realm: MigrationPlan": plan, "Realm: MigrationBackup": plan,
            "Realm: MigrationProgress": plan,
        ])

    private static let plan = "a configuration says how the file is migrated"
}
