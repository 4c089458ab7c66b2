import Platform

/// A pipe. An exec closes its ends, and so does its release.
package final class Pipe {
    package private(set) var readEnd: Int32 = -1
    package private(set) var writeEnd: Int32 = -1

    package init() throws(HarnessError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw HarnessError("cannot make a pipe: \(systemMessage())") }
        // Moved above the descriptors that a worker uses.
        readEnd = fcntl(ends[0], F_DUPFD_CLOEXEC, 16)
        writeEnd = fcntl(ends[1], F_DUPFD_CLOEXEC, 16)
        close(ends[0])
        close(ends[1])
        guard readEnd >= 0, writeEnd >= 0 else {
            throw HarnessError("cannot move a pipe: \(systemMessage())")
        }
    }

    deinit {
        closeRead()
        closeWrite()
    }

    package func closeRead() {
        if readEnd >= 0 { close(readEnd) }
        readEnd = -1
    }

    package func closeWrite() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }

    package func makeReadNonBlocking() {
        _ = fcntl(readEnd, F_SETFL, fcntl(readEnd, F_GETFL) | O_NONBLOCK)
    }
}
