/// The trees of rows of a version that is being made: where an editor of a table takes its tree from, and where it
/// leaves it when the root has changed.
protocol TreeRoots: AnyObject {
    func tree(of table: Int) -> NodeReference
    func setTree(_ root: NodeReference, of table: Int)
}
