import Files

/// A commit, and the name by which the user asked for it.
package struct Revision: Hashable, Sendable {
    /// As the user gave it: `v0.2`, `HEAD~3`.
    package var name: String
    /// 40 hexadecimal digits.
    package var commit: String
    /// The first line of its message.
    package var subject: String

    package var shortCommit: String { String(commit.prefix(12)) }

    /// For people: `v0.2 (1a2b3c4d5e6f Area: what changed)`.
    package var text: String {
        let detail = commit.hasPrefix(name) ? subject : "\(shortCommit) \(subject)"
        return "\(commit.hasPrefix(name) ? shortCommit : name) (\(detail))"
    }
}

/// The git repository in which revisions are looked up. It is only read, never changed.
package struct Repository: Sendable {
    /// The top directory of a checkout.
    package let path: String
    /// A directory for the output of git.
    private let scratch: String

    /// - Parameters:
    ///   - directory: any directory in the checkout.
    ///   - scratch: a directory for the output of git.
    /// Throws: `HarnessError` with the remedy.
    package init(around directory: String, scratch: String) throws {
        self.scratch = scratch
        guard FileTree.isDirectory(directory) else { throw HarnessError("there is no directory \(directory)") }
        let answer = try Self.ask(["-C", directory, "rev-parse", "--show-toplevel"], scratch)
        guard answer.end == .exited(0), let top = answer.lines.first else {
            throw HarnessError(
                "\(directory) is in no checkout of a git repository, which revisions are built from: go into one, or "
                    + "name one with --repository DIR")
        }
        path = top
    }

    private struct Answer {
        var end: ChildEnd
        var lines: [String]
    }

    private static func ask(_ words: [String], _ scratch: String) throws -> Answer {
        let (output, errors) = (scratch + "/git.output", scratch + "/git.errors")
        let end: ChildEnd
        do {
            end = try ChildProgram(["git"] + words, outputFile: output, errorFile: errors).run()
        } catch let error as HarnessError {
            throw HarnessError("\(error): revisions are read by git. To have it: apt-get install git")
        }
        let lines = try FileTree.readText(output).split(separator: "\n", omittingEmptySubsequences: false)
        return Answer(end: end, lines: lines.map(String.init))
    }

    private func ask(_ words: [String]) throws -> Answer { try Self.ask(["-C", path] + words, scratch) }

    /// Throws: `HarnessError` for a name that is not a commit.
    package func revision(_ name: String) throws -> Revision {
        let found = try ask(["rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"])
        guard !name.isEmpty, found.end == .exited(0), let commit = found.lines.first, commit.count >= 40 else {
            throw HarnessError(
                "\(name.isEmpty ? "an empty text" : name) names no commit of \(path); git log --oneline lists them, "
                    + "and a shallow clone has all of them after git fetch --unshallow")
        }
        let subject = try ask(["log", "-1", "--format=%s", commit])
        return Revision(name: name, commit: commit, subject: subject.lines.first ?? "")
    }

    /// The content of a file in a commit; nil if the commit lacks it.
    package func file(_ name: String, in commit: String) throws -> String? {
        let answer = try ask(["show", "\(commit):\(name)"])
        return answer.end == .exited(0) ? answer.lines.joined(separator: "\n") : nil
    }

    /// The commits after `good` up to `bad`, oldest first: the line of first parents that ends in `bad`.
    ///
    /// Throws: `HarnessError` if `good` is not on that line.
    package func line(from good: Revision, to bad: Revision) throws -> [Revision] {
        let answer = try ask([
            "log", "--first-parent", "--reverse", "--format=%H %P%x09%s", "\(good.commit)..\(bad.commit)",
        ])
        guard answer.end == .exited(0) else { throw HarnessError("git cannot list \(good.name)..\(bad.name)") }
        var revisions: [Revision] = []
        var firstParent: Substring?
        for line in answer.lines where !line.isEmpty {
            let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
            let commits = parts[0].split(separator: " ")
            if revisions.isEmpty { firstParent = commits.dropFirst().first }
            let commit = String(commits.first ?? "")
            let name = commit == bad.commit ? bad.name : String(commit.prefix(12))
            revisions.append(Revision(name: name, commit: commit, subject: String(parts.last ?? "")))
        }
        guard !revisions.isEmpty else {
            throw HarnessError(
                "nothing lies between \(good.text) and \(bad.text): --good has to be an ancestor of --bad, and older")
        }
        guard firstParent.map(String.init) == good.commit else {
            throw HarnessError(
                "\(good.text) is not on the line of first parents that leads to \(bad.text): name a commit of "
                    + "git log --first-parent \(bad.shortCommit) as --good")
        }
        return revisions
    }

    /// Checks the files of a commit out at `directory`, which is created or updated. Nothing is written into the
    /// repository: the checkout uses the repository's objects.
    package func checkOut(_ commit: String, to directory: String) throws {
        func git(_ words: [String]) throws {
            let answer = try Self.ask(words, scratch)
            guard answer.end == .exited(0) else {
                let said = try FileTree.readText(scratch + "/git.errors").suffix(400)
                throw HarnessError("git \(words.joined(separator: " ")) ended with \(answer.end): \(said)")
            }
        }
        let borrowed = directory + "/.git/objects/info/alternates"
        if !FileTree.exists(borrowed) {
            try FileTree.remove(directory)
            try git(["clone", "--quiet", "--shared", "--no-checkout", path, directory])
        }
        try FileTree.remove(directory + "/.git/index.lock")
        let quiet = ["-C", directory, "-c", "advice.detachedHead=false"]
        try git(quiet + ["checkout", "--quiet", "--force", "--detach", commit])
        try git(quiet + ["clean", "--quiet", "-ffdx"])
    }
}
