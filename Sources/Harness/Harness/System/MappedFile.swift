import Platform

/// Maps the bytes of a program or a library for reading.
enum MappedFile {
    /// The result of `body`; nil if the path is not a regular file, is empty, or cannot be mapped.
    ///
    /// The open does not wait: a path given by a user may be that of a pipe, whose open would wait for a writer.
    static func read<Value>(_ path: String, _ body: (UnsafeRawBufferPointer) -> Value?) -> Value? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
            return nil
        }
        let count = Int(status.st_size)
        guard let address = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0), address != MAP_FAILED else {
            return nil
        }
        defer { munmap(address, count) }
        return body(UnsafeRawBufferPointer(start: address, count: count))
    }
}
