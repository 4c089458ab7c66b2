/// Limits the number of files in a folder, since a reader who searches for something scans its file names.
enum FolderSizes {
    /// Swift files directly in a folder.
    static let mostFiles = 30

    static func violations(in paths: [String]) -> [Violation] {
        var counts: [Substring: Int] = [:]
        for path in paths {
            guard let slash = path.lastIndex(of: "/") else { continue }
            counts[path[..<slash], default: 0] += 1
        }
        return counts.filter { $0.value > mostFiles }.sorted { $0.key < $1.key }.map {
            Violation(path: String($0.key), rule: "\($0.value) files in one folder, more than \(mostFiles)")
        }
    }
}
