import FaultModel
import Files

/// The operations of a trace as text, with the names that files had at the time.
struct OperationText {
    private let operations: [IORecord]
    private let nodes: [Inode: FileNode]
    /// By the operation that gave the name.
    private var names: [Inode: [(operation: Int, path: String)]] = [:]

    init(base: DiskImage, operations: [IORecord], nodes: [Inode: FileNode] = [:]) {
        self.operations = operations
        self.nodes = nodes
        var entries = base.entries
        for (path, inode) in entries { names[inode, default: []].append((0, path)) }
        for (number, record) in operations.enumerated() where !record.failed {
            switch record.action {
            case .create(let path, let inode), .link(let path, let inode):
                entries[path] = inode
                names[inode, default: []].append((number, path))
            case .rename(let path, let destination):
                guard let inode = entries.removeValue(forKey: path) else { continue }
                entries[destination] = inode
                names[inode, default: []].append((number + 1, destination))
            case .remove(let path):
                entries[path] = nil
            default:
                continue
            }
        }
    }

    private func name(_ inode: Inode, at operation: Int) -> String {
        names[inode]?.last { $0.operation <= operation }?.path ?? "a file without a name"
    }

    func text(of operation: Int) -> String {
        guard operations.indices.contains(operation) else { return "the end" }
        let record = operations[operation]
        func of(_ inode: Inode) -> String { name(inode, at: operation) }
        let text =
            switch record.action {
            case .create(let path, _): "makes \(path)"
            case .link(let path, let inode) where nodes[inode] != nil: "makes \(path), which is no file"
            case .link(let path, let inode): "gives \(of(inode)) the further name \(path)"
            case .write(let inode, let offset, let bytes): "writes \(bytes.count) bytes at \(offset) of \(of(inode))"
            case .truncate(let inode, let size): "sets the size of \(of(inode)) to \(size)"
            case .preallocate(let inode, let size): "takes room for \(size) bytes in \(of(inode))"
            case .rename(let path, let destination): "renames \(path) to \(destination)"
            case .remove(let path): "removes \(path)"
            case .sync(let inode): "syncs \(of(inode))"
            case .syncRange(let inode, let offset, let count):
                "syncs \(count) bytes at \(offset) of \(of(inode))"
            case .syncDirectory(let path): path == "." ? "syncs the directory" : "syncs the directory \(path)"
            case .writeBack(let inode): "hurries the writes of \(of(inode)) on"
            }
        // Paths are keys.
        return BytePath(key: record.failed ? text + ", which fails" : text).text
    }
}
