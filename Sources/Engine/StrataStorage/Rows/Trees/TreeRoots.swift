/// The row trees of the version that a transaction makes: a table's editor reads its root here, and stores a changed
/// one.
protocol TreeRoots: AnyObject {
    func tree(of table: Int) -> NodeReference
    func setTree(_ root: NodeReference, of table: Int)
}
