import Commands
import Files
import Platform

/// Finds the files that a program needs beside itself: plans, the list of known violations, baselines and mistakes.
///
/// It searches in this order: the directory given by `--plans`; `Benchmarks/Plans` below the working directory; and
/// `Benchmarks/Plans` or `share/assay/Plans` in the directory of the program or in one above it. So a program in
/// `.build/release` finds its checkout, and one in `/usr/lib/assay` the installed files.
package struct Checkout: Sendable {
    /// The directory of the plans.
    package var plansDirectory: String

    /// The known violations: none if there is no checkout and no file was named.
    package static func knownViolations(
        given: String?, executable: String, registries: Registries? = nil
    ) throws -> [KnownViolation] {
        if given == nil && search(executable: executable) == nil { return [] }
        return try find(given: given, executable: executable).knownViolations(registries)
    }

    package static func find(given: String?, executable: String) throws -> Checkout {
        if let given {
            guard FileTree.isDirectory(given) else { throw HarnessError("--plans: no directory \(given)") }
            return Checkout(plansDirectory: given)
        }
        if let checkout = search(executable: executable) { return checkout }
        throw HarnessError(
            "no plans: there is no Benchmarks/Plans here or above \(executable); name a directory with --plans")
    }

    private static func search(executable: String) -> Checkout? {
        if FileTree.isDirectory("Benchmarks/Plans") { return Checkout(plansDirectory: "Benchmarks/Plans") }
        var directory = executable
        while let slash = directory.lastIndex(of: "/") {
            directory = String(directory[..<slash])
            for plans in [directory + "/Benchmarks/Plans", directory + "/share/assay/Plans"]
            where FileTree.isDirectory(plans) { return Checkout(plansDirectory: plans) }
        }
        return nil
    }

    /// The path of the running program, with symbolic links resolved.
    package static func executablePath(fallback: String) -> String {
        let path = "/proc/self/exe"
        guard let resolved = realpath(FileTree.exists(path) ? path : fallback, nil) else { return fallback }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Names of the plans, ascending.
    package func planNames() throws -> [String] {
        try FileTree.names(in: plansDirectory).filter { $0.hasSuffix(".json5") }.map { String($0.dropLast(6)) }
    }

    /// A plan by its name; or by its path, if `name` has a slash or the extension.
    package func plan(_ name: String) throws -> Plan {
        if name.contains("/") || name.hasSuffix(".json5") {
            guard FileTree.exists(name) else {
                throw PlanError(file: name, "there is no such plan; assay list plans names those of \(plansDirectory)")
            }
            return try Plan.read(try FileTree.readText(name), name: Self.name(ofPlan: name), file: name)
        }
        let names = try planNames()
        guard names.contains(name) else {
            throw PlanError(
                file: plansDirectory, NearestName.complaint("plan", name, among: names, list: "assay list plans"))
        }
        let file = "\(plansDirectory)/\(name).json5"
        return try Plan.read(try FileTree.readText(file), name: name, file: file)
    }

    /// The name of a plan that is given by name or by path.
    package static func name(ofPlan given: String) -> String {
        let file = String(given.split(separator: "/").last ?? "")
        return file.hasSuffix(".json5") ? String(file.dropLast(6)) : file
    }

    /// The name of a baseline that is given by name or by path.
    package static func name(ofBaseline given: String) -> String {
        let file = String(given.split(separator: "/").last ?? "")
        return file.hasSuffix(".json") ? String(file.dropLast(5)) : file
    }

    /// The known violations of `known.json5` beside the plans' directory; none if there is no such file.
    ///
    /// - Parameter registries: where the names in the file are looked up; nil to accept any name.
    package func knownViolations(_ registries: Registries? = nil) throws -> [KnownViolation] {
        let file = plansDirectory + "/../known.json5"
        guard FileTree.exists(file) else { return [] }
        return try KnownViolation.read(try FileTree.readText(file), file: file, registries: registries)
    }

    /// The path of a baseline: in `Baselines` beside the plans' directory, unless the name is a path, with a slash or
    /// the extension.
    package func baselineFile(_ name: String) -> String {
        if name.contains("/") || name.hasSuffix(".json") { return name }
        return "\(baselinesDirectory)/\(name).json"
    }

    private var baselinesDirectory: String {
        let parent = plansDirectory.hasSuffix("/Plans") ? String(plansDirectory.dropLast(6)) : plansDirectory + "/.."
        return parent + "/Baselines"
    }

    /// Names of the baselines, ascending; none if their directory is missing.
    package func baselineNames() throws -> [String] {
        guard FileTree.isDirectory(baselinesDirectory) else { return [] }
        let files = try FileTree.names(in: baselinesDirectory).filter { $0.hasSuffix(".json") }
        return files.map { String($0.dropLast(5)) }
    }

    /// Commit and branch of the checkout, read from its files without running git; empty without a checkout.
    package func revision() -> (commit: String, branch: String) {
        let root = plansDirectory == "Benchmarks/Plans" ? "." : plansDirectory + "/../.."
        guard let head = try? FileTree.readText(root + "/.git/HEAD") else { return ("", "") }
        let line = head.prefix { $0 != "\n" }
        guard line.hasPrefix("ref: ") else { return (String(line), "") }
        let reference = String(line.dropFirst(5))
        let branch = reference.hasPrefix("refs/heads/") ? String(reference.dropFirst(11)) : reference
        if let loose = try? FileTree.readText(root + "/.git/" + reference) {
            return (String(loose.prefix { $0 != "\n" }), branch)
        }
        let packed = (try? FileTree.readText(root + "/.git/packed-refs")) ?? ""
        for entry in packed.split(separator: "\n") where entry.hasSuffix(" " + reference) {
            return (String(entry.prefix { $0 != " " }), branch)
        }
        return ("", branch)
    }
}
