/// An outermost call of ``RunningWrite/add(_:_:)``, with the calls inside it.
struct AddingRun {
    /// The policy with which ``RunningWrite/linkKey(of:)`` adds unmanaged objects to which it needs a link: that of the
    /// innermost call, since a call's policy applies to all objects to which its object leads, and to no others.
    var policy: Realm.UpdatePolicy
    /// Changes that wait until the rows of all these objects exist.
    var postponed: [PostponedChange] = []
}

struct PostponedChange {
    /// Of the call that postponed it.
    let policy: Realm.UpdatePolicy
    let make: () -> Void

    /// The error for a change that would never be made.
    static var lost: RealmError {
        RealmError(.fail, "a link to an unmanaged object outside of add; add the object before the link")
    }
}
