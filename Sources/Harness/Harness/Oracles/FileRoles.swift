import Files
import Platform

/// The roles of an engine's files, by their names: `data-wal` of one engine and `000008.log` of another both have the
/// role `log`.
struct FileRoles {
    private var known: [String: DatabaseFile.Role] = [:]
    private let patterns: [(pattern: String, role: DatabaseFile.Role)]

    /// - Parameter directory: the files of the databases below it are known by name; other names are matched with the
    ///   engine's patterns.
    init(_ engine: any Engine, below directory: String) {
        patterns =
            engine.coordinationPatterns.map { ($0, .lock) } + engine.constantPatterns.map { ($0, .data) }
            + engine.logPatterns.map { ($0, .log) }
        for place in Self.directories(below: directory) {
            for file in engine.files(at: DatabaseLocation(directory: place)) {
                known[Self.baseName(file.path)] = file.role
            }
        }
    }

    /// The text with each name of an engine file replaced by its role.
    func named(_ text: String) -> String {
        var result = ""
        var word = ""
        func end() {
            // A full stop at the end belongs to the sentence.
            let name = String(word.reversed().drop { $0 == "." }.reversed())
            result += (role(of: name) ?? name) + word.dropFirst(name.count)
            word = ""
        }
        for character in text {
            if character.isASCII && (character.isLetter || character.isNumber) || "-_.".contains(character) {
                word.append(character)
            } else {
                end()
                result.append(character)
            }
        }
        end()
        return result
    }

    private func role(of name: String) -> String? {
        if name.isEmpty { return nil }
        let role = known[name] ?? patterns.first { fnmatch($0.pattern, name, 0) == 0 }?.role
        return role.map { "<\($0.rawValue)>" }
    }

    private static func baseName(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

    /// A sweep leaves hundreds of directories with files of the same names: reading the first ones suffices.
    private static let mostDirectories = 64

    private static func directories(below root: String) -> [String] {
        var found = [root]
        var place = 0
        while place < found.count, found.count < mostDirectories {
            let directory = found[place]
            place += 1
            let names: [String]
            // A directory that was removed meanwhile adds no names.
            do { names = try FileTree.names(in: directory) } catch { continue }
            for name in names.sorted() where found.count < mostDirectories {
                let path = directory + "/" + name
                if FileTree.isDirectory(path) { found.append(path) }
            }
        }
        return found
    }
}
