import FaultModel
import Files

extension FileNode {
    /// Its placeholder among the files of a disk, so that disks with different nodes differ.
    var image: FileImage {
        switch kind {
        case .link(let target): FileImage(Array("\0link\0".utf8) + target)
        case .fifo: FileImage(Array("\0fifo".utf8))
        case .socket: FileImage(Array("\0socket".utf8))
        }
    }
}
