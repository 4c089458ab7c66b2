/// A pinned version. The pin goes with the view.
package struct Snapshot: Sendable {
    package let view: ReadView
    /// The number under which processes were told of the version as the newest one; nil where nobody is told.
    let publication: UInt64?

    /// The version is pinned for this snapshot already.
    init(_ store: Store, _ version: VersionState, _ publication: UInt64? = nil) {
        view = ReadView(version, store.reader, pinnedIn: store)
        self.publication = publication
    }

    package var version: TransactionID { view.version }
}
